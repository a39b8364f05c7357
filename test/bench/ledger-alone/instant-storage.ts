// A storage that keeps nothing and answers at once: what is left is the ledger's own cost.
import { NO_BILLING } from '../../../ledger/subscriptions/subscription.ts';
import { NO_ALERTS } from '../../../ledger/metering/alert.ts';
import { SLOTS } from '../../../ledger/limits.ts';
import type { Customer } from '../../../ledger/metering/meter.ts';
import type { Storage } from '../../../ledger/storage.ts';

/** A database with these customers, who have nothing yet. Every flush is committed. */
export function instantStorage(customers: readonly Customer[], leaseMs: number): Storage {
  const byId = new Map(customers.map((customer) => [customer.id, customer]));
  const fence = { node: 1, epoch: 1n, seq: 0n };
  const seat = { node: 1, epoch: 1n, address: null, alive: true, leaving: false, halted: false };
  const found = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const none = () => Promise.resolve([]);
  return {
    flush: () => Promise.resolve({ kind: 'committed' }),
    recover: () => Promise.resolve('fenced'),
    claim: () => Promise.resolve(fence),
    survey: () =>
      Promise.resolve({
        nodes: [{ ...seat, leaseMs }],
        owners: Array.from({ length: SLOTS }, () => 1),
      }),
    takeOver: () => Promise.resolve(false),
    leave: () => Promise.resolve(),
    release: () => Promise.resolve(),
    mayPass: () => false,
    loadCustomers: (ids) =>
      Promise.resolve(
        found(ids).map((customer) => ({
          customer,
          meters: [],
          billing: NO_BILLING,
          alerts: NO_ALERTS,
        })),
      ),
    identifyCustomers: (ids) => Promise.resolve(found(ids)),
    resolveCustomers: none,
    loadHistory: () => Promise.resolve({ periods: [], marks: [], ended: [] }),
    loadMembers: none,
    loadAlerts: () => Promise.resolve(NO_ALERTS),
    usedIds: none,
    findUsage: none,
    findFormerUsage: none,
    findReservation: () => Promise.resolve(null),
    grantExists: () => Promise.resolve(false),
    subscriptionExists: () => Promise.resolve(false),
    findSubscription: () => Promise.resolve(null),
    findChargeable: () => Promise.resolve(null),
    findBack: () => Promise.resolve(null),
    loadPayments: none,
    findRefund: () => Promise.resolve(null),
    dueAlarms: none,
    nextAlarms: ({ until }) => Promise.resolve({ alarms: [], at: until }),
  };
}
