import { afterEach, describe, expect, test } from 'bun:test';
import { readAnswers } from '../../../src/platform/peers/frame.ts';
import { Prover } from '../../../src/platform/peers/proof.ts';
import { startProxy, type Proxy } from '../../support/proxy.ts';
import { failureOf, latch, Nodes, SECRET, SOON, until, type NodeOptions } from './fixture.ts';
import { MovedTime } from './moved-time.ts';
import { admitted, encoded, impostor, saidOf } from './stranger.ts';

const time = new MovedTime();
const nodes = new Nodes(time);
const proxies: Proxy[] = [];
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  // Each waits a while for what is under way.
  const closed = nodes.close();
  time.pass(60_000);
  await closed;
});

/** Two nodes, and a connection between them that can be cut or frozen. */
async function apart(options: { answerer?: NodeOptions; asker?: NodeOptions } = {}) {
  const proxy = await startProxy('http://127.0.0.1', () => `http://${answerer.address}`);
  proxies.push(proxy);
  const address = new URL(proxy.url).host;
  const answerer = nodes.open({ ...options.answerer, self: address });
  const asker = nodes.open(options.asker);
  return { answerer, asker, proxy, address };
}

const never: NodeOptions = { answer: () => latch().opened, limits: { closeMs: 0 } };
/** Answers what it is told to and keeps the rest. */
const some: NodeOptions = {
  answer: (request) => (request === 'answer' ? request : latch().opened),
  limits: { closeMs: 0 },
};

/** A dead peer is noticed by then. */
const WITHIN_MS = 2000;

describe("a peer's connection that is lost", () => {
  test('leaves what was sent as maybe done, and what was not as never taken', async () => {
    const { answerer, asker, proxy, address } = await apart({ answerer: some });
    await asker.ask(address, 'answer', SOON);
    const sent = [1, 2].map((request) => failureOf(asker.ask(address, request, SOON)));
    await until(() => answerer.stats().answering === 2);
    await proxy.stop();
    expect(await Promise.all(sent)).toEqual(['maybe', 'maybe']);
    expect(await failureOf(asker.ask(address, 3, SOON))).toBe('no');
    expect(asker.stats()).toMatchObject({ lost: 2, unsent: 1, asking: 0, outbound: 0 });
    await until(() => answerer.stats().inbound === 0);
  });

  test.each([
    ['nobody listens', '127.0.0.1:1'],
    ['no such host', 'nowhere.invalid:7000'],
  ])('by %s leaves an ask never taken', async (_, address) => {
    const asker = nodes.open();
    expect(await failureOf(asker.ask(address, 1, SOON))).toBe('no');
    expect(await failureOf(asker.ask(address, 2, SOON))).toBe('no');
    expect(asker.stats()).toMatchObject({ unsent: 2, connects: 0 });
    expect(asker.logged).toHaveLength(1);
  });

  test('is not made again for a moment after a failed attempt', async () => {
    const answerer = nodes.open({ secret: 'another' });
    const asker = nodes.open({ limits: { retryMs: 500 } });
    for (const request of [1, 2, 3]) {
      expect(await failureOf(asker.ask(answerer.address, request, SOON))).toBe('no');
    }
    expect(answerer.stats().strangers).toBe(1);
    time.pass(499);
    expect(await failureOf(asker.ask(answerer.address, 4, SOON))).toBe('no');
    expect(answerer.stats().strangers).toBe(1);
    time.pass(1);
    expect(await failureOf(asker.ask(answerer.address, 5, SOON))).toBe('no');
    expect(answerer.stats().strangers).toBe(2);
  });

  test('to a server that accepts and says nothing leaves an ask never taken', async () => {
    const { asker, proxy, address } = await apart();
    proxy.freeze();
    const asked = failureOf(asker.ask(address, 1, { withinMs: 10_000 }));
    time.pass(WITHIN_MS);
    expect(await asked).toBe('no');
  });

  test('is made again to a peer that starts anew at its address', async () => {
    const first = nodes.open();
    const asker = nodes.open();
    expect(await asker.ask(first.address, 1, SOON)).toBe(1);
    await first.close();
    await until(() => asker.stats().outbound === 0);
    const second = nodes.open({ port: first.port, answer: () => 'anew' });
    expect(await asker.ask(second.address, 2, SOON)).toBe('anew');
    expect(asker.stats().connects).toBe(2);
  });

  test('to a peer that is given up fails its asks, and can be made again', async () => {
    const answerer = nodes.open(some);
    const asker = nodes.open();
    const sent = failureOf(asker.ask(answerer.address, 'keep', SOON));
    await until(() => answerer.stats().answering === 1);
    const unsent = failureOf(asker.ask(answerer.address, 'answer', SOON));
    asker.giveUp(answerer.address);
    expect(await Promise.all([sent, unsent])).toEqual(['maybe', 'no']);
    expect(await asker.ask(answerer.address, 'answer', SOON)).toBe('answer');
  });
});

describe('silence of a peer', () => {
  // The other side must not be the one that notices: the proxy passes its close on.
  const patient = { silentMs: 60_000 };

  test('that died silently is noticed within two seconds by the calling side', async () => {
    const answerer = { ...some, limits: { ...some.limits, ...patient } };
    const { asker, proxy, address } = await apart({ answerer });
    await asker.ask(address, 'answer', SOON);
    proxy.freeze();
    const asked = failureOf(asker.ask(address, 1, { withinMs: 30_000 }));
    await until(() => asker.stats().framesSent === 2);
    time.pass(WITHIN_MS);
    expect(await asked).toBe('maybe');
  });

  test('is noticed by the answering side too', async () => {
    const { answerer, asker, proxy, address } = await apart({ asker: { limits: patient } });
    await asker.ask(address, 'answer', SOON);
    proxy.freeze();
    time.pass(WITHIN_MS);
    await until(() => answerer.stats().inbound === 0);
  });

  test('with nothing to say keeps its connection', async () => {
    // What comes back for a heartbeat gives no signal, so time is real.
    const real = new Nodes();
    const limits = { heartbeatMs: 10, silentMs: 50 };
    const [answerer, asker] = [real.open({ limits }), real.open({ limits })];
    await asker.ask(answerer.address, 1, SOON);
    await Bun.sleep(200);
    await asker.ask(answerer.address, 2, SOON);
    expect(asker.stats()).toMatchObject({ connects: 1, outbound: 1 });
    await real.close();
  });

  test('is not taken for death by a process that slept', async () => {
    const { asker, address } = await apart();
    await asker.ask(address, 1, SOON);
    time.sleep(60_000);
    await asker.ask(address, 2, SOON);
    expect(asker.stats().connects).toBe(1);
  });
});

describe('the deadline of an ask between peers', () => {
  test('fails that ask alone, and later ones go on', async () => {
    const answerer = nodes.open(some);
    const asker = nodes.open();
    await asker.ask(answerer.address, 'answer', SOON);
    const slow = failureOf(asker.ask(answerer.address, 'slow', { withinMs: 200 }));
    const fast = failureOf(asker.ask(answerer.address, 'fast', { withinMs: 50 }));
    await until(() => answerer.stats().answering === 2);
    time.pass(49);
    expect(asker.stats().lost).toBe(0);
    time.pass(1);
    expect(await fast).toBe('maybe');
    time.pass(149);
    expect(asker.stats().lost).toBe(1);
    time.pass(1);
    expect(await slow).toBe('maybe');
    expect(await asker.ask(answerer.address, 'answer', SOON)).toBe('answer');
  });

  test('leaves an ask that was never sent as never taken', async () => {
    const { asker, proxy, address } = await apart();
    proxy.freeze();
    const asked = failureOf(asker.ask(address, 1, { withinMs: 50 }));
    time.pass(50);
    expect(await asked).toBe('no');
  });

  test('passed on the way keeps an overdue ask from beginning', async () => {
    const begun: unknown[] = [];
    const answer = (request: unknown) => begun.push(request);
    const { answerer, asker, proxy, address } = await apart({ answerer: { answer } });
    await asker.ask(address, 'first', SOON);
    proxy.freeze();
    const late = failureOf(asker.ask(address, 'late', { withinMs: 50 }));
    await until(() => asker.stats().framesSent === 2);
    time.pass(50);
    expect(await late).toBe('maybe');
    const patient = asker.ask(address, 'patient', SOON);
    await until(() => asker.stats().framesSent === 3);
    time.pass(100);
    proxy.thaw();
    await patient;
    expect(begun).toEqual(['first', 'patient']);
    expect(answerer.stats()).toMatchObject({ overdue: 1, answered: 2 });
    expect(asker.stats()).toMatchObject({ asking: 0, lost: 1 });
  });
});

describe('the bounds of a peer', () => {
  test('fail more calls than may be under way at once, also while their answers are overdue', async () => {
    const answerer = nodes.open(never);
    const asker = nodes.open({ limits: { callsMax: 3 } });
    const asks = [1, 2, 3].map((at) => asker.ask(answerer.address, at, { withinMs: 50 }));
    const failed = asks.map(failureOf);
    expect(await failureOf(asker.ask(answerer.address, 4, SOON))).toBe('no');
    await until(() => answerer.stats().answering === 3);
    time.pass(50);
    expect(await Promise.all(failed)).toEqual(['maybe', 'maybe', 'maybe']);
    expect(await failureOf(asker.ask(answerer.address, 5, SOON))).toBe('no');
    expect(asker.stats()).toMatchObject({ asked: 3, refused: 2 });
    asker.giveUp(answerer.address);
  });

  test('fail more bytes than may be under way at once, until they are answered', async () => {
    const { opened, open } = latch();
    const answerer = nodes.open({ answer: () => opened });
    const asker = nodes.open({ limits: { bytesMax: 10_000 } });
    const large = asker.ask(answerer.address, 'x'.repeat(10_000), SOON);
    await until(() => answerer.stats().answering === 1);
    expect(await failureOf(asker.ask(answerer.address, 'small', SOON))).toBe('no');
    open();
    await large;
    expect(await asker.ask(answerer.address, 'small', SOON)).toBeUndefined();
  });

  test('hold on the answering side, too', async () => {
    const answerer = nodes.open({ ...never, limits: { callsMax: 1, closeMs: 0 } });
    const asker = nodes.open();
    const first = failureOf(asker.ask(answerer.address, 1, SOON));
    expect(await failureOf(asker.ask(answerer.address, 2, SOON))).toBe('no');
    asker.giveUp(answerer.address);
    expect(await first).toBe('maybe');
  });

  test('cut off an asker that reads no answers', async () => {
    const answer = () => Bun.hash(Math.random().toString()).toString().repeat(25_000);
    // Without heartbeats, which would end it too.
    const limits = { bytesMax: 1 << 20, silentMs: 60_000 };
    const { answerer, asker, proxy, address } = await apart({ answerer: { answer, limits } });
    await asker.ask(address, 0, SOON);
    // Some may be answered before it stops reading.
    const asks = Array.from({ length: 64 }, (_, at) =>
      failureOf(asker.ask(address, at, SOON)).catch(() => 'answered'),
    );
    await until(() => answerer.stats().answered > 1);
    proxy.freeze();
    await until(() => answerer.stats().inbound === 0);
    await proxy.stop();
    expect(await Promise.all(asks)).toContain('maybe');
  });
});

describe('a bug between peers is reported as one', () => {
  const fails: NodeOptions = {
    answer(request) {
      if (request === 'throws') throw new Error('thrown');
      if (request === 'rejects') return Promise.reject(new Error('rejected'));
      if (request === 'no data') return () => undefined;
      if (request === 'too large') return 'x'.repeat(5000);
      return request;
    },
    limits: { frameBytesMax: 4000 },
  };

  test.each([
    ['throws', /^bug: .*:\d+: thrown$/],
    ['rejects', /^bug: .*:\d+: rejected$/],
    ['no data', /its answer cannot be sent: The object can not be cloned.$/],
    ['too large', /its answer cannot be sent: \d+ bytes$/],
  ])('for the answer %s', async (request, message) => {
    const [asker, answerer] = [nodes.open(), nodes.open(fails)];
    const { address } = answerer;
    const asks = ['before', request, 'after'].map((each) => asker.ask(address, each, SOON));
    expect(await failureOf(asks[1]!)).toMatch(message);
    expect(await Promise.all([asks[0], asks[2]])).toEqual(['before', 'after']);
    expect(answerer.logged).toHaveLength(1);
  });

  test.each([
    ['no data', () => undefined],
    ['too large', 'x'.repeat(5000)],
  ])('for a request that is %s, which fails alone', async (_, request) => {
    const answerer = nodes.open();
    const asker = nodes.open({ limits: { frameBytesMax: 4000 } });
    const { address } = answerer;
    const asks = ['before', request, 'after'].map((each) => asker.ask(address, each, SOON));
    expect(await failureOf(asks[1]!)).toStartWith(`bug: ${address} cannot be asked this`);
    expect(await Promise.all([asks[0], asks[2]])).toEqual(['before', 'after']);
  });
});

describe("an invalid frame ends its peer's connection, and nothing else", () => {
  const now = 0;
  const frames: [string, string | Uint8Array, number][] = [
    ['a text', 'text', 4400],
    ['nothing', new Uint8Array(), 4400],
    ['no structured clone', new Uint8Array(100).fill(7), 4400],
    ['half a frame', encoded([now, 1, 1000, 'request']).subarray(0, 30), 4400],
    ['no list', encoded({ now }), 4400],
    ['an empty list', encoded([]), 4400],
    ['no time', encoded(['now', 1, 1000, 'request']), 4400],
    ['no number of an ask', encoded([now, 1.5, 1000, 'request']), 4400],
    ['no deadline', encoded([now, 1, null, 'request']), 4400],
    ['an ask too little', encoded([now, 1, 1000]), 4400],
    ['too large', encoded([now, 1, 1000, 'x'.repeat(20_000)]), 1009],
  ];

  test.each(frames)('when asked: %s', async (_, frame, code) => {
    const answerer = nodes.open({ limits: { frameBytesMax: 10_000 } });
    const asker = nodes.open();
    await asker.ask(answerer.address, 'before', SOON);
    const stranger = await admitted(answerer.address);
    stranger.send(frame);
    expect(await stranger.closed).toBe(code);
    expect(await asker.ask(answerer.address, 'after', SOON)).toBe('after');
    expect(answerer.stats()).toMatchObject({ answered: 2, inbound: 1 });
    expect(asker.stats().connects).toBe(1);
  });

  test('when asked with what was overdue when it was sent', async () => {
    const stranger = await admitted(nodes.open().address);
    stranger.send(encoded([now, 1, 0, 'overdue', 1000, 'in time']));
    expect(readAnswers((await stranger.read()) as Uint8Array)).toEqual([
      { id: 1, outcome: 'overdue', value: null },
      { id: 2, outcome: 'answered', value: 'in time' },
    ]);
    stranger.terminate();
  });

  test.each([
    ['a text', 'text'],
    ['no structured clone', new Uint8Array(100).fill(7)],
    ['no list', encoded(7)],
    ['an answer that nobody waits for', encoded([99, 0, 'answer'])],
    ['no outcome', encoded([0, 7, 'answer'])],
    ['half an answer', encoded([0, 0])],
  ])('when answered: %s', async (_, answer) => {
    const fake = impostor((upgrade) => {
      const proof = new Prover(SECRET).prove('answerer', saidOf(upgrade, 'nonce'));
      return [`nonce ${proof}`, answer];
    });
    const asker = nodes.open();
    expect(await failureOf(asker.ask(fake.address, 1, SOON))).toBe('maybe');
    expect(asker.stats()).toMatchObject({ malformed: 1, outbound: 0 });
    await fake.stop();
  });

  test('of whatever bytes', async () => {
    const answerer = nodes.open({ answer: () => 'answered' });
    const frame = encoded([now, 1, 1000, { a: [1n, new Map([[1, new Date()]]), undefined] }]);
    for (let at = 0; at < frame.length; at += 1) {
      const broken = Uint8Array.from(frame, (byte, of) => (of === at ? byte ^ 0x15 : byte));
      const stranger = await admitted(answerer.address);
      stranger.send(broken);
      // That this one was sent may be all that was wrong with it.
      stranger.send(frame);
      await Promise.race([stranger.closed, stranger.read()]);
      stranger.terminate();
    }
    expect(await nodes.open().ask(answerer.address, null, SOON)).toBe('answered');
  });
});
