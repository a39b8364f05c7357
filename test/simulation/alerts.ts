// The alerts that every meter of most simulations has, and what must be true of what was told of
// them.
import type { LedgerEvent } from '../../ledger/event.ts';
import { type Alert, alertOrder } from '../../ledger/metering/alert.ts';
import type { Database } from './database.ts';

export const SIMULATED_ALERTS: readonly Alert[] = (
  [
    { id: 'usage 5', type: 'usage', threshold: 5n },
    { id: 'usage 40', type: 'usage', threshold: 40n },
    { id: 'usage_percentage 80', type: 'usage_percentage', threshold: 800_000n },
    { id: 'remaining 20', type: 'remaining', threshold: 20n },
    { id: 'remaining_percentage 5', type: 'remaining_percentage', threshold: 50_000n },
  ] satisfies Alert[]
).toSorted(alertOrder);

/**
 * Whatever died in between: an alert fires, is taken back, fires again; and what a meter says to
 * have fired is what was told last.
 */
export function alertProblems(db: Database): string[] {
  const problems: string[] = [];
  const isOn = new Map<string, LedgerEvent>();
  const told = db.events
    .values()
    .filter(({ type }) => type === 'alert.triggered' || type === 'alert.recovered')
    .sort((a, b) => Number(a.sequence - b.sequence));
  for (const event of told) {
    const { type, accountId, data } = event;
    const key = `${accountId} ${String(data['meterId'])} ${String(data['alertId'])}`;
    if (isOn.has(key) === (type === 'alert.triggered')) problems.push(`${type} twice: ${key}`);
    if (type === 'alert.triggered') isOn.set(key, event);
    else isOn.delete(key);
  }
  const fired = db.states.values().flatMap((state) =>
    state.fired.map(({ id, eventId }) => ({
      key: `${state.customer.id} ${state.meterId} ${id}`,
      eventId,
    })),
  );
  for (const { key, eventId } of fired) {
    if (isOn.get(key)?.id !== eventId) problems.push(`not told as fired: ${key}`);
  }
  if (fired.length !== isOn.size)
    problems.push(`${isOn.size} were told, ${fired.length} have fired`);
  return problems;
}
