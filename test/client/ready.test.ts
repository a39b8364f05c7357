// `ready()`: however many wait for room, none of their calls is refused, and nobody waits for ever.
import { expect, test } from 'bun:test';
import { Tollhouse } from '../../src/client/index.ts';
import { ServiceModel } from './service-model.ts';

const USE = { externalCustomerId: 'a', featureKey: 'calls' };

const clientOf = (service: ServiceModel, waitingMax: number): Tollhouse =>
  new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: 'http://service',
    fetch: service.fetch,
    waitingMax,
  });

test('ready() of the client lets many tasks wait at once, and no call is refused', async () => {
  const service = new ServiceModel([], 500);
  await using tollhouse = clientOf(service, 100);
  const tasks = Array.from({ length: 1000 }, async (_, n) => {
    await tollhouse.ready();
    await tollhouse.track({ ...USE, value: 100 + n });
  });
  const ends = await Promise.allSettled(tasks);
  expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(service.recorded).toHaveLength(1000);
  // In the order of their waiting, and many at a time.
  expect(service.recorded.map(({ value }) => value)).toEqual(
    Array.from({ length: 1000 }, (_, n) => 100 + n),
  );
  expect(service.sizes.length).toBeLessThan(80);
});

test('tasks that wait for ready() and make no call keep nobody waiting', async () => {
  const service = new ServiceModel([], 500);
  await using tollhouse = clientOf(service, 2);
  const calls = [1, 2].map((value) => tollhouse.track({ ...USE, value }));
  const idle = Array.from({ length: 5 }, () => tollhouse.ready());
  await Promise.all(calls);
  await Promise.all(idle);
  await tollhouse.ready();
  await tollhouse.track({ ...USE, value: 3 });
  expect(service.recorded).toHaveLength(3);
});

test('a client batch that is refused for its size is sent again without the call that ended', async () => {
  const service = new ServiceModel([], 1);
  const abort = new AbortController();
  await using tollhouse = new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: 'http://service',
    fetch: (url, init) => {
      abort.abort();
      return service.fetch(url, init);
    },
  });
  const kept = tollhouse.track({ ...USE, value: 1 });
  const dropped = tollhouse.track({ ...USE, value: 2 }, { signal: abort.signal });
  expect(await dropped.catch((thrown: unknown) => thrown)).toBe(abort.signal.reason);
  await kept;
  expect(service.recorded.map(({ value }) => value)).toEqual([1]);
});
