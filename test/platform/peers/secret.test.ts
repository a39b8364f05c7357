import { afterEach, expect, test } from 'bun:test';
import { readAnswers } from '../../../src/platform/peers/frame.ts';
import { Prover } from '../../../src/platform/peers/proof.ts';
import { failureOf, Nodes, SECRET, SOON, until } from './fixture.ts';
import { admitted, encoded, impostor, relay, saidOf, Stranger, upgradeOf } from './stranger.ts';

const nodes = new Nodes();
afterEach(() => nodes.close());

const SELF = 'answerer:1';

test.each([
  // path          headers                              status
  ['/', upgradeOf(SELF), 404],
  ['/metrics', upgradeOf(SELF), 404],
  ['/peer', {}, 404],
  ['/peer', { ...upgradeOf(SELF), 'x-node-proof': '' }, 401],
  ['/peer', upgradeOf(SELF, { secret: 'another' }), 401],
  ['/peer', { ...upgradeOf(SELF), 'x-node': 'renamed:1' }, 401],
  ['/peer', { ...upgradeOf('another:1'), 'x-node-to': SELF }, 401],
  ['/peer', { ...upgradeOf(SELF), 'x-node-nonce': 'another' }, 401],
  ['/peer', upgradeOf('another:1'), 421],
  ['/peer', upgradeOf(SELF, { format: '0-00' }), 409],
  ['/peer', upgradeOf(SELF), 404], // right, but no upgrade
])("a peer's upgrade at %s with %o is answered with %i", async (path, headers, status) => {
  const { address } = nodes.open({ self: SELF });
  const response = await fetch(`http://${address}${path}`, { headers });
  expect([response.status, await response.text()]).toEqual([status, '']);
});

test('a peer with another secret gets no answer; the log says so once on either side', async () => {
  const answerer = nodes.open();
  const asker = nodes.open({ secret: 'another', limits: { retryMs: 0 } });
  for (const request of [1, 2, 3]) {
    expect(await failureOf(asker.ask(answerer.address, request, SOON))).toBe('no');
  }
  expect(answerer.stats()).toMatchObject({ answered: 0, strangers: 3, inbound: 0 });
  expect(answerer.logged.map(({ message }) => message)).toEqual([
    'a peer that does not hold our NODE_SECRET was refused',
  ]);
  expect(asker.logged).toHaveLength(1);
  expect(asker.logged[0]?.fields['reason']).toContain('401');
});

test("a peer's recorded upgrade that is sent again gets a challenge and nothing else", async () => {
  const spy = impostor(() => ['no challenge']);
  const answerer = nodes.open({ self: spy.address });
  expect(await failureOf(nodes.open().ask(spy.address, 1, SOON))).toBe('no');
  await spy.stop();
  const [recorded] = spy.upgrades;
  const replay = new Stranger(answerer.address, recorded!);
  await replay.read();
  replay.send(recorded!['x-node-proof']!);
  replay.send('another');
  expect(await replay.closed).toBe(4401);
  expect(replay.unread).toBe(0);
  expect(answerer.stats()).toMatchObject({ answered: 0, strangers: 1 });
});

test("a peer's recorded proof is none for another connection", async () => {
  const answerer = nodes.open();
  const upgrade = upgradeOf(answerer.address);
  const said = (challenge: unknown) => saidOf(upgrade, String(challenge).split(' ')[0]!);
  const first = new Stranger(answerer.address, upgrade);
  const proof = new Prover(SECRET).prove('asker', said(await first.read()));
  first.send(proof);
  const second = new Stranger(answerer.address, upgrade);
  await second.read();
  second.send(proof);
  expect(await second.closed).toBe(4401);
  first.terminate();
});

test("a peer's handshake that a stranger relays to another node is refused", async () => {
  const begun: unknown[] = [];
  const answerer = nodes.open({ answer: (request) => begun.push(request) });
  const forged = encoded([performance.now(), 1_000_000, 5000, 'forged']);
  const stranger = await relay(answerer.address, forged);
  const asker = nodes.open();
  const asked = failureOf(asker.ask(stranger.address, 'private', SOON)).catch(String);
  await Promise.race([asked, stranger.spoken]);
  await until(() => answerer.stats().inbound === 0 || begun.length > 1);
  expect(begun).toEqual([]);
  expect(await asked).toBe('no');
  expect(answerer.stats()).toMatchObject({ answered: 0, strangers: 1 });
  expect(answerer.logged[0]?.message).toContain(stranger.address);
  await stranger.stop();
});

test("a peer's connection that proves nothing is closed soon", async () => {
  const answerer = nodes.open({ limits: { heartbeatMs: 20, silentMs: 60 } });
  const stranger = new Stranger(answerer.address, upgradeOf(answerer.address));
  await stranger.read();
  expect(await stranger.closed).toBe(1006);
});

test('a peer sends nothing to a server that does not hold the secret', async () => {
  const asker = nodes.open();
  const heard: string[] = [];
  const fake = impostor((upgrade) => {
    heard.push(...Object.values(upgrade));
    return [`nonce ${new Prover('another').prove('answerer', saidOf(upgrade, 'nonce'))}`];
  });
  expect(await failureOf(asker.ask(fake.address, 'private', SOON))).toBe('no');
  expect(asker.stats()).toMatchObject({ framesSent: 0, strangers: 1, unsent: 1 });
  expect(heard.join()).not.toContain(SECRET);
  await fake.stop();
});

test('a peer that has proved the secret is served', async () => {
  const stranger = await admitted(nodes.open().address);
  stranger.send(encoded([performance.now(), 7, 1000, 'hello']));
  expect(readAnswers((await stranger.read()) as Uint8Array)).toEqual([
    { id: 7, outcome: 'answered', value: 'hello' },
  ]);
  stranger.terminate();
});
