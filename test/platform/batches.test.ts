import { expect, test } from 'bun:test';
import { Batches } from '../../src/platform/background/batches.ts';

function batches(work: (keys: readonly string[]) => Promise<ReadonlyMap<string, string>>) {
  const failures: unknown[] = [];
  const failed = (key: string, error: unknown): void => void failures.push([key, error]);
  return { failures, all: new Batches({ atMost: 3, concurrentMax: 1, work, failed }) };
}

const named = (keys: readonly string[]): ReadonlyMap<string, string> =>
  new Map(keys.map((key) => [key, key.toUpperCase()]));

test('what comes while a batch is done goes together into the next ones, each key once', async () => {
  const seen: string[][] = [];
  const first = Promise.withResolvers<void>();
  const { all } = batches(async (keys) => {
    seen.push([...keys]);
    if (seen.length === 1) await first.promise;
    return named(keys);
  });
  const asked = ['a', 'b', 'c', 'b', 'd', 'e', 'a'].map((key) => all.do(key));
  first.resolve();
  expect(await Promise.all(asked)).toEqual(['A', 'B', 'C', 'B', 'D', 'E', 'A']);
  expect(seen).toEqual([['a'], ['b', 'c', 'd'], ['e', 'a']]);
  await all.idle();
});

test('one that always fails delays no other, and is reported once', async () => {
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
