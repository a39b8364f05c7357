// A customer's credit, entry by entry.
//
// How it works: a subscription keeps what it has as a number, and each change of that number has an
// invoice: a line of type `credit` gives or uses some, and what makes the invoice void, or takes
// its change back, returns what it used. So the entries follow from the invoices, and from
// the followups that the flush of the same change wrote.
// Holds: the entries of a currency add up to its balance. What no invoice explains, as credit from
// releases in which a change had none, is one entry at the beginning.
import type { Ids } from '../../ledger/ports.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  type CreditInvoice,
  eachCreditInvoices,
  type KeptCredit,
  listKeptCredit,
} from '../records/credit.ts';

export const CREDIT_REASONS = ['change', 'adjustment', 'void', 'applied'] as const;

export type CreditEntry = {
  readonly id: string;
  /** Signed, in the smallest coin. */
  readonly amount: bigint;
  readonly reason: (typeof CREDIT_REASONS)[number];
  readonly invoiceId: string | null;
  readonly note: string | null;
  readonly at: Date;
};

export type CreditOfCurrency = {
  readonly currency: string;
  readonly balance: bigint;
  /** Newest first, those that were asked for. */
  readonly entries: readonly CreditEntry[];
  /** Whether there are entries behind them. */
  readonly hasMore: boolean;
};

type Place = Pick<CreditEntry, 'at' | 'id'>;

export type CreditAsked = {
  /** Entries of a currency. */
  readonly most: number;
  /** Those behind it; null for the newest. */
  readonly behind: Place | null;
};

/**
 * By currency; those in which there has never been any are left out. All invoices are read, some at
 * a time, and no more entries are kept than were asked for.
 */
export async function readCredit(
  sql: Sql,
  ids: Ids,
  { customerId, ...asked }: CreditAsked & { readonly customerId: string },
): Promise<CreditOfCurrency[]> {
  return sql.begin('isolation level repeatable read read only', async (snapshot) => {
    const kept = await listKeptCredit(snapshot, customerId);
    const books = new Map(kept.map((one) => [one.currency, { ...one, book: new Book(asked) }]));
    await eachCreditInvoices(snapshot, customerId, (invoices) => {
      for (const invoice of invoices) {
        const book = books.get(invoice.currency)?.book;
        for (const entry of entriesOf(ids, invoice)) book?.add(entry);
      }
    });
    return [...books.values()]
      .map((one) => creditOf(ids, { customerId, ...one }))
      .filter(({ balance, isUsed }) => balance !== 0n || isUsed);
  });
}

function creditOf(
  ids: Pick<Ids, 'derive'>,
  one: KeptCredit & { readonly customerId: string; readonly book: Book },
): CreditOfCurrency & { readonly isUsed: boolean } {
  const { customerId, currency, balance, since, book } = one;
  const rest = balance - book.sum;
  const opening: CreditEntry = {
    id: ids.derive('credit', customerId, currency),
    amount: rest,
    reason: 'adjustment',
    invoiceId: null,
    note: 'Brought forward',
    at: since,
  };
  if (rest !== 0n) book.add(opening);
  return { currency, balance, isUsed: book.isUsed, ...book.page() };
}

/** The entries of a currency, of which it keeps those that were asked for. */
class Book {
  readonly #asked: CreditAsked;
  /** Twice as many at most, and then the newest of them. */
  #kept: CreditEntry[] = [];
  sum = 0n;
  isUsed = false;

  constructor(asked: CreditAsked) {
    this.#asked = asked;
  }

  add(entry: CreditEntry): void {
    const { most, behind } = this.#asked;
    this.sum += entry.amount;
    this.isUsed = true;
    if (behind !== null && newestFirst(behind, entry) >= 0) return;
    this.#kept.push(entry);
    if (this.#kept.length > 2 * most) this.#cut();
  }

  page(): Pick<CreditOfCurrency, 'entries' | 'hasMore'> {
    const { most } = this.#asked;
    this.#cut();
    return { entries: this.#kept.slice(0, most), hasMore: this.#kept.length > most };
  }

  /** One more than was asked for says that there are more. */
  #cut(): void {
    this.#kept = this.#kept.toSorted(newestFirst).slice(0, this.#asked.most + 1);
  }
}

function newestFirst(a: Place, b: Place): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

function entriesOf(ids: Pick<Ids, 'derive'>, invoice: CreditInvoice): CreditEntry[] {
  const { id: invoiceId, amount, reason, createdAt: at } = invoice;
  const entry = { id: ids.derive('credit', invoiceId), amount, invoiceId, note: null, at };
  if (amount > 0n) {
    return [{ ...entry, reason: reason === 'subscription_update' ? 'change' : 'adjustment' }];
  }
  const applied = { ...entry, reason: 'applied' } as const;
  const returnedAt = returnOf(invoice);
  if (returnedAt === null) return [applied];
  const id = ids.derive('credit', invoiceId, 'void');
  return [applied, { ...applied, id, amount: -amount, reason: 'void', at: returnedAt }];
}

/** When the credit that it used was returned; null where it was not. */
function returnOf({ status, waits, undoneAt, forgoneAt, updatedAt }: CreditInvoice): Date | null {
  if (undoneAt !== null) return undoneAt;
  if (waits === 'forgone') return updatedAt;
  // A void that its subscription has not heard of has returned nothing yet.
  return status === 'void' && waits === null ? updatedAt : forgoneAt;
}
