// The money in Stripe's balance: each movement of it with its fee.
import type Stripe from 'stripe';
import { type Books, newId } from './books.ts';
import type { Known, Transaction } from './types.ts';

export const DAY_S = 24 * 60 * 60;
/** How long a movement is pending. */
const AVAILABLE_AFTER_S = 2 * DAY_S;
export const DISPUTE_FEE = 1500;

type Movement = {
  readonly type: Known<Stripe.BalanceTransaction.Type>;
  readonly category: string;
  /** In the currency of the charge, with its sign. */
  readonly amount: number;
  readonly currency: string;
  /** In the currency of the balance. */
  readonly fee?: number;
  readonly source: string;
  readonly description?: string;
};

/** What is left of it once Stripe has converted it to the currency of the balance. */
function settled(books: Books, { amount, currency }: Pick<Movement, 'amount' | 'currency'>) {
  const { settlement } = books;
  if (settlement === null || settlement.currency === currency) {
    return { amount, currency, exchange_rate: null };
  }
  return {
    amount: Math.round(amount * settlement.rate),
    currency: settlement.currency,
    exchange_rate: settlement.rate,
  };
}

export function move(books: Books, movement: Movement): Transaction {
  const { amount, currency, exchange_rate } = settled(books, movement);
  const fee = movement.fee ?? 0;
  const transaction: Transaction = {
    id: newId('txn'),
    object: 'balance_transaction',
    amount,
    available_on: books.now() + AVAILABLE_AFTER_S,
    balance_type: 'payments',
    created: books.now(),
    currency,
    description: movement.description ?? null,
    exchange_rate,
    fee,
    fee_details:
      fee === 0
        ? []
        : [
            {
              amount: fee,
              application: null,
              currency,
              description: 'Stripe processing fees',
              type: 'stripe_fee',
            },
          ],
    net: amount - fee,
    reporting_category: movement.category,
    source: movement.source,
    status: 'pending',
    type: movement.type,
  };
  books.transactions.set(transaction.id, transaction);
  return transaction;
}

/** 2.9 % and 30 of a card's charge, 35 of a debit's; in the currency of the balance. */
export function chargeFee(books: Books, amount: number, currency: string, isCard: boolean): number {
  const base = settled(books, { amount, currency }).amount;
  return isCard ? Math.min(base, Math.round(base * 0.029) + 30) : Math.min(base, 35);
}

export function balanceOf(books: Books): Stripe.Balance {
  const sums = (status: string): Stripe.Balance.Available[] => {
    const of = new Map<string, number>([[books.account.default_currency ?? 'usd', 0]]);
    for (const one of books.transactions.values()) {
      if (one.status === status) of.set(one.currency, (of.get(one.currency) ?? 0) + one.net);
    }
    return [...of].map(([currency, amount]) => ({ amount, currency }));
  };
  return {
    object: 'balance',
    available: sums('available'),
    livemode: books.livemode,
    pending: sums('pending'),
  };
}
