// REDIS_URL with several nodes is a Redis Cluster: the queue works there, and its keys are on one
// of them.
import { expect, test } from 'bun:test';
import { openRateLimiter } from '../../../src/platform/redis/rate-limit.ts';
import { checkRedis } from '../../../src/platform/net/reachable.ts';
import { openRedis } from '../../../src/platform/redis/redis.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';
import { startOwnCluster } from './own-cluster.ts';
import { Sink } from './sink.ts';

test('deliveries and rate limits work on a Redis Cluster', async () => {
  const cluster = await startOwnCluster();
  const bed = await Bed.start({ engines: 0, faster: 10 });
  const sink = new Sink();
  try {
    await checkRedis(cluster.url);
    for (let engine = 0; engine < 2; engine += 1) await bed.addEngine({ redisUrl: cluster.url });
    const endpoints = await Promise.all(
      Array.from({ length: 10 }, (_, index) => bed.endpoint(`${sink.url}/${index}`)),
    );
    const events = await bed.events(10);
    for (const { id } of endpoints) await bed.all(id, 'delivered');
    expect(sink.ids.toSorted()).toEqual(endpoints.flatMap(() => events).toSorted());
    const keys = await Promise.all(cluster.nodes.map((node) => node.keys()));
    expect(keys.filter((count) => count > 0)).toHaveLength(1);

    const redis = openRedis({ url: cluster.url, warn: () => undefined });
    const limit = openRateLimiter(redis).limit('test', 1);
    await until('it is connected', () => redis.status === 'ready');
    // A take that Redis is too slow for counts in this process alone.
    await until('a take is kept in the cluster', async () => {
      await limit.take('first');
      const kept = cluster.nodes.map((node) => node.ask((one) => one.keys('rate:test:*')));
      return (await Promise.all(kept)).flat().length === 1;
    });
    expect(await limit.take('key')).toMatchObject({ allowed: true });
    expect(await limit.take('key')).toMatchObject({ allowed: false });
    redis.disconnect();
  } finally {
    await bed.stop();
    await sink.stop();
    await cluster.stop();
  }
}, 60_000);
