// The calls that the load makes, and how they are sent.
import type { Random } from '../support/random.ts';
import { CAPPED_METER, OPEN_METER, type Tenant } from './tenant.ts';
import { type Answered, call } from './call.ts';

export type Event = {
  readonly key: string;
  readonly customer: string;
  readonly meter: string;
  readonly value: number;
};

/**
 * One call: its answer tells the outcome of all its events; without an answer they are all unknown.
 */
export type Usage = {
  readonly kind: 'track' | 'reject' | 'consume' | 'ingest';
  readonly events: readonly Event[];
};

const INGEST_EVENTS_MAX = 8;

export function randomUsage(random: Random, tenant: Tenant, newKey: () => string): Usage {
  const kind = random.pick(['track', 'track', 'reject', 'consume', 'consume', 'ingest'] as const);
  const event = (meter: string): Event => ({
    key: newKey(),
    customer: random.pick(tenant.customers),
    meter,
    value: random.integer(1, 9),
  });
  if (kind === 'consume' || kind === 'reject') {
    return { kind, events: [event(random.pick([OPEN_METER, CAPPED_METER]))] };
  }
  if (kind === 'track') return { kind, events: [event(OPEN_METER)] };
  const count = random.integer(1, INGEST_EVENTS_MAX);
  return { kind, events: Array.from({ length: count }, () => event(OPEN_METER)) };
}

/** @throws where no answer came */
export async function sendUsage(
  url: string,
  key: string,
  usage: Usage,
  withinMs?: number,
): Promise<Answered> {
  const [first] = usage.events;
  if (usage.kind === 'ingest' || first === undefined) {
    const events = usage.events.map(({ key: external_id, customer, meter, value }) => ({
      name: meter,
      external_id,
      customer_id: customer,
      value,
    }));
    return call({ url, key }, '/events/ingest', { events }, withinMs);
  }
  const body = {
    feature_key: first.meter,
    customer_id: first.customer,
    value: first.value,
    idempotency_key: first.key,
    ...(usage.kind === 'consume' && { consume: true }),
    ...(usage.kind === 'reject' && { overage: 'reject' }),
  };
  return call({ url, key }, usage.kind === 'consume' ? '/check' : '/track', body, withinMs);
}

/** Whether the answer says that each event counts now; null where it says nothing. */
export function counts(usage: Usage, { status, json }: Answered): boolean | null {
  if (usage.kind === 'reject' && status === 402) return false;
  if (status !== 200) return null;
  return usage.kind !== 'consume' || json.allowed === true;
}
