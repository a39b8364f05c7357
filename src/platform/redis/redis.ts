// Redis for what must answer at once or not at all. Nothing is queued for a connection that is not
// there.
import { connectRedis, type RedisConnection } from './redis-connection.ts';

/** A command that took longer is as good as none. */
const COMMAND_MS_MAX = 100;
/**
 * A server that accepts a command and is silent for this long is given up, with all that waits for
 * it.
 */
const SILENCE_MS_MAX = 1000;
const CONNECT_MS_MAX = 1000;
const RECONNECT_MS_MAX = 500;

export type RedisOptions = {
  readonly url: string;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
};

/**
 * Connects in the background, and again whenever the connection is lost. `disconnect` ends that.
 */
export function openRedis({ url, warn }: RedisOptions): RedisConnection {
  const redis = connectRedis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    connectTimeout: CONNECT_MS_MAX,
    retryStrategy: (attempt) => Math.min(50 * attempt, RECONNECT_MS_MAX),
  });
  let lost = false;
  redis.on('error', (error: Error) => {
    if (!lost) warn({ error: error.message }, 'Redis does not answer');
    lost = true;
  });
  redis.on('ready', () => {
    lost = false;
  });
  return redis;
}
