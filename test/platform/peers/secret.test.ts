import { afterEach, expect, test } from 'bun:test';
import { readAnswers } from '../../../src/platform/peers/frame.ts';
import { Prover } from '../../../src/platform/peers/proof.ts';
import { failureOf, Nodes, SECRET, SOON } from './fixture.ts';
import { admitted, encoded, impostor, Stranger, upgradeOf } from './stranger.ts';

const nodes = new Nodes();
afterEach(() => nodes.close());

test.each([
  // path          headers                              status
  ['/', upgradeOf(), 404],
  ['/metrics', upgradeOf(), 404],
  ['/peer', {}, 404],
  ['/peer', { ...upgradeOf(), 'x-node-proof': '' }, 401],
  ['/peer', upgradeOf({ secret: 'another' }), 401],
  ['/peer', { ...upgradeOf(), 'x-node': 'renamed:1' }, 401],
  ['/peer', { ...upgradeOf(), 'x-node-nonce': 'another' }, 401],
  ['/peer', upgradeOf({ format: '0-00' }), 409],
  ['/peer', upgradeOf(), 404], // right, but no upgrade
])('%s with %o is answered with %i', async (path, headers, status) => {
  const { address } = nodes.open();
  const response = await fetch(`http://${address}${path}`, { headers });
  expect([response.status, await response.text()]).toEqual([status, '']);
});

test('a node with another secret gets no answer; the log says so once on either side', async () => {
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

test('an upgrade that was recorded and is sent again gets a challenge and nothing else', async () => {
  const spy = impostor(() => ['no challenge']);
  const answerer = nodes.open();
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

test('a proof that was recorded is none for another connection', async () => {
  const answerer = nodes.open();
  const upgrade = upgradeOf();
  const said = (challenge: unknown) => [
    upgrade['x-node']!,
    upgrade['x-node-nonce']!,
    String(challenge).split(' ')[0]!,
  ];
  const first = new Stranger(answerer.address, upgrade);
  const proof = new Prover(SECRET).prove('asker', said(await first.read()));
  first.send(proof);
  const second = new Stranger(answerer.address, upgrade);
  await second.read();
  second.send(proof);
  expect(await second.closed).toBe(4401);
  first.terminate();
});

test('who proves nothing is closed soon', async () => {
  const answerer = nodes.open({ limits: { heartbeatMs: 20, silentMs: 60 } });
  const stranger = new Stranger(answerer.address, upgradeOf());
  await stranger.read();
  expect(await stranger.closed).toBe(1006);
});

test('nothing is sent to a server that does not hold the secret', async () => {
  const asker = nodes.open();
  const heard: string[] = [];
  const fake = impostor((headers) => {
    heard.push(...headers.values());
    const said = [headers.get('x-node')!, headers.get('x-node-nonce')!, 'nonce'];
    return [`nonce ${new Prover('another').prove('answerer', said)}`];
  });
  expect(await failureOf(asker.ask(fake.address, 'private', SOON))).toBe('no');
  expect(asker.stats()).toMatchObject({ framesSent: 0, strangers: 1, unsent: 1 });
  expect(heard.join()).not.toContain(SECRET);
  await fake.stop();
});

test('who has proven it is served', async () => {
  const stranger = await admitted(nodes.open().address);
  stranger.send(encoded([performance.now(), 7, 1000, 'hello']));
  expect(readAnswers((await stranger.read()) as Uint8Array)).toEqual([
    { id: 7, outcome: 'answered', value: 'hello' },
  ]);
  stranger.terminate();
});
