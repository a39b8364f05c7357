// What the processor of a test server was asked to do, whatever our records say: the sandbox's
// tables, or the books of the fake of Stripe. Amounts in the smallest coin of dollars.
import { must } from '../../ledger/kernel/assert.ts';
import { clock, timers } from '../../src/platform/clock.ts';
import { openSandbox } from '../../src/processors/sandbox.ts';
import type { TestServer } from './server.ts';

type Side = Pick<TestServer, 'sql' | 'stripe'>;

/** What was charged for each of these payments that was charged at all, or is about to be. */
export async function chargedFor(
  { sql, stripe }: Side,
  paymentIds: readonly string[],
): Promise<{ readonly id: string; readonly amount: bigint }[]> {
  if (stripe === null) {
    return sql<{ id: string; amount: bigint }[]>`
      select key as id, amount from sandbox_charges where key = any(${paymentIds}::text[])
        and 'succeeded' in (status, next_status)`;
  }
  return [...stripe.accounts.values()]
    .flatMap((account) => stripe.fake.books(account.id, 'test').intents)
    .filter(
      ({ status, metadata }) => CHARGED.has(status) && paymentIds.includes(metadata['key'] ?? ''),
    )
    .map(({ metadata, amount }) => ({
      id: metadata['key'] ?? '',
      amount: BigInt(amount),
    }));
}

/** Of an intent. */
const CHARGED: ReadonlySet<string> = new Set(['succeeded', 'processing']);

/** Each refund of a payment that was not declined. */
export async function refundedOf({ sql, stripe }: Side, paymentId: string): Promise<bigint[]> {
  if (stripe === null) {
    const rows = await sql<{ amount: bigint }[]>`
      select amount from sandbox_refunds where charge_key = ${paymentId} and status <> 'declined'`;
    return rows.map(({ amount }) => amount);
  }
  const all = [...stripe.accounts.values()].map((account) => stripe.fake.books(account.id, 'test'));
  const intents = new Set<unknown>(
    all.flatMap(({ intents: made }) =>
      made.filter(({ metadata }) => metadata['key'] === paymentId).map(({ id }) => id),
    ),
  );
  return all
    .flatMap(({ refunds }) => refunds)
    .filter(({ payment_intent: of, status }) => intents.has(of) && status !== 'failed')
    .map(({ amount }) => BigInt(amount));
}

/** The bank of the customer withdraws what was saved last. */
export async function withdrawMandate({ sql, stripe }: Side, customerId: string): Promise<void> {
  const [kept] = await sql<{ saved: string }[]>`
    select saved from payment_methods where customer_id = ${customerId}`;
  const { saved } = must(kept, 'a card that is kept');
  if (stripe !== null) {
    await stripe.detach(saved);
    return;
  }
  const origin = 'https://bank.example';
  const sandbox = openSandbox({ sql, timers, settleMs: 0, origin, challengeUrl: (key) => key });
  await sandbox(clock).forget(saved);
}

/** The bank of the sandbox decides about a debit now. Whether it was still open. */
export async function decideDebit(
  { sql }: Side,
  paymentId: string,
  how: 'capture' | 'fail',
): Promise<boolean> {
  const next = how === 'fail' ? 'declined' : 'succeeded';
  const { count } = await sql`
    update sandbox_charges set next_at = now() - interval '1 s', next_status = ${next},
      failure_code = 'card_declined', failure_message = 'no'
    where key = ${paymentId} and status = 'pending' and next_at > now()`;
  return count > 0;
}
