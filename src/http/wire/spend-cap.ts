// The spend cap of a customer.
import { type Static, Type } from '@sinclair/typebox';
import type { ShownSpendCap } from '../../../ledger/ledger.ts';
import type { Issue } from '../edge/errors.ts';
import { Amount, Currency, moneyOf, Spent } from './money.ts';
import { Body, ExternalCustomerId, Nullable, Uuid } from './values.ts';

export const SpendCapPut = Body(
  {
    amount: Type.String({
      ...Amount,
      description: `${Amount.description} With 0 nothing beyond what is included may be used.`,
    }),
    currency: Currency,
  },
  { amount: '50.00', currency: 'USD' },
);

export const SpendCap = Type.Object({
  customer_id: Uuid,
  external_customer_id: Nullable(ExternalCustomerId),
  amount: Amount,
  currency: Currency,
  spent: Type.String({
    ...Spent,
    description:
      "The cost of the unbilled usage of the customer's subscriptions in this currency, each " +
      'in its current period: exact, before rounding and minimums. It may exceed the cap: ' +
      '/track records usage unless its `overage` is `reject`.',
  }),
  remaining: Type.String({ ...Spent, description: 'What is left of the cap; never below 0.' }),
});

/** The cap in the smallest coin, or what is wrong with it. */
export function toSpendCap(
  body: Static<typeof SpendCapPut>,
): { readonly amount: bigint; readonly currency: string } | Issue {
  const currency = body.currency.toUpperCase();
  const amount = moneyOf(body.amount, currency, ['amount']);
  return typeof amount === 'bigint' ? { amount, currency } : amount;
}

export function fromSpendCap(
  cap: ShownSpendCap,
  customer: { readonly id: string; readonly externalId: string | null },
): Static<typeof SpendCap> {
  return { customer_id: customer.id, external_customer_id: customer.externalId, ...cap };
}
