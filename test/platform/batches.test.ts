import { expect, test } from 'bun:test';
import { timers } from '../../src/platform/clock.ts';
import { Batches } from '../../src/platform/background/batches.ts';

function batches(work: (keys: readonly string[]) => Promise<ReadonlyMap<string, string>>) {
  const failures: unknown[] = [];
  const failed = (key: string, error: unknown): void => void failures.push([key, error]);
  return { failures, all: new Batches({ timers, atMost: 3, concurrentMax: 1, work, failed }) };
}

const named = (keys: readonly string[]): ReadonlyMap<string, string> =>
  new Map(keys.map((key) => [key, key.toUpperCase()]));

test('keys that arrive at one moment, or while a batch runs, are one batch, each key once', async () => {
  const seen: string[][] = [];
  const began = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const { all } = batches(async (keys) => {
    seen.push([...keys]);
    began.resolve();
    if (seen.length === 1) await first.promise;
    return named(keys);
  });
  const atOnce = ['a', 'b', 'a'].map((key) => all.do(key));
  await began.promise;
  const meanwhile = ['a', 'b', 'c', 'b', 'd', 'e'].map((key) => all.do(key));
  first.resolve();
  expect(await Promise.all(atOnce)).toEqual(['A', 'B', 'A']);
  expect(await Promise.all(meanwhile)).toEqual(['A', 'B', 'C', 'B', 'D', 'E']);
  expect(seen).toEqual([
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['d', 'e'],
  ]);
  await all.idle();
});

test('a key that always fails delays no other of its batch, and is reported once', async () => {
  const gate = Promise.withResolvers<void>();
  const { all, failures } = batches(async (keys) => {
    await gate.promise;
    if (keys.includes('bad')) throw new Error('bad');
    return named(keys);
  });
  const asked = ['first', 'a', 'bad', 'b'].map((key) => all.do(key));
  gate.resolve();
  expect(await Promise.all(asked)).toEqual(['FIRST', 'A', undefined, 'B']);
  expect(failures).toEqual([['bad', new Error('bad')]]);
});
