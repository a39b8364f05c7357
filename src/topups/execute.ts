// Executes the follow-ups of many customers in one transaction: payments are inserted.
import { must } from '../../ledger/kernel/assert.ts';
import type { OrgClock } from '../../ledger/ports.ts';
import type { TopUpOrder } from '../../ledger/topups/order.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import type { Processor, Processors } from '../processors/processor.ts';
import { keepMeters } from '../records/meters.ts';
import { findPaymentMethods } from '../records/payment-methods.ts';
import { insertPayments, type NewPayment, newPayment } from '../records/payments.ts';
import { findProductOfPrice } from '../records/products.ts';
import { deleteFollowups } from '../records/subscription-followups.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import {
  giveTopUpsUp,
  lockCustomerFollowups,
  type MethodStored,
  type OwedByCustomer,
} from '../records/topup-followups.ts';

export type ExecuteDeps = { readonly orgClock: OrgClock; readonly processors: Processors };

/** What the actor is told after the commit. The row of it stays until the actor has it. */
export type PendingTold = { readonly customerId: string; readonly followupId: string } & (
  | { readonly kind: 'no_method'; readonly meterId: string; readonly paymentId: string }
  | ({ readonly kind: 'method_stored' } & Pick<MethodStored, 'methodId' | 'begun'>)
);

/** What remains after the commit. */
export type StillOwed = {
  readonly charges: readonly string[];
  readonly told: readonly PendingTold[];
};

export async function executeOwed(
  sql: Transaction,
  { orgClock, processors }: ExecuteDeps,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, StillOwed>> {
  const owed = await lockCustomerFollowups(sql, customerIds);
  if (owed.length === 0) return new Map();
  const methods = await findPaymentMethods(
    sql,
    owed.map(({ scope, customer }) => ({
      ...scope,
      customerId: customer.id,
      subscriptionId: null,
    })),
  );
  // A meter may be deleted at the moment at which a top-up of it is put.
  const kept = await keepMeters(
    sql,
    owed.flatMap(({ followup }) => (followup.kind === 'method_stored' ? [] : [followup.meterId])),
  );
  const payments: { scope: Tenant; payment: NewPayment }[] = [];
  const told: PendingTold[] = [];
  for (const [index, one] of owed.entries()) {
    const { scope, followup, customer } = one;
    const to = { customerId: customer.id, followupId: followup.id };
    if (followup.kind === 'method_stored') {
      const { kind, methodId, begun } = followup;
      told.push({ ...to, kind, methodId, begun });
      continue;
    }
    const method = methods[index] ?? null;
    const processor = method === null ? null : processors.named(scope, method.processor);
    if (followup.isGivenUp === true || processor === null || !kept.has(followup.meterId)) {
      const { meterId, paymentId } = followup;
      told.push({ ...to, kind: 'no_method', meterId, paymentId });
      continue;
    }
    const askAt = orgClock.now(scope) + processor.firstAskMs;
    payments.push({
      scope,
      payment: await paymentOf(sql, { ...one, followup }, { processor, askAt }),
    });
  }
  await insertPayments(sql, payments);
  const givenUp = told.flatMap(({ kind, followupId }) =>
    kind === 'no_method' ? [followupId] : [],
  );
  if (givenUp.length > 0) await giveTopUpsUp(sql, givenUp);
  const left = new Set(told.map(({ followupId }) => followupId));
  const done = owed.map(({ followup }) => followup.id).filter((id) => !left.has(id));
  await deleteFollowups(sql, done);
  return new Map(
    customerIds.map((id) => [
      id,
      {
        charges: payments
          .filter(({ payment }) => payment.customerId === id)
          .map(({ payment }) => payment.id),
        told: told.filter(({ customerId }) => customerId === id),
      },
    ]),
  );
}

/** Its price may have been archived since: it costs what the customer has agreed to. */
async function paymentOf(
  sql: Transaction,
  { scope, customer, followup }: OwedByCustomer & { readonly followup: TopUpOrder },
  { processor, askAt }: { readonly processor: Processor; readonly askAt: number },
): Promise<NewPayment> {
  const { paymentId, priceId, meterId, attempt } = followup;
  const product = must(await findProductOfPrice(sql, scope, priceId), 'the product of a price');
  const price = must(
    product.prices.find(({ id }) => id === priceId),
    'the price of a top-up',
  );
  return newPayment({
    id: paymentId,
    amount: price.amount,
    currency: price.currency,
    transactionType: 'PURCHASE',
    meterId,
    productId: product.id,
    customerId: customer.id,
    customerEmail: customer.email,
    customerName: customer.name,
    externalCustomerId: customer.externalCustomerId,
    metadata: customer.metadata,
    attempt,
    processor: processor.name,
    askAt,
    now: followup.at,
  });
}
