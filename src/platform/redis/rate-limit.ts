// How often something may be done in a minute, over all processes.
//
// Who calls: routes, before they do what costs.
// Holds: a window opens with the first take and closes a minute later, in Redis, so that all
// processes count in the same one. It never fails and never waits for long: where Redis does not
// answer, this process counts by itself until it does, so that for so long each process allows the
// whole number. A flushed Redis opens new windows.
// Does not: guard anything that money depends on. Ceilings are the ledger's.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisConnection } from './redis-connection.ts';

const WINDOW_S = 60;

export type Taken = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window closes and the whole number is there again. */
  readonly resetMs: number;
};

export type RateLimit = {
  /** One of what `key` may have in this minute. */
  take(key: string): Promise<Taken>;
};

export type RateLimiter = {
  /** `name` is what is limited; `perMinute` for each key, 0 for no limit. */
  limit(name: string, perMinute: number): RateLimit;
};

const UNLIMITED: RateLimit = {
  take: () => Promise.resolve({ allowed: true, limit: Infinity, remaining: Infinity, resetMs: 0 }),
};

export function openRateLimiter(redis: RedisConnection): RateLimiter {
  return {
    limit: (name, perMinute) => (perMinute === 0 ? UNLIMITED : windows(redis, name, perMinute)),
  };
}

function windows(redis: RedisConnection, name: string, perMinute: number): RateLimit {
  const options = { keyPrefix: `rate:${name}`, points: perMinute, duration: WINDOW_S };
  const limiter = new RateLimiterRedis({
    ...options,
    storeClient: redis,
    insuranceLimiter: new RateLimiterMemory(options),
  });
  const takenOf = (allowed: boolean, result: RateLimiterRes): Taken => ({
    allowed,
    limit: perMinute,
    remaining: result.remainingPoints,
    resetMs: result.msBeforeNext,
  });
  return {
    async take(key) {
      try {
        return takenOf(true, await limiter.consume(key));
      } catch (refused) {
        // It says no by throwing what it answers otherwise.
        if (refused instanceof RateLimiterRes) return takenOf(false, refused);
        throw refused;
      }
    },
  };
}
