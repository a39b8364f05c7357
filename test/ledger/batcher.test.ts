// Loads for many tenants: one with many cold customers neither delays the others' nor takes all the
// room.
import { expect, test } from 'bun:test';
import { Batcher } from '../../ledger/kernel/batcher.ts';
import { LedgerUnavailable } from '../../ledger/ports.ts';
import { Schedule } from '../simulation/schedule.ts';
import { seeded } from '../support/random.ts';

const KEYS_MAX = 10;
const WAITING_MAX = 1000;
const LOAD_MS = 5;

function bed() {
  const schedule = new Schedule(seeded(1));
  const loads: (readonly string[])[] = [];
  const batcher = new Batcher<string, string>({
    timers: {
      after: (ms, task) => schedule.after(ms, null, task),
      soon: (task) => void schedule.after(0, null, task),
    },
    nameOf: (key) => key,
    load: async (keys) => {
      loads.push(keys);
      await schedule.wait(LOAD_MS, null);
      return keys.map((key) => [key, `the value of ${key}`]);
    },
    keysMax: KEYS_MAX,
    concurrentMax: 1,
    waitingMax: WAITING_MAX,
  });
  const ends = { loaded: 0, refused: 0 };
  const ask = async (key: string, tenant: string | undefined): Promise<void> => {
    try {
      expect(await batcher.get(key, tenant)).toBe(`the value of ${key}`);
      ends.loaded += 1;
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      ends.refused += 1;
    }
  };
  const get = (key: string, tenant?: string): void => void ask(key, tenant);
  return { schedule, batcher, loads, ends, get };
}

test('a batch query serves tenants in turn', () => {
  const { schedule, loads, get } = bed();
  for (let n = 0; n < 400; n += 1) get(`loud ${n}`, 'loud');
  schedule.run(LOAD_MS - 1);
  for (let n = 0; n < 5; n += 1) get(`quiet ${n}`, 'quiet');
  schedule.run(2 * LOAD_MS);
  expect(loads[1]!.filter((key) => key.startsWith('quiet')).length).toBe(5);
});

test('one tenant has half of a batch query at most, and the next one finds room', () => {
  const { schedule, batcher, ends, get } = bed();
  for (let n = 0; n < 3 * WAITING_MAX; n += 1) get(`loud ${n}`, 'loud');
  expect(batcher.waiting).toBe(WAITING_MAX / 2);
  get('quiet', 'quiet');
  expect(batcher.waiting).toBe(WAITING_MAX / 2 + 1);
  schedule.run(10_000);
  expect(ends).toEqual({ loaded: WAITING_MAX / 2 + 1, refused: 2.5 * WAITING_MAX });
  expect(batcher.waiting).toBe(0);
});

test('calls for one key share its load, and the next one loads again', () => {
  const { schedule, batcher, loads, ends, get } = bed();
  for (let n = 0; n < 3; n += 1) get('key');
  get('other');
  schedule.run(LOAD_MS);
  expect(ends).toEqual({ loaded: 4, refused: 0 });
  get('key');
  schedule.run(2 * LOAD_MS);
  expect([loads, ends.loaded, batcher.waiting]).toEqual([[['key', 'other'], ['key']], 5, 0]);
});

test('a batch query that fails, fails for all who wait for it, and not for those after', async () => {
  const tasks: (() => void)[] = [];
  let isDown = true;
  const batcher = new Batcher<string, string>({
    timers: { after: () => () => undefined, soon: (task) => void tasks.push(task) },
    nameOf: (key) => key,
    load: (keys) =>
      isDown ? Promise.reject(new Error('down')) : Promise.resolve(keys.map((key) => [key, key])),
    keysMax: KEYS_MAX,
    concurrentMax: 1,
    waitingMax: WAITING_MAX,
  });
  const run = (): void => tasks.shift()?.();
  const waiting = Promise.allSettled(['a', 'a', 'b'].map((key) => batcher.get(key)));
  run();
  expect((await waiting).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  isDown = false;
  const next = batcher.get('a');
  run();
  expect([await next, batcher.waiting]).toEqual(['a', 0]);
});

test('a tenant alone may fill a batch query', () => {
  const { schedule, ends, get } = bed();
  for (let n = 0; n < WAITING_MAX + 7; n += 1) get(`key ${n}`);
  schedule.run(10_000);
  expect(ends).toEqual({ loaded: WAITING_MAX, refused: 7 });
});
