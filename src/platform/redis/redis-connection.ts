// A connection to Redis as REDIS_URL names it: one server, or some nodes of a Redis Cluster with
// commas between them.
import { Cluster, Redis } from 'ioredis';

export type RedisConnection = Redis | Cluster;

export type RedisSettings = {
  /** How long after a failed attempt to connect comes the next; null for none. */
  readonly retryStrategy: (attempt: number) => number | null;
  readonly maxRetriesPerRequest: number | null;
  readonly enableOfflineQueue?: boolean;
  readonly lazyConnect?: boolean;
  readonly commandTimeout?: number;
  readonly socketTimeout?: number;
  readonly connectTimeout?: number;
};

/** The URLs in REDIS_URL. Those of a cluster's nodes differ in host and port only. */
export const redisUrls = (url: string): readonly string[] => url.split(',');

export function connectRedis(url: string, settings: RedisSettings): RedisConnection {
  const nodes = redisUrls(url);
  if (nodes.length === 1) return new Redis(url, settings);
  const { retryStrategy, enableOfflineQueue = true, lazyConnect = false, ...each } = settings;
  return new Cluster([...nodes], {
    redisOptions: { ...credentialsOf(nodes[0] ?? ''), ...each },
    clusterRetryStrategy: retryStrategy,
    enableOfflineQueue,
    lazyConnect,
  });
}

/** Nodes that other nodes name are known by host and port only. */
function credentialsOf(url: string) {
  const { protocol, username, password } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
