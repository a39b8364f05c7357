// How many events a transfer of usage stands for: one, or one less where it is a correction. What
// is committed on a meter that counts is as many as its units (`UsageRecord.events`).
import type { UsageRecord } from '../kernel/transfers.ts';

export const eventsOf = ({ events }: UsageRecord): bigint => events ?? 1n;

/** The same of a row of transfers, as a numeric. A server of before wrote corrections without. */
export const EVENTS_OF = 'coalesce(events, sign(value + 0.5))';
