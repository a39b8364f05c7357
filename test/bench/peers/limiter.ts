// A rate limiter as a meter: one window of 30 days for each customer, whose points are the grant.
//
// Does not: keep events, know keys of callers (a repeated request counts again), or give one
// customer another limit than the next.
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Usage } from './answers.ts';
import type { PeerSettings } from './door.ts';
import { serve } from './ways.ts';

export const WINDOW = { points: 100_000_000, duration: 30 * 86_400 };

export function serveLimiter(settings: PeerSettings, limiter: RateLimiterAbstract): Promise<never> {
  return serve(settings, {
    check: async (externalId) => usageOf(externalId, await limiter.get(externalId)),
    async track({ externalId, value }) {
      return {
        usage: usageOf(externalId, await limiter.consume(externalId, value)),
        duplicate: false,
      };
    },
  });
}

function usageOf(customerId: string, result: RateLimiterRes | null): Usage {
  return { customerId, limit: WINDOW.points, consumed: result?.consumedPoints ?? 0 };
}
