import { type Static, Type } from '@sinclair/typebox';
import type { Issue } from '../edge/errors.ts';
import { timeOf } from './usage.ts';
import { Body, Timestamp, oneOf } from './values.ts';

const DURATION =
  '^P(?=\\d|T\\d)(?:\\d{1,2}Y)?(?:\\d{1,3}M)?(?:\\d{1,3}W)?(?:\\d{1,4}D)?(?:T(?=\\d)(?:\\d{1,5}H)?(?:\\d{1,7}M)?(?:\\d{1,9}S)?)?$';

export const TestClockMove = Body(
  {
    advance: Type.Optional(
      Type.String({
        pattern: DURATION,
        description:
          'An ISO 8601 duration in whole numbers, such as `P1M` or `P1DT12H`, from the time ' +
          'of the clock, by the calendar in UTC. 31 January plus a month is the last day of ' +
          'February.',
        error: 'must be an ISO 8601 duration in whole numbers, such as P1M',
      }),
    ),
    now: Type.Optional(
      Type.String({ ...Timestamp, description: 'The new time; not in the past of the clock.' }),
    ),
  },
  { advance: 'P1M' },
);

export const TestClockStatus = oneOf(['ready', 'advancing'], {
  description: '`advancing` while due work is being done; `now` is how far it is.',
});

export const TestClock = Type.Object({
  now: Timestamp,
  status: TestClockStatus,
});

/** The target of the clock, or what is wrong with the body. */
export function toTarget({
  advance,
  now,
}: Static<typeof TestClockMove>): ((from: number) => number) | Issue {
  if ((advance === undefined) === (now === undefined)) {
    return { path: ['advance'], message: 'exactly one of advance and now must be given' };
  }
  if (advance !== undefined) {
    const duration = Temporal.Duration.from(advance);
    return (from) =>
      Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO('UTC').add(duration)
        .epochMilliseconds;
  }
  const at = timeOf(now ?? '');
  return at === null
    ? { path: ['now'], message: 'must be an ISO 8601 time with a zone' }
    : () => at;
}

export function fromTestClock(now: number, isMoving: boolean): Static<typeof TestClock> {
  return { now: new Date(now).toISOString(), status: isMoving ? 'advancing' : 'ready' };
}
