import { refusedPage } from '../../pages/portal/refused.ts';
import type { Taken } from '../../platform/redis/rate-limit.ts';
import type { RefusedView } from '../../pages/portal/view.ts';
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
  return pageOf('rate_limited', taken);
}

/** The same where the limit is how many there are at a time. */
export function refuseAtOnce(what: string, limit: number): Response {
  const message = `at most ${limit} ${what} at a time; try again when one has ended`;
  return refuse('rate_limited', message, { headers: headersOf(allTaken(limit)) });
}

export function refuseAtOncePage(view: RefusedView, limit: number): Response {
  return pageOf(view, allTaken(limit));
}

/** One may end at any time. */
function allTaken(limit: number): RateLimited {
  return { limit, remaining: 0, resetMs: 1000 };
}

function pageOf(view: RefusedView, taken: RateLimited): Response {
  const page = sendPage(refusedPage(view), { status: 429 });
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
