import { afterEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { INGEST_BYTES_MAX } from '../../../ledger/limits.ts';
import { failureOf, latch, Nodes, SOON, until } from './fixture.ts';

const nodes = new Nodes();
afterEach(() => nodes.close());

const key = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toJSON', 'hasOwnProperty', '__keys__', '', '0'),
  fc.string(),
);

/** No objects: two Maps with such keys are hard to compare. */
const mapKey = fc.oneof(key, fc.integer(), fc.bigInt(), fc.constant(undefined));

/** What structured clone copies, with the keys and numbers that other encodings get wrong. */
const { plain } = fc.letrec((tie) => ({
  plain: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, undefined, true, false, -0, NaN, Infinity, 2 ** 53, '\ud800', 2n ** 63n),
    fc.integer(),
    fc.double(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt(),
    fc.string({ unit: 'binary' }),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array(),
    fc.array(tie('plain')),
    fc.array(fc.tuple(mapKey, tie('plain'))).map((entries) => new Map(entries)),
    fc.array(fc.tuple(key, tie('plain'))).map((entries) => Object.fromEntries(entries)),
  ),
}));

test('plain data between peers comes back as it was sent, whatever else is in its frame', async () => {
  const [asker, answerer] = [nodes.open(), nodes.open()];
  await fc.assert(
    fc.asyncProperty(fc.array(plain, { minLength: 1, maxLength: 20 }), async (requests) => {
      const asks = requests.map((request) => asker.ask(answerer.address, request, SOON));
      const answers = await Promise.all(asks);
      expect(answers).toStrictEqual(requests.map((request) => structuredClone(request)));
      expect(Bun.deepEquals(answers, requests, true)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('asks between peers begin in the order in which they were made', async () => {
  const begun: unknown[] = [];
  const answerer = nodes.open({
    answer: (request) => {
      begun.push(request);
      return Number(request) % 3 === 0 ? request : Promise.resolve(request);
    },
    limits: { frameCallsMax: 7 },
  });
  const asker = nodes.open({ limits: { frameCallsMax: 16, frameBytesMax: 2048 } });
  const asked = Array.from({ length: 2000 }, (_, at) => at);
  const answers: Promise<unknown>[] = [];
  for (const at of asked) {
    answers.push(asker.ask(answerer.address, at, SOON));
    if (at % 90 === 0) await new Promise(setImmediate);
  }
  expect(await Promise.all(answers)).toEqual(asked);
  expect(begun).toEqual(asked);
});

test('asks between peers of one tick share a frame, up to its bounds', async () => {
  const answerer = nodes.open();
  const asker = nodes.open({ limits: { frameCallsMax: 100, frameBytesMax: 20_000 } });
  const framesFor = async (count: number, length: number): Promise<number> => {
    const before = asker.stats().framesSent;
    const requests = Array.from({ length: count }, (_, at) => `${at}`.padStart(length));
    await Promise.all(requests.map((request) => asker.ask(answerer.address, request, SOON)));
    return asker.stats().framesSent - before;
  };
  expect(await framesFor(50, 10)).toBe(1);
  expect(await framesFor(250, 10)).toBe(3);
  expect(await framesFor(8, 9000)).toBe(4);
});

test('the largest call between peers passes, there and back', async () => {
  const [asker, answerer] = [nodes.open(), nodes.open()];
  const text = '€'.padEnd(INGEST_BYTES_MAX, 'x');
  expect((await asker.ask(answerer.address, text, SOON)) === text).toBe(true);
});

test('asks between peers tick by tick share a frame, for as long as an ask may wait', async () => {
  const answerer = nodes.open();
  const framesWithin = async (gatherMs: number): Promise<number> => {
    const asker = nodes.open({ limits: { gatherMs } });
    await asker.ask(answerer.address, 'first', SOON);
    const before = asker.stats().framesSent;
    const answers: Promise<unknown>[] = [];
    for (let at = 0; at < 20; at += 1) {
      answers.push(asker.ask(answerer.address, at, SOON));
      await new Promise(setImmediate);
    }
    await Promise.all(answers);
    return asker.stats().framesSent - before;
  };
  expect(await framesWithin(60_000)).toBe(1);
  expect(await framesWithin(0)).toBe(20);
});

test('two peers have one connection for each direction, opened by the first ask', async () => {
  const [a, b] = [nodes.open(), nodes.open()];
  expect([a.stats().outbound, b.stats().inbound]).toEqual([0, 0]);
  await Promise.all([1, 2, 3].map((request) => a.ask(b.address, request, SOON)));
  await b.ask(a.address, 1, SOON);
  await a.ask(b.address, 4, SOON);
  for (const { connects, outbound, inbound } of [a.stats(), b.stats()]) {
    expect({ connects, outbound, inbound }).toEqual({ connects: 1, outbound: 1, inbound: 1 });
  }
});

test('a peer learns the caller’s address', async () => {
  const answerer = nodes.open({ answer: (_, from) => from });
  const asker = nodes.open();
  expect(await asker.ask(answerer.address, null, SOON)).toBe(asker.address);
});

describe('closing a peer', () => {
  test('lets what is under way be answered, begins nothing, and asks nothing', async () => {
    const { opened, open } = latch();
    const answerer = nodes.open({ answer: (request) => opened.then(() => request) });
    const asker = nodes.open();
    const underWay = asker.ask(answerer.address, 'under way', SOON);
    await until(() => answerer.stats().answering === 1);
    const closing = answerer.close();
    expect(await failureOf(asker.ask(answerer.address, 'late', SOON))).toBe('no');
    expect(await failureOf(answerer.ask(asker.address, 'own', SOON))).toBe('no');
    open();
    expect(await underWay).toBe('under way');
    await closing;
    expect(answerer.stats()).toMatchObject({ answered: 1, answering: 0, inbound: 0 });
  });

  test('waits no longer than it may', async () => {
    const answerer = nodes.open({ answer: () => latch().opened, limits: { closeMs: 50 } });
    const asker = nodes.open();
    const asked = failureOf(asker.ask(answerer.address, null, SOON));
    await until(() => answerer.stats().answering === 1);
    await answerer.close();
    expect(await asked).toBe('maybe');
  });
});
