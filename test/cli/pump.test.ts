// Batches in flight: bounded, settled in order, halved where a call is refused for one event.
import { expect, test } from 'bun:test';
import type { Batch } from '../../src/cli/ingest/batches.ts';
import { pump, type Send, type Settled } from '../../src/cli/ingest/pump.ts';

function batch(number: number, events: readonly object[] = [{ number }]): Batch {
  const entries = events.map((event, at) => ({ line: number * 1000 + at, event: { ...event } }));
  return { entries, lines: number, offset: number };
}

async function* endless(read: { count: number }): AsyncGenerator<Batch> {
  for (;;) yield batch(++read.count);
}

async function* of(...batches: readonly Batch[]): AsyncGenerator<Batch> {
  yield* batches;
}

const never = new AbortController().signal;
const allGood: Send = (events) =>
  Promise.resolve({ inserted: events.length, duplicates: 0, rejected: [] });

test('the ingest pump holds back behind the first batch without an answer, and reads little more', async () => {
  const read = { count: 0 };
  const stop = new AbortController();
  const settled: Settled[] = [];
  const send: Send = (events, signal) =>
    events[0]!['number'] === 3
      ? new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        })
      : allGood(events, signal);
  const pumped = pump(endless(read), {
    send,
    settle: async (one) => void settled.push(one),
    signal: stop.signal,
  });
  for (let turn = 0; turn < 100; turn += 1) await Bun.sleep(0);
  expect(settled.map(({ batch: { lines } }) => lines)).toEqual([1, 2]);
  expect(read.count).toBeLessThan(10);
  stop.abort();
  expect(pumped).rejects.toThrow();
});

test('the ingest pump settles batches in the order of the file, whatever is answered first', async () => {
  const settled: number[] = [];
  const send: Send = async (events, signal) => {
    await Bun.sleep(events[0]!['number'] === 1 ? 20 : 0);
    return allGood(events, signal);
  };
  await pump(of(batch(1), batch(2), batch(3)), {
    send,
    settle: async ({ batch: { lines } }) => void settled.push(lines),
    signal: never,
  });
  expect(settled).toEqual([1, 2, 3]);
});

test('a failure ends the ingest pump; what was settled before is a beginning without a gap', async () => {
  const settled: number[] = [];
  const send: Send = (events, signal) =>
    events[0]!['number'] === 3 ? Promise.reject(new Error('lost')) : allGood(events, signal);
  const pumped = pump(endless({ count: 0 }), {
    send,
    settle: async ({ batch: { lines } }) => void settled.push(lines),
    signal: never,
  });
  expect(pumped).rejects.toThrow('lost');
  await pumped.catch(() => undefined);
  expect(settled).toEqual([1, 2]);
});

test('one event for which a whole call is refused costs the ingest pump no other event', async () => {
  const calls: number[] = [];
  const send: Send = (events, signal) => {
    calls.push(events.length);
    const isBad = events.some((event) => event['bad'] === true);
    return isBad ? Promise.resolve({ refused: 'too much' }) : allGood(events, signal);
  };
  const events = Array.from({ length: 500 }, (_, at) => ({ bad: at === 321 }));
  const settled: Settled[] = [];
  await pump(of(batch(1, events)), {
    send,
    settle: async (one) => void settled.push(one),
    signal: never,
  });
  expect(settled).toMatchObject([
    { inserted: 499, rejects: [{ line: 1321, reason: 'too much', event: { bad: true } }] },
  ]);
  expect(calls.length).toBeLessThan(20);
});
