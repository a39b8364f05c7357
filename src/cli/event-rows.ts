// One event in one line, and which events a caller wants.
import type { EventType } from '../client/types.ts';
import { UsageError } from './command.ts';
import { type Printer, shown } from './printer.ts';
import { timeOfDay } from './format.ts';

/** What is read of an event: the service and its releases know more types than this program. */
export type EventEnvelope = {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly objectType?: unknown; readonly objectId?: unknown };
};

export function eventLine(out: Printer, { type, timestamp, data }: EventEnvelope): string {
  const [kind = '', id = ''] = [data.objectType, data.objectId].map((part) =>
    shown(typeof part === 'string' ? part : '-'),
  );
  const time = out.paint('dim', timeOfDay(timestamp));
  return `${time}  ${shown(type).padEnd(28)}  ${kind.padEnd(12)}  ${id}`;
}

/** Whether an event is one of these types; all are, where none is named. */
export function wanted(
  option: string,
  types: readonly string[],
): (event: EventEnvelope) => boolean {
  for (const type of types) {
    if (Object.hasOwn(EVENT_TYPES, type)) continue;
    const all = Object.keys(EVENT_TYPES).join(', ');
    throw new UsageError(`${option}: ${type} is no type of event; there are ${all}`);
  }
  const named = new Set(types);
  return ({ type }) => named.size === 0 || named.has(type);
}

/** All that the document names, or this does not compile. */
const EVENT_TYPES: Readonly<Record<EventType, true>> = {
  'payment.succeeded': true,
  'payment.failed': true,
  'payment.errored': true,
  'payment.refunded': true,
  'payment.refund_failed': true,
  'invoice.created': true,
  'invoice.updated': true,
  'subscription.created': true,
  'subscription.updated': true,
  'subscription.canceled': true,
  'subscription.expired': true,
  'subscription.trial_ended': true,
  'customer.created': true,
  'customer.updated': true,
  'subscription.overdue_changed': true,
  'subscription.blocked': true,
  'tag.created': true,
  'tag.deleted': true,
  'custom_field.created': true,
  'custom_field.deleted': true,
  'organization.config_changed': true,
  'entitlement.granted': true,
  'entitlement.exhausted': true,
  'usage.recorded': true,
  'customer.spend_cap_reached': true,
  'alert.triggered': true,
  'alert.recovered': true,
  'payment.disputed': true,
  'auto_topup.succeeded': true,
  'auto_topup.failed': true,
};
