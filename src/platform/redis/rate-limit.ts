// Rate limits: how often something may be done in a minute, across all processes.
//
// Who calls: routes, before expensive work.
// Holds: a window opens with the first take and closes a minute later, in Redis, so all processes
// share it. A take never fails and never waits long: while Redis does not answer, this process
// counts alone, so each process allows the whole limit. A flushed Redis opens new windows.
// Does not: guard money. Ceilings are the ledger's.
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisConnection } from './redis-connection.ts';

const WINDOW_S = 60;

export type Taken = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window closes. */
  readonly resetMs: number;
};

export type RateLimit = {
  /** Takes one from the minute's limit of `key`. */
  take(key: string): Promise<Taken>;
  /**
   * What a take would answer where nothing is left of the limit; null while some is. Takes nothing.
   */
  spent(key: string): Promise<Taken | null>;
};

export type RateLimiter = {
  /** `name` is what is limited; `perMinute` for each key, 0 for no limit. */
  limit(name: string, perMinute: number): RateLimit;
};

const ANY_NUMBER: Taken = { allowed: true, limit: Infinity, remaining: Infinity, resetMs: 0 };
const UNLIMITED: RateLimit = {
  take: () => Promise.resolve(ANY_NUMBER),
  spent: () => Promise.resolve(null),
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
        // The library refuses by throwing the result.
        if (refused instanceof RateLimiterRes) return takenOf(false, refused);
        throw refused;
      }
    },
    async spent(key) {
      const result = await limiter.get(key);
      return result === null || result.remainingPoints > 0 ? null : takenOf(false, result);
    },
  };
}
