import { newPeriod } from './advance.ts';
import { leaderOf } from './grants.ts';
import { lastBy } from './in-order.ts';
import { PERIODS_KEPT_MS } from '../limits.ts';
import type { MeterContext } from './meter-draft.ts';
import { type MeterState, type Period, calendarPeriod, within } from './meter.ts';

/** There may be 865 others, of which each starts when the one before it ends, but for an early one or two within it. */
const LOOKED_AT = 4;

/** The period that an event belongs to: by its own time, not by when it arrived (decisions 5). */
export function periodFor(context: MeterContext, state: MeterState, eventAt: number): Period {
  if (within(state.current, eventAt)) return state.current;
  const known = lastBy(state.others, eventAt, LOOKED_AT).find((period) => within(period, eventAt));
  if (known !== undefined) return known;
  // No account exists for its period. Before the first grant there was one endless period.
  let [start, end]: [number, number | null] = [0, null];
  for (const period of [...state.others, state.current]) {
    if (period.end !== null && period.end <= eventAt) start = Math.max(start, period.end);
    if (period.start > eventAt) end = Math.min(end ?? Infinity, period.start);
  }
  const payer = context.credits?.payer ?? null;
  const leader = leaderOf(state.grants);
  if (payer !== null && (leader === null || eventAt < leader.effectiveAt)) {
    // Without an allowance of its own its periods are, or were, those of its pool.
    return cut(context, periodFor(payer.context, payer.now(), eventAt), { start, end });
  }
  if (state.firstGrantAt === null || eventAt < state.firstGrantAt) {
    return newPeriod(context, start, end);
  }
  // A period that ended before the earliest time of an event is not in memory: it has accounts of
  // its own.
  start = Math.max(start, context.now - PERIODS_KEPT_MS);
  if (leader === null || leader.recurs === null) return newPeriod(context, start, end);
  return cut(context, calendarPeriod(leader.recurs.cycle, eventAt), { start, end });
}

type Stretch = Pick<Period, 'start' | 'end'>;

/** A period as far as it is free. */
function cut(context: MeterContext, period: Stretch, free: Stretch): Period {
  const end = Math.min(period.end ?? Infinity, free.end ?? Infinity);
  return newPeriod(context, Math.max(period.start, free.start), Number.isFinite(end) ? end : null);
}
