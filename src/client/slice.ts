// A slice: a reservation out of which a lease gives units. Its times are of the client's own clock
// (`elapsed.ts`), and what the service says is only ever counted from the instant before it was
// asked: no clock has to be right.
import type { CheckResult, Reservation } from './types.ts';

export type Slice = {
  readonly id: string;
  readonly units: number;
  /** As of the last count. */
  taken: number;
  /** From when on it is renewed. */
  renewAt: number;
  /** From when on nothing is given out of it. */
  until: number;
  /** When its period ends. */
  readonly endsAt: number;
};

/** What is left for a request that is on its way, and for clocks that run at another speed. */
const MARGIN = 0.1;
const RENEWED_AFTER = 0.5;
const TRIED_AGAIN_AFTER = 0.125;
/**
 * So much longer a slice is used after its period, in which it counts all the same: the service is
 * in the next period for sure when another one is asked for.
 */
const GRACE_MS = 500;

/** `sentAt`: before it was asked for. */
export function sliceOf(
  { id, createdAt }: Reservation,
  { units, sentAt, expiresInMs }: Asked,
  { periodStart, resetsAt }: Pick<CheckResult, 'periodStart' | 'resetsAt'>,
): Slice {
  const madeAt = Date.parse(createdAt);
  // An answer that was lost may come when its period is over.
  const isPast = periodStart !== null && madeAt < Date.parse(periodStart);
  const lasts = resetsAt === null ? Infinity : Date.parse(resetsAt) - madeAt + GRACE_MS;
  const endsAt = isPast ? sentAt : sentAt + lasts;
  const slice = { id, units, taken: 0, renewAt: 0, until: 0, endsAt };
  prolong(slice, sentAt, expiresInMs);
  return slice;
}

type Asked = { readonly units: number; readonly sentAt: number; readonly expiresInMs: number };

export function prolong(slice: Slice, sentAt: number, expiresInMs: number): void {
  slice.until = Math.min(slice.endsAt, sentAt + expiresInMs * (1 - MARGIN));
  slice.renewAt = sentAt + expiresInMs * RENEWED_AFTER;
}

/** A renewal begins: if it fails, it is tried again later. */
export function renewing(slice: Slice, now: number, expiresInMs: number): void {
  slice.renewAt = now + expiresInMs * TRIED_AGAIN_AFTER;
}

export function restOf(slices: readonly Slice[]): number {
  return slices.reduce((sum, { units, taken }) => sum + units - taken, 0);
}
