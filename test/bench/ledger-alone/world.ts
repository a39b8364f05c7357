// The ledger of one node with its customers in memory, as the service opens it.
import { HybridClock } from '../../../ledger/kernel/hybrid-clock.ts';
import { slotOf } from '../../../ledger/kernel/slot.ts';
import { type Found, Ledger } from '../../../ledger/ledger.ts';
import type { Grant } from '../../../ledger/metering/grants.ts';
import type { Meter } from '../../../ledger/metering/meter.ts';
import type { UsageRequest } from '../../../ledger/outcome.ts';
import { renderCheck } from '../../../src/http/wire/metering.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { instantStorage } from './instant-storage.ts';

/** No heartbeat during a measurement. */
const LEASE_MS = 600_000;

export type World = {
  readonly ledger: Ledger;
  readonly tenant: { readonly organisationId: string; readonly mode: 'live' };
  readonly meter: Meter;
  readonly found: readonly Found[];
};

/**
 * Each customer has a monthly allowance of one meter; by a `pool`, of credits that pay for it, and
 * has used some.
 */
export async function openWorld(customerCount: number, pays: 'own' | 'pool'): Promise<World> {
  const tenant = { organisationId: ids.next(), mode: 'live' } as const;
  const customers = Array.from({ length: customerCount }, (_, index) => {
    const id = ids.next();
    return { id, slot: slotOf(id), ...tenant, externalId: `customer-${index}`, email: null };
  });
  const terms = { aggregation: 'sum', scale: 0, carry: false } as const;
  const meter = { id: ids.next(), ...tenant, slug: 'calls', ...terms } as const;
  const credits = { ...meter, id: ids.next(), slug: 'credits', scale: 3 };
  const members = new Map([[meter.id, { meter, rate: 2n }]]);
  const pool = { meter: credits, costs: [{ since: 0, members }] };
  const hybrid = new HybridClock(clock, () => undefined);
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const ledger = new Ledger({
    storage: instantStorage(customers, LEASE_MS),
    ids,
    clock,
    orgClock: {
      now: () => hybrid.now(),
      wall: () => hybrid.now(),
      observe: () => undefined,
      stopped: new Set(),
      catchUp: () => Promise.resolve(),
    },
    timers,
    log: silent,
    peers: null,
    address: null,
    leaseMs: LEASE_MS,
    bounds: { meters: 100, grantsPerMeter: 100, grants: Infinity, subscriptions: 100 },
    cacheBounds: { actors: 100_000, bytes: Infinity },
    render: renderCheck,
    wants: () => false,
    alertsOf: () => [],
    poolOf: () => (pays === 'pool' ? pool : null),
    onFlush: () => undefined,
    onTopUpsOrdered: () => undefined,
    onTold: () => undefined,
    onPaymentDue: () => Promise.resolve(),
    onSubscriptionDue: () => Promise.resolve(),
  });
  await ledger.open();
  const found: Found[] = [];
  for (const { id } of customers) {
    const customer = await ledger.find(tenant, { id });
    if (customer === null) throw new Error('a customer of the storage is found');
    await ledger.grant(customer, pays === 'pool' ? credits : meter, allowance());
    if (pays === 'pool') await ledger.record(customer, meter, UNKEYED);
    found.push(customer);
  }
  return { ledger, tenant, meter, found };
}

export const UNKEYED: UsageRequest = {
  value: 1n,
  member: null,
  eventAt: null,
  admission: 'record',
  metadata: null,
  keyId: null,
  formerKeyId: null,
  idempotencyKey: null,
  externalId: null,
  exactReplay: false,
  fingerprint: null,
};

function allowance(): Grant {
  const now = clock.now();
  return {
    id: ids.next(),
    source: 'manual',
    amount: 10n ** 12n,
    used: 0n,
    spent: 0n,
    grown: 0n,
    cut: [],
    rests: [],
    startedAt: null,
    endedIn: 0,
    cap: null,
    effectiveAt: now,
    expiresAt: null,
    priority: 0,
    createdAt: now,
    overageAllowed: false,
    price: null,
    charges: false,
    recurs: { cycle: { anchor: now, interval: 'month', count: 1, zone: 'UTC' }, rollover: null },
    renewsAt: null,
    started: false,
    suspended: null,
    boolean: false,
    productId: null,
    subscriptionId: null,
    reason: null,
    ended: null,
  };
}
