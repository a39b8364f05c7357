// How often a limit was used: captures in the calendar's day, week and month of a zone. Weeks begin
// on Monday.
export const LIMIT_INTERVALS = ['day', 'week', 'month'] as const;
export type LimitInterval = (typeof LIMIT_INTERVALS)[number];

export type Limit = { readonly count: number; readonly interval: LimitInterval };

/** Captures in each of the windows that the last one was in. */
export type Captured = { readonly at: number } & Readonly<Record<LimitInterval, number>>;

/** The window that `at` is in: its start, and the start of the next one. */
export function windowAt(
  interval: LimitInterval,
  zone: string,
  at: number,
): { readonly start: number; readonly end: number } {
  const day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
  const first =
    interval === 'month'
      ? day.with({ day: 1 })
      : day.subtract({ days: interval === 'week' ? day.dayOfWeek - 1 : 0 });
  const next = first.add({ [`${interval}s`]: 1 });
  const startOf = (date: Temporal.PlainDate): number =>
    date.toZonedDateTime(zone).epochMilliseconds;
  return { start: startOf(first), end: startOf(next) };
}

/** One more, at `at`. */
export function withCapture(
  captured: Captured | null,
  { at: now, zone }: { readonly at: number; readonly zone: string },
): Captured {
  // A clock that stepped back counts on in the window of before.
  const at = Math.max(now, captured?.at ?? now);
  const counted = (interval: LimitInterval): number =>
    capturesAt(captured, interval, { at, zone }) + 1;
  return { at, day: counted('day'), week: counted('week'), month: counted('month') };
}

/** How many there were in the window that `at` is in. */
export function capturesAt(
  captured: Captured | null,
  interval: LimitInterval,
  { at, zone }: { readonly at: number; readonly zone: string },
): number {
  if (captured === null) return 0;
  const { start } = windowAt(interval, zone, Math.max(at, captured.at));
  return captured.at >= start ? captured[interval] : 0;
}
