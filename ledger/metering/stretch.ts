import type { Reservation } from './reservation.ts';

/**
 * What a period had counted before a boundary of it (balance.md 1): between two of them lies a stretch,
 * whose use is the difference. Where nothing was used since the mark before there is none.
 */
export type StretchMark = {
  readonly accountId: string;
  /** Of the boundary: `momentOf`. */
  readonly start: number;
  /** Before the floor, scaled. */
  readonly aggregate: bigint;
  /** At the start of a period: what was used before of the grants that go on. */
  readonly carried: readonly Carried[];
};

/**
 * Several boundaries may be in one millisecond, with use between them: they have an order, as parts of
 * the millisecond. What has a time alone is before all of them but the first.
 */
export const momentOf = (at: number, index: number): number => at + Math.min(index, MOST) / PARTS;

/** After all boundaries of that millisecond: an event of that time comes after them. */
export const lastOf = (at: number): number => momentOf(at, MOST);

/** The milliseconds of a moment, and its place among those of that millisecond. */
export const timeOf = (moment: number): number => Math.floor(moment);
export const indexOf = (moment: number): number => (moment - timeOf(moment)) * PARTS;

/** The place of what begins, ends or is held at a time, by the stretch that runs then. */
export const placeIn = ({ start }: Pick<StretchMark, 'start'>, at: number): number =>
  timeOf(start) === at ? indexOf(start) : 0;

/** The stretch in which it was made: what is held counts as use of it. */
export const heldSince = ({ createdAt, place }: Pick<Reservation, 'createdAt' | 'place'>): number =>
  momentOf(createdAt, place);

type Running = {
  readonly stretch: Pick<StretchMark, 'start'>;
  readonly current: { readonly accountId: string };
  readonly reservations: readonly Pick<Reservation, 'accountId' | 'createdAt' | 'place'>[];
};

/**
 * The moment of a boundary at that time: after what was used and held in the stretch that runs. One in
 * which nothing was goes on.
 */
export function boundaryAt(
  { stretch, current, reservations }: Running,
  at: number,
  isUsed: boolean,
): number {
  const { start } = stretch;
  const isSameTime = timeOf(start) === at;
  const place = placeIn(stretch, at);
  const isHeld = reservations.some(
    (one) => one.createdAt === at && one.place === place && one.accountId === current.accountId,
  );
  if (isSameTime) return isUsed || isHeld ? momentOf(at, place + 1) : start;
  return momentOf(at, isHeld ? 1 : 0);
}

/** A number has this much room below a millisecond until the year 2109. */
const PARTS = 1024;
const MOST = PARTS - 1;

/** Scaled. */
export type Carried = { readonly id: string; readonly used: bigint };
