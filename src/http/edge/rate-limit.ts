import { refusedPage } from '../../pages/portal/refused.ts';
import type { Taken } from '../../platform/redis/rate-limit.ts';
import { refuse } from './errors.ts';
import { sendPage } from '../page.ts';

type RateLimited = Omit<Taken, 'allowed'>;

/** The response where a rate limit is reached. */
export function refuseRate(taken: RateLimited): Response {
  const headers = headersOf(taken);
  const seconds = headers['retry-after'];
  return refuse('rate_limited', `at most ${taken.limit} a minute; try again in ${seconds} s`, {
    headers,
  });
}

/** The same as a page for a browser. */
export function refuseRatePage(taken: RateLimited): Response {
  const page = sendPage(refusedPage('rate_limited'), { status: 429 });
  for (const [name, value] of Object.entries(headersOf(taken))) page.headers.set(name, value);
  return page;
}

function headersOf({ limit, remaining, resetMs }: RateLimited) {
  const seconds = String(Math.max(1, Math.ceil(resetMs / 1000)));
  return {
    'retry-after': seconds,
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': seconds,
  };
}
