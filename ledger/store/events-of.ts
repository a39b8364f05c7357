// How many events a transfer of usage stands for: one, or one less where it is a correction. What
// is committed on a meter that counts is as many as its units (`UsageRecord.events`).
import type { UsageRecord } from '../kernel/transfers.ts';

export const eventsOf = ({ events, value }: UsageRecord): bigint =>
  events ?? (value < 0n ? -1n : 1n);

/** The same of a row of transfers, as a numeric. */
export const EVENTS_OF = 'coalesce(events, sign(value + 0.5))';
