import { type Recorded, usageEvent } from '../metering/usage-event.ts';
import type { OwnershipSession } from './ownership-session.ts';
import type { UsageItem } from './stored-usage.ts';
import type { Memory } from './unit.ts';

/** Usage that one decision recorded on one meter of a customer. */
type RecordedUsage = Pick<UsageItem, 'actor' | 'meter'> & { readonly recorded: Recorded[] };

/** Adds `usage.recorded` to the unit of the usage: both are written by one flush, or neither. */
export function publishUsage(
  { contexts }: OwnershipSession,
  memory: Memory,
  { actor, meter, recorded }: RecordedUsage,
): void {
  const event = usageEvent(
    contexts.ofMeter(actor, meter),
    contexts.stateOf(actor, meter),
    recorded,
  );
  memory.apply(actor, event);
}

/** An item, and the record of it. */
export type Reported = { readonly item: UsageItem; readonly record: Recorded['record'] };

/** One event for each customer and meter. */
export function publishBatch(
  session: OwnershipSession,
  memory: Memory,
  reported: readonly Reported[],
): void {
  const usages = new Map<string, RecordedUsage>();
  for (const { item, record } of reported) {
    const { actor, meter, request } = item;
    const key = `${actor.id} ${meter.id}`;
    const usage = usages.get(key) ?? { actor, meter, recorded: [] };
    usage.recorded.push({ request, record });
    usages.set(key, usage);
  }
  for (const usage of usages.values()) publishUsage(session, memory, usage);
}
