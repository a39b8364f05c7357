import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { judge, type Verdict } from '../../workers/retry-policy.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FIRST = Date.UTC(2026, 0, 1);
const FAILED = {
  attempts: 1,
  firstAt: FIRST,
  at: FIRST,
  statusCode: 500,
  retryAfter: null,
  random: 0,
};

// The time of each attempt after the first one, where nothing shortens or lengthens a wait.
const PUBLISHED = [
  '0:00:00', '0:00:05', '0:00:15', '0:00:35', '0:01:15', '0:02:35', '0:05:15', '0:10:35', '0:21:15', '0:42:35',
  '1:25:15', '2:50:35', '5:41:15', '8:41:15', '11:41:15', '14:41:15', '17:41:15', '20:41:15', '23:41:15',
]; // prettier-ignore

test('the schedule of a receiver that never answers is the published table of 24 hours', () => {
  expect(attemptsOf(() => FAILED).map(clockOf)).toEqual(PUBLISHED);
});

// prettier-ignore
test.each([
  // status  verdict
  [ 200,     'delivered' ],
  [ 204,     'delivered' ],
  [ 299,     'delivered' ],
  [ 199,     'retry' ],
  [ 300,     'retry' ],
  [ 302,     'retry' ],
  [ 400,     'retry' ],
  [ 401,     'retry' ],
  [ 404,     'retry' ],
  [ 409,     'retry' ],
  [ 410,     'gone' ],
  [ 429,     'retry' ],
  [ 500,     'retry' ],
  [ 999,     'retry' ],
])('an answer with the status %d is judged: %s', (statusCode, verdict) => {
  expect(judge({ ...FAILED, statusCode }).kind).toBe(verdict as Verdict['kind']);
});

test('a delivery without an answer is retried after the first wait', () => {
  const verdict = judge({ ...FAILED, statusCode: null });
  expect(verdict).toEqual({ kind: 'retry', at: FIRST + 5 * SECOND });
});

test('a success counts whenever it comes', () => {
  const at = FIRST + 2 * DAY;
  expect(judge({ ...FAILED, statusCode: 200, attempts: 99, at })).toEqual({ kind: 'delivered' });
});

// prettier-ignore
test.each([
  // attempts  random  wait in ms: the plan, down to 80 % of it
  [  1,        0,      5000 ],
  [  1,        0.5,    4500 ],
  [  1,        1,      4000 ],
  [  4,        0.25,   38_000 ],
  [ 12,        0,      10_240_000 ],
  [ 13,        1,      2.4 * HOUR ],
  [ 5000,      0,      3 * HOUR ],
])('after %d attempts, at random %d, a delivery waits %d ms', (attempts, random, wait) => {
  expect(judge({ ...FAILED, attempts, random })).toEqual({ kind: 'retry', at: FIRST + wait });
});

// prettier-ignore
test.each([
  // Retry-After                       wait in s, where the plan is 40 s
  [ '120',                             120 ],
  [ ' 120 ',                           120 ],
  [ '40',                               40 ],
  [ '1',                                40 ],       // never sooner than the plan
  [ '0',                                40 ],
  [ '10800',                         10800 ],
  [ '10801',                         10800 ],       // never later than 3 h
  [ '999999999',                     10800 ],
  [ '9999999999999999999999',           40 ],       // no number of seconds that anybody means
  [ '-5',                               40 ],
  [ '1.5',                              40 ],
  [ '1e3',                              40 ],
  [ 'soon',                             40 ],
  [ '',                                 40 ],
  [ 'Thu, 01 Jan 2026 00:10:00 GMT',   600 ],
  [ 'Thursday, 01-Jan-26 00:10:00 GMT', 600 ],
  [ 'Thu, 01 Jan 2026 09:00:00 GMT', 10800 ],
  [ 'Wed, 31 Dec 2025 23:59:00 GMT',    40 ],
  [ 'Thu, 99 Jan 2026 00:10:00 GMT',    40 ],
  [ '2026-01-01T00:10:00Z',             40 ],
])('a delivery with Retry-After %p waits %d s', (retryAfter, seconds) => {
  const verdict = judge({ ...FAILED, attempts: 4, statusCode: 429, retryAfter });
  expect(verdict).toEqual({ kind: 'retry', at: FIRST + seconds * SECOND });
});

test('jitter never asks a receiver sooner than its Retry-After', () => {
  const verdict = judge({ ...FAILED, attempts: 4, random: 1, retryAfter: '40' });
  expect(verdict).toEqual({ kind: 'retry', at: FIRST + 40 * SECOND });
});

// prettier-ignore
test.each([
  // attempt ends  Retry-After  verdict, counted from the first attempt
  [ 21 * HOUR,     '',          24 * HOUR ],
  [ 21 * HOUR + 1, '',          'exhausted' ],
  [ 20 * HOUR,     '99999',     23 * HOUR ],
  [ 48 * HOUR,     '1',         'exhausted' ],
])('a delivery %d ms after its first attempt, with Retry-After %p, is judged %p', (elapsed, retryAfter, expected) => {
  const verdict = judge({ ...FAILED, attempts: 18, at: FIRST + elapsed, retryAfter });
  const at = typeof expected === 'number' ? FIRST + expected : 0;
  expect(verdict).toEqual(typeof expected === 'number' ? { kind: 'retry', at } : { kind: 'exhausted' });
});

test('a Retry-After beyond the 24 hours ends the delivery, where the plan does not', () => {
  const at = FIRST + DAY - 10 * SECOND;
  expect(judge({ ...FAILED, at, retryAfter: '60' })).toEqual({ kind: 'retry', at: FIRST + DAY });
});

test('no delivery has an attempt after 24 hours, a wait over 3 hours, or one under 80 % of the plan', () => {
  const told = fc.record({
    random: fc.double({ min: 0, max: 1, noNaN: true }),
    retryAfter: fc.option(fc.oneof(fc.nat(20_000).map(String), fc.string())),
    tookMs: fc.nat(10_000),
  });
  fc.assert(
    fc.property(fc.infiniteStream(told), (stream) => {
      let plan = 4 * SECOND;
      let ended = 0;
      const attempts = attemptsOf(
        (attemptAt) => {
          const { tookMs, ...chance } = stream.next().value!;
          ended = attemptAt + tookMs;
          return { ...FAILED, ...chance, at: ended };
        },
        (at) => {
          expect(at - ended).toBeLessThanOrEqual(3 * HOUR);
          if (at < FIRST + DAY) expect(at - ended).toBeGreaterThanOrEqual(Math.floor(plan));
          plan = Math.min(plan * 2, 2.4 * HOUR);
        },
      );
      expect(attempts.at(-1)!).toBeLessThanOrEqual(DAY);
      expect(attempts.at(-1)!).toBeGreaterThan(20 * HOUR);
      expect(attempts.length).toBeLessThan(26);
    }),
    { seed: 24, numRuns: 300 },
  );
});

/**
 * The times of the attempts at a delivery after the first one; `onRetry` is called when the next
 * one is scheduled.
 */
function attemptsOf(
  failure: (at: number) => Parameters<typeof judge>[0],
  onRetry: (at: number) => void = () => {},
): number[] {
  const made: number[] = [];
  let now = FIRST;
  for (;;) {
    made.push(now - FIRST);
    const failed = failure(now);
    const verdict = judge({ ...failed, attempts: made.length, at: Math.max(now, failed.at) });
    if (verdict.kind !== 'retry') return made;
    onRetry(verdict.at);
    now = verdict.at;
  }
}

function clockOf(ms: number): string {
  const two = (value: number): string => String(Math.floor(value) % 60).padStart(2, '0');
  return `${Math.floor(ms / HOUR)}:${two(ms / 60_000)}:${two(ms / SECOND)}`;
}
