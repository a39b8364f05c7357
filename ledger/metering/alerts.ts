import { ALERTS_FIRED_MAX } from '../limits.ts';
import { type Alert, isPast, levelOf } from './alert.ts';
import type { Level } from './untold.ts';
import type { FiredAlert, MeterState } from './meter.ts';

/**
 * Alerts fire and are taken back, as part of a decision on the meter (beyond.md 5).
 *
 *     armed ──usage reaches the threshold──▶ fired ──a grant or a new period leads back──▶ armed
 *
 * What holds: one fires once until it is taken back, however often it is looked at. A correction
 * does neither. Late usage of another period fires what it leads to in the one that runs.
 * What it does not do: know which alerts there are (`MeterContext.alerts`).
 */

/** The alerts that concern a customer's meter, and who hears of them. */
export type Alerts = {
  /** In the order in which they are told. */
  readonly all: readonly Alert[];
  readonly hears: (type: 'alert.triggered' | 'alert.recovered') => boolean;
  /** false: this decision takes back, but what it reaches is told of by a later one. */
  readonly mayFire: boolean;
};

/** What is told of an alert. */
export type Telling = {
  readonly alert: Alert;
  readonly at: number;
  readonly level: Level | null;
  readonly more: Readonly<Record<string, unknown>>;
};

/** Of a `MeterDraft`. */
type Draft = {
  readonly state: MeterState;
  readonly context: { readonly now: number; readonly alerts: Alerts | null };
  change(fields: Partial<Pick<MeterState, 'fired' | 'untold'>>): void;
  /** Returns the id of the event. */
  announceAlert(type: 'alert.triggered' | 'alert.recovered', telling: Telling): string;
};

/**
 * Fires what is past and has not fired. `before`: the state before the usage. What was past then,
 * too, was not reached by it: the alert is newer than that, or something else led there.
 */
export function fireAlerts(draft: Draft, before: MeterState): void {
  const { alerts, now } = draft.context;
  if (alerts === null) return;
  const level = levelOf(draft.state);
  if (level === null) return;
  const { fired, untold } = draft.state;
  const due = alerts.all.filter(
    (alert) => isPast(alert, level) && !fired.some(({ id }) => id === alert.id),
  );
  if (due.length === 0) return;
  const levelBefore = untold === null ? levelOf(before) : untold.before;
  if (!alerts.mayFire) {
    if (untold === null) draft.change({ untold: { at: now, before: levelBefore } });
    return;
  }
  const isHeard = alerts.hears('alert.triggered');
  const firing = due.map((alert): FiredAlert => {
    const initial = isPast(alert, levelBefore);
    const eventId = isHeard
      ? draft.announceAlert('alert.triggered', { alert, at: now, level, more: { initial } })
      : null;
    return { id: alert.id, eventId };
  });
  // Ids of deleted alerts stay until a grant or a new period, or until they are many.
  const kept = fired.length + firing.length > ALERTS_FIRED_MAX ? known(fired, alerts) : fired;
  draft.change({ fired: [...kept, ...firing], untold: null });
}

/** Takes back what has fired and is not past any more, after a grant or in a new period. */
export function recoverAlerts(draft: Draft, at: number): void {
  const { fired } = draft.state;
  if (fired.length === 0) return;
  const { alerts } = draft.context;
  const level = levelOf(draft.state);
  const kept = fired.filter(({ id }) => {
    const alert = alerts?.all.find((one) => one.id === id);
    // It was deleted.
    if (alert === undefined) return false;
    if (isPast(alert, level)) return true;
    if (alerts?.hears('alert.recovered') === true) {
      draft.announceAlert('alert.recovered', { alert, at, level, more: {} });
    }
    return false;
  });
  if (kept.length < fired.length) draft.change({ fired: kept });
}

function known(fired: readonly FiredAlert[], { all }: Alerts): readonly FiredAlert[] {
  return fired.filter(({ id }) => all.some((alert) => alert.id === id));
}
