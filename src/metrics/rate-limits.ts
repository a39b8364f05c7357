// A rate limiter with counters.
import { Counter, type Registry } from 'prom-client';
import type { RateLimiter } from '../platform/redis/rate-limit.ts';

export function countTakes(registry: Registry, limiter: RateLimiter): RateLimiter {
  const takes = new Counter({
    name: 'tollhouse_rate_limit_takes_total',
    help: 'What was asked of each rate limit, and whether it was there. One that is off does not count.',
    labelNames: ['limit', 'result'],
    registers: [registry],
  });
  return {
    limit(name, perMinute) {
      const limit = limiter.limit(name, perMinute);
      if (perMinute === 0) return limit;
      const [allowed, refused] = ['allowed', 'refused'].map((result) =>
        takes.labels({ limit: name, result }),
      );
      return {
        async take(key) {
          const taken = await limit.take(key);
          (taken.allowed ? allowed : refused)?.inc();
          return taken;
        },
        async spent(key) {
          const taken = await limit.spent(key);
          if (taken !== null) refused?.inc();
          return taken;
        },
      };
    },
  };
}
