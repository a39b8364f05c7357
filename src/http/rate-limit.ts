import type { Taken } from '../platform/rate-limit.ts';
import { refuse } from './errors.ts';

/** The answer where a limit does not allow it. */
export function refuseRate({ limit, remaining, resetMs }: Omit<Taken, 'allowed'>): Response {
  const seconds = String(Math.max(1, Math.ceil(resetMs / 1000)));
  return refuse('rate_limited', `at most ${limit} a minute; try again in ${seconds} s`, {
    headers: {
      'retry-after': seconds,
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': seconds,
    },
  });
}
