// Compares our books with those of an account at the fake of Stripe.
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import type { AccountBooks } from '../processors/stripe/fake.ts';

type Ours = {
  readonly id: string;
  readonly status: string;
  readonly captured: bigint;
  readonly refunded: bigint;
};

/**
 * What differs, one line each: a payment that we say is captured is one charge there, of this amount
 * and with these refunds; no other payment has one, and none waits to be captured. In dollars.
 */
export async function wrongAtStripe(
  sql: Sql,
  organisationId: string,
  books: AccountBooks,
): Promise<string[]> {
  const ours = await sql<Ours[]>`
    select p.id, p.status, coalesce(b.credits_posted, 0) as captured, coalesce(b.debits_posted, 0) as refunded
    from payments p left join balances b on b.slot = p.slot and b.id = p.id
    where p.organisation_id = ${organisationId} and p.amount > 0`;
  const wrong = ours.flatMap((payment) => differencesOf(payment, books));
  const known = new Set(ours.map(({ id }) => id));
  for (const { id, metadata, status } of books.intents) {
    if (status === 'succeeded' && !known.has(metadata['key'] ?? ''))
      wrong.push(`${id} is nobody's`);
  }
  const there = sum(books.balanceTransactions.map(({ amount }) => BigInt(amount)));
  const here = sum(ours.map(({ captured, refunded }) => captured - refunded));
  if (there !== here) wrong.push(`Stripe's balance moved by ${there}, and ours by ${here}`);
  return wrong;
}

function differencesOf({ id, status, captured, refunded }: Ours, books: AccountBooks): string[] {
  const own = books.intents.filter(({ metadata }) => metadata['key'] === id);
  const paid = own.filter((intent) => intent.status === 'succeeded');
  const waiting = own.filter((intent) => intent.status === 'requires_capture');
  const intents = new Set<unknown>(own.map((intent) => intent.id));
  const refunds = books.refunds.filter(
    ({ payment_intent: of, status: is }) => intents.has(of) && is === 'succeeded',
  );
  const there = {
    charges: paid.length,
    captured: sum(paid.map(({ amount_received: amount }) => BigInt(amount))),
    refunded: sum(refunds.map(({ amount }) => BigInt(amount))),
    waiting: waiting.length,
  };
  const here = { charges: captured > 0n ? 1 : 0, captured, refunded, waiting: 0 };
  const isSame = Object.entries(here).every(
    ([name, value]) => there[name as keyof typeof there] === value,
  );
  return isSame
    ? []
    : [`payment ${id} is ${status}: ${shown(here)} here, ${shown(there)} at Stripe`];
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n);

const shown = (counts: object): string =>
  Object.entries(counts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
