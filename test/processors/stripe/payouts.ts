// Payouts: what of the balance goes to the merchant's bank.
import { type Books, found, newId } from './books.ts';
import { DAY_S, move } from './balance.ts';
import type { Payout, Transaction } from './types.ts';

/** Pays out all that no payout has taken, each currency by itself. A currency in debt waits. */
export function payOut(books: Books): string[] {
  const left = [...books.transactions.values()].filter(({ id }) => !books.paidOut.has(id));
  const currencies = new Set(left.map(({ currency }) => currency));
  return [...currencies].flatMap((currency) => {
    const taken = left.filter((one) => one.currency === currency);
    const amount = taken.reduce((sum, { net }) => sum + net, 0);
    return amount > 0 ? [pay(books, currency, amount, taken)] : [];
  });
}

function pay(
  books: Books,
  currency: string,
  amount: number,
  taken: readonly Transaction[],
): string {
  const id = newId('po');
  const transaction = move(books, {
    type: 'payout',
    category: 'payout',
    amount: -amount,
    currency,
    source: id,
    description: 'STRIPE PAYOUT',
  });
  const payout: Payout = {
    id,
    object: 'payout',
    amount,
    application_fee: null,
    application_fee_amount: null,
    arrival_date: books.now() + DAY_S,
    automatic: true,
    balance_transaction: transaction.id,
    created: books.now(),
    currency,
    description: 'STRIPE PAYOUT',
    destination: newId('ba'),
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    livemode: books.livemode,
    metadata: {},
    method: 'standard',
    original_payout: null,
    payout_method: null,
    reconciliation_status: 'completed',
    reversed_by: null,
    source_type: 'card',
    statement_descriptor: null,
    status: 'paid',
    trace_id: { status: 'pending', value: null },
    type: 'bank_account',
  };
  books.payouts.set(id, payout);
  for (const one of [...taken, transaction]) {
    one.status = 'available';
    books.paidOut.set(one.id, id);
  }
  books.emit('payout.created', payout);
  books.emit('payout.paid', payout);
  return id;
}

/** Its money comes back into the balance, for a later one to take. */
export function failPayout(books: Books, id: string): void {
  const payout = found(books.payouts, id, 'payout');
  if (payout.status === 'failed') return;
  payout.status = 'failed';
  payout.failure_code = 'account_closed';
  payout.failure_message = 'The bank account has been closed.';
  payout.failure_balance_transaction = move(books, {
    type: 'payout_failure',
    category: 'payout_reversal',
    amount: payout.amount,
    currency: payout.currency,
    source: id,
    description: 'STRIPE PAYOUT FAILURE',
  }).id;
  books.emit('payout.failed', payout);
}
