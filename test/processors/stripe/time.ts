// What happens by itself when time passes.
import { DAY_S } from './balance.ts';
import type { Books } from './books.ts';
import { chargeOf, HOLD_S } from './charges.ts';
import { cancel, settleDebit } from './intents.ts';
import { settleRefund } from './refunds.ts';
import { debitSettled, expire } from './sessions.ts';

/** How long the banks take for a debit, and for a refund. */
const SETTLES_AFTER_S = 5 * DAY_S;

export function passTime(books: Books): void {
  const now = books.now();
  for (const session of books.sessions.values()) {
    if (session.status === 'open' && session.expires_at <= now) expire(books, session);
  }
  for (const intent of books.intents.values()) {
    const since = chargeOf(books, intent)?.created ?? now;
    if (intent.status === 'requires_capture' && since + HOLD_S <= now) {
      cancel(books, intent, 'automatic');
    }
  }
  for (const transaction of books.transactions.values()) {
    if (transaction.available_on <= now) transaction.status = 'available';
  }
  settle(books, now - SETTLES_AFTER_S);
}

/** The banks decide on what was asked of them until then. */
export function settle(books: Books, until: number): void {
  for (const intent of books.intents.values()) {
    const charge = chargeOf(books, intent);
    if (intent.status === 'processing' && charge !== null && charge.created <= until) {
      settleDebit(books, intent);
      debitSettled(books, intent);
    }
  }
  for (const refund of books.refunds.values()) {
    if (refund.created <= until) settleRefund(books, refund);
  }
}
