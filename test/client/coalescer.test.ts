// Any order of calls, faults and aborts: each call ends once, what resolved is recorded once, what
// is recorded was called, and the calls of one customer are done in their order.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Tollhouse } from '../../src/client/index.ts';
import { type Fate, REFUSED, ServiceModel } from './service-model.ts';

const FATES: readonly Fate[] = ['answered', 'lost', 'cut', 'unavailable', 'garbage', 'half'];

type Step = { readonly customer: string; readonly aborts: boolean; readonly pauses: boolean };

const STEP = fc.record({
  customer: fc.constantFrom('a', 'b', 'c', 'd'),
  aborts: fc.nat(9).map((n) => n === 0),
  pauses: fc.nat(4).map((n) => n === 0),
});

const WORLD = fc.record({
  steps: fc.array(STEP, { minLength: 1, maxLength: 60 }),
  fates: fc.array(fc.constantFrom(...FATES), { maxLength: 12 }),
  itemsMax: fc.integer({ min: 1, max: 40 }),
  batchesInFlight: fc.integer({ min: 1, max: 4 }),
  baseUrl: fc.constantFrom(['http://service-0'], ['http://service-0', 'http://service-1']),
});

const tick = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, 0);
  });

test('the coalescer settles every call, in any order of calls, faults and aborts', async () => {
  await fc.assert(
    fc.asyncProperty(WORLD, async ({ steps, fates, itemsMax, ...options }) => {
      const service = new ServiceModel(fates, itemsMax);
      const tollhouse = new Tollhouse({
        apiKey: 'svc_test_1',
        ...options,
        fetch: service.fetch,
        chance: { sleep: tick },
      });
      const ends = await play(tollhouse, steps);
      await tollhouse.close();
      const { recorded } = service;
      for (const [value, end] of ends.entries()) {
        const times = recorded.filter((one) => one.value === value).length;
        const { customer, aborts } = steps[value]!;
        if (value === REFUSED) expect(times).toBe(0);
        else if (!aborts) expect(end).toBe('resolved');
        if (end === 'resolved') expect({ value, times }).toEqual({ value, times: 1 });
        expect(times).toBeLessThanOrEqual(1);
        expect(recorded.filter((one) => one.value === value && one.customer !== customer)).toEqual(
          [],
        );
      }
      for (const { customer } of steps) {
        const values = recorded
          .filter((one) => one.customer === customer)
          .map(({ value }) => value);
        expect(values).toEqual(values.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 200 },
  );
}, 60_000);

/** How each call ended, by its value, which is its index. */
async function play(tollhouse: Tollhouse, steps: readonly Step[]): Promise<string[]> {
  const ends: Promise<string>[] = [];
  let ended = 0;
  const end = (how: string): string => {
    ended += 1;
    return how;
  };
  for (const [value, { customer, aborts, pauses }] of steps.entries()) {
    const abort = new AbortController();
    const options = aborts ? { signal: abort.signal } : {};
    const call = tollhouse.track(
      { externalCustomerId: customer, featureKey: 'calls', value },
      options,
    );
    ends.push(
      call.then(
        () => end('resolved'),
        () => end('rejected'),
      ),
    );
    if (pauses) await tick();
    if (aborts) abort.abort();
  }
  await tollhouse.flush();
  // What has ended told so in a microtask.
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  expect(ended).toBe(steps.length);
  return Promise.all(ends);
}

test('an aborted call that the coalescer had not sent is never recorded', async () => {
  const service = new ServiceModel([], 500);
  await using tollhouse = new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: 'http://service',
    fetch: service.fetch,
  });
  const abort = new AbortController();
  const use = { externalCustomerId: 'a', featureKey: 'calls' };
  const kept = tollhouse.track({ ...use, value: 1 });
  const dropped = tollhouse.track({ ...use, value: 2 }, { signal: abort.signal });
  const last = tollhouse.track({ ...use, value: 3 });
  abort.abort(new Error('no longer wanted'));
  expect(await dropped.catch((error: unknown) => error)).toEqual(new Error('no longer wanted'));
  await Promise.all([kept, last]);
  expect(service.recorded.map(({ value }) => value)).toEqual([1, 3]);
});

test('the coalescer rejects a call beyond its bound, and ready() waits for room', async () => {
  const service = new ServiceModel([], 500);
  await using tollhouse = new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: 'http://service',
    fetch: service.fetch,
    waitingMax: 10,
  });
  const use = { externalCustomerId: 'a', featureKey: 'calls' };
  const calls = Array.from({ length: 12 }, (_, value) =>
    tollhouse.track({ ...use, value: 100 + value }),
  );
  const settled = await Promise.allSettled(calls);
  expect(settled.map(({ status }) => status)).toEqual([
    ...Array(10).fill('fulfilled'),
    ...Array(2).fill('rejected'),
  ]);
  expect((settled[11] as PromiseRejectedResult).reason).toMatchObject({ type: 'queue_full' });
  const ends: Promise<unknown>[] = [];
  for (let value = 200; value < 400; value += 1) {
    await tollhouse.ready();
    ends.push(tollhouse.track({ ...use, value }));
  }
  await Promise.all(ends);
  expect(service.recorded).toHaveLength(210);
});

test('the coalescer tells a worker what to wait for', async () => {
  const service = new ServiceModel(['cut'], 500);
  const waited: Promise<void>[] = [];
  const tollhouse = new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: 'http://service',
    fetch: service.fetch,
    chance: { sleep: tick },
    waitUntil: (work) => void waited.push(work),
  });
  const call = tollhouse.track({ externalCustomerId: 'a', featureKey: 'calls', value: 1 });
  expect(waited).toHaveLength(1);
  await Promise.all(waited);
  expect(Bun.peek.status(call)).toBe('fulfilled');
  expect(service.recorded).toHaveLength(1);
});
