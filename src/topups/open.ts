// Executes what automatic top-ups order: payments and their charges.
//
//     flush ─▶ payment (one transaction) ─▶ processor ─▶ payment ─▶ customer: the grant, in one flush
//
// Holds: a payment, with an alarm, is on disk before the processor is asked. The transaction that
// executes a follow-up deletes its row; a sweep finds what a crash left behind. A step may be
// repeated: ids are derived from causes.
// Does not: decide when to charge, or what an answer means: ledger/topups does.
import type { Ledger } from '../../ledger/ledger.ts';
import type { OrgClock, Log, Timers } from '../../ledger/ports.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { OutboxTasks } from '../platform/background/outbox-tasks.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import type { Processors } from '../processors/processor.ts';
import { postpone } from '../records/followups.ts';
import { deleteFollowups } from '../records/subscription-followups.ts';
import { listCustomersOwing } from '../records/topup-followups.ts';
import { executeOwed, type PendingTold, type StillOwed } from './execute.ts';
import { settleTopUp } from './settling.ts';
import type { TopUps } from './topups.ts';

const CONCURRENT_MAX = 2;
/** Customers that are charged in the background at the same time; the sweep finds the others. */
const CHARGING_MAX = 500;

const isStored = ({ kind }: PendingTold): boolean => kind === 'method_stored';

export type TopUpsDeps = {
  readonly sql: Sql;
  readonly orgClock: OrgClock & { readonly stopped: ReadonlySet<string> };
  readonly timers: Timers;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly processors: Processors;
  /** Charges the saved payment method for a payment on disk. */
  readonly collect: (paymentId: string) => Promise<void>;
};

export function openTopUps(deps: TopUpsDeps): TopUps {
  const { sql, ledger, orgClock, timers, log, collect } = deps;
  const charging = new Set<Promise<void>>();
  const owed = new OutboxTasks<string, Tenant, StillOwed>({
    what: 'an automatic top-up',
    timers,
    log,
    concurrentMax: CONCURRENT_MAX,
    work: (ids) => sql.begin((transaction) => executeOwed(transaction, deps, ids)),
    list: (which) => listCustomersOwing(sql, which),
    idOf: (id) => id,
    carryOut: carryOutOf,
    postpone: (customerId, why) => postpone(sql, { customerId }, why),
  });

  async function carryOutOf(customerId: string): Promise<void> {
    const { charges = [], told = [] } = (await owed.do(customerId)) ?? {};
    const [stored, others] = [told.filter(isStored), told.filter((one) => !isStored(one))];
    // First: a charge that takes a stored method has its declines counted anew.
    for (const one of stored) await tell(one);
    for (const paymentId of charges) await collect(paymentId);
    for (const one of others) await tell(one);
  }

  async function tell(one: PendingTold): Promise<void> {
    const { customerId } = one;
    if (one.kind === 'no_method') {
      const { meterId, paymentId } = one;
      const answer = {
        kind: 'refused',
        paymentId,
        why: 'no_payment_method',
        passes: false,
      } as const;
      await ledger.topUps.change(customerId, meterId, { kind: 'settle', answer });
    } else {
      const { methodId, begun: all } = one;
      for (const { meter } of await ledger.topUps.of(customerId)) {
        const begun = all[meter.id] ?? 0;
        await ledger.topUps.change(customerId, meter.id, { kind: 'arm', methodId, begun });
      }
    }
    await deleteFollowups(sql, [one.followupId]);
  }

  owed.start();
  return {
    ordered(orders) {
      for (const { customer } of orders) {
        // Who moves a test clock makes the charges itself, and waits for them.
        const isHeld = customer.mode === 'test' && orgClock.stopped.has(customer.organisationId);
        if (isHeld || charging.size >= CHARGING_MAX) continue;
        const done: Promise<void> = carryOutOf(customer.id)
          .catch((error: unknown) => owed.failed(customer.id, error))
          .finally(() => charging.delete(done));
        charging.add(done);
      }
    },
    paymentSettled: (_scope, paymentId) => settleTopUp(ledger, paymentId),
    carryOutOf,
    carryOut: (scope) => owed.carryOutAll(scope),
    async close() {
      await owed.close();
      await Promise.all(charging);
    },
  };
}
