// Signups and renewals with kill -9 between any two of their commits, and at random. Each period is
// charged, billed, granted and announced once. So is a change that was taken back and then paid for
// given back.
import { expect, test } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { withSeed } from '../support/random.ts';
import { ask, type Session, sessionOf, submit } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { killAt, killSoon } from './kill-at.ts';
import { startKillable } from './killable.ts';
import { DECIDED_MS_MAX, isDone, MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { openSteps, type Step } from './steps.ts';
import { LIMIT, Subscribers } from './subscribers.ts';
import { Persistent } from './persistent.ts';
import { createKeys } from './tenant.ts';

/** How many rounds; CI runs one. */
const ROUNDS = Number(process.env['CHAOS_ROUNDS'] ?? 1);
const BUYERS = 32;
const KILLS = 2;
const DAY_MS = 86_400_000;

/** The commits of a signup, in order. */
const SIGNUP: readonly Step[] = [
  { name: 'an attempt is written down', on: 'insert on payments' },
  { name: 'the charge is made', on: 'insert on sandbox_charges' },
  { name: 'the payment hears of it', on: 'update on payments', when: `old.status <> new.status` },
  { name: 'the subscription begins', on: 'insert on subscriptions' },
  { name: 'the invoice is issued', on: 'insert on invoices' },
];
/** The commits of a renewal. */
const RENEWAL: readonly Step[] = [
  {
    name: 'the next period begins',
    on: 'update on subscriptions',
    when: 'old.period_index <> new.period_index',
  },
  {
    name: 'its allowance is given',
    on: 'update on grants',
    when: 'old.renews_at <> new.renews_at',
  },
  SIGNUP[4]!,
  SIGNUP[1]!,
  SIGNUP[2]!,
  {
    name: 'the subscription hears of it',
    on: 'update on subscriptions',
    when: 'old.period_index = new.period_index and old.open <> new.open',
  },
  { name: 'the invoice is paid', on: 'update on invoices', when: `new.status = 'paid'` },
];

test(
  'kill -9 in signups and renewals: one charge, invoice, grant and event of each kind a period',
  async () => {
    const service = await startKillable(MONEY_ENV);
    const steps = await openSteps(service.databaseUrl, [...new Set([...SIGNUP, ...RENEWAL])]);
    try {
      await withSeed((random) =>
        withSql(service.databaseUrl, async (sql) => {
          const { target } = service;
          const { testKey: key } = await createKeys(service.databaseUrl);
          const subscribers = await Subscribers.open({ key, random, target });
          for (let round = 0; round < ROUNDS; round += 1) {
            const kill = { service, steps, random };
            for (const step of SIGNUP) {
              await killAt(kill, step, () =>
                subscribers.begin(BUYERS / (SIGNUP.length + KILLS + 1)),
              );
            }
            for (let left = KILLS; left > 0; left -= 1) {
              subscribers.begin(BUYERS / (SIGNUP.length + KILLS + 1));
              await killSoon(kill);
            }
            subscribers.begin((round + 1) * BUYERS - subscribers.begun);
            await subscribers.done();
            for (const step of RENEWAL) {
              const day = await subscribers.tomorrow();
              let passed: Promise<void> = Promise.resolve();
              await killAt(kill, step, () => (passed = subscribers.pass(day)));
              await passed;
            }
            for (let left = KILLS; left > 0; left -= 1) {
              const passed = subscribers.pass(await subscribers.tomorrow());
              await killSoon(kill);
              await passed;
            }
          }
          await until('nothing is left to do', () => isDone(sql), DECIDED_MS_MAX);
          expect(subscribers.faults).toEqual([]);
          expect(subscribers.paid).toBe(ROUNDS * BUYERS);
          expect(await wrongPeriods(sql, ROUNDS * BUYERS)).toEqual([]);
          expect(await wrongBooks(sql)).toEqual([]);
          for (let buyer = 1; buyer <= BUYERS; buyer += 1) {
            const { allowed, balance } = await subscribers.check(`buyer-${buyer}`);
            expect([buyer, allowed, balance]).toEqual([buyer, true, LIMIT]);
          }
        }),
      );
    } finally {
      await steps.stop();
      await service.stop();
    }
  },
  60_000 + 60_000 * ROUNDS,
);

/** The commits that give the money of a change that was taken back. */
const GIVEN_BACK: readonly Step[] = [
  {
    name: 'what was paid is to be given back',
    on: 'insert on followups',
    when: `new.kind = 'give_back'`,
  },
  { name: 'the refund is reserved', on: 'insert on refunds' },
  { name: 'the refund is made', on: 'insert on sandbox_refunds' },
  { name: 'the refund is heard of', on: 'update on refunds', when: 'old.status <> new.status' },
  { name: 'it is done', on: 'delete on followups', when: `old.kind = 'give_back'` },
  {
    name: 'the invoice hears of it',
    on: 'update on invoices',
    when: 'old.amount_refunded <> new.amount_refunded',
  },
];

test('kill -9 while a change that was taken back is given back: all of it, once', async () => {
  // What a bank is asked for settles when a day passes.
  const service = await startKillable({ ...MONEY_ENV, SANDBOX_SETTLE_MS: '3600000' });
  const steps = await openSteps(service.databaseUrl, GIVEN_BACK);
  try {
    await withSeed((random) =>
      withSql(service.databaseUrl, async (sql) => {
        const { target } = service;
        const { testKey: key } = await createKeys(service.databaseUrl);
        const calls = new Persistent({ key, target });
        const debited = await changesTakenBack(calls, GIVEN_BACK.length);
        const given: string[] = [];
        for (const step of GIVEN_BACK) {
          given.push(await debited());
          let passed: Promise<void> = Promise.resolve();
          await killAt({ service, steps, random }, step, async () => {
            passed = calls.pass((await calls.now()) + DAY_MS);
          });
          await passed;
        }
        await until('nothing is left to do', () => isDone(sql), DECIDED_MS_MAX);
        const rows = await sql`
          select p.status, r.count, r.amount = p.amount as whole, i.amount_refunded = p.amount as told,
            (select count(*) from events e where e.type = 'payment.refunded' and e.data ->> 'paymentId' = p.id::text)::int as events
          from payments p join invoices i on i.id = p.invoice_id
          cross join lateral (
            select count(*)::int, sum(amount)::bigint as amount from sandbox_refunds where charge_key = p.id::text and status = 'succeeded') r
          where p.id = any(${given}::uuid[])`;
        const once = { status: 'refunded', count: 1, whole: true, told: true, events: 1 };
        expect([...rows]).toEqual(given.map(() => once));
        expect(await wrongBooks(sql)).toEqual([]);
      }),
    );
  } finally {
    await steps.stop();
    await service.stop();
  }
}, 120_000);

/** Subscribers who pay by bank debit. Each changes its plan, and takes that back while it is not paid for; the payment. */
async function changesTakenBack(calls: Persistent, count: number): Promise<() => Promise<string>> {
  const post = (path: string, body: object) =>
    calls.once((seller) => ask(seller, 'POST', path, body));
  const price = { amount: '10.00', currency: 'USD', type: 'recurring', interval: 'year' };
  const product = await post('/products', { name: 'Yearly', prices: [price] });
  const dearer = await post(`/products/${product.id}/prices`, { ...price, amount: '90.00' });
  const sessions: Session[] = [];
  for (let left = count; left > 0; left -= 1) {
    const buyer = `debited-${left}`;
    const session = sessionOf(
      await post('/checkouts', {
        product_id: product.id,
        customer_email: `${buyer}@example.com`,
        external_customer_id: buyer,
      }),
    );
    await calls.once(({ url }) => submit(url, session, 'iban'));
    sessions.push(session);
  }
  await calls.pass((await calls.now()) + DAY_MS);
  return async () => {
    const { id } = must(sessions.pop(), 'a subscriber');
    const { data } = await calls.once((one) => ask(one, 'GET', `/payments?checkout_id=${id}`));
    const path = `/subscriptions/${data[0].subscription_id}`;
    const changed = await post(`${path}/change`, { price_id: dearer.id });
    await post(`${path}/unschedule`, {});
    return changed.pending_change.payment_id;
  };
}

/** For each subscription: the count of each kind of record equals its number of periods. */
async function wrongPeriods(sql: Sql, buyers: number): Promise<string[]> {
  const rows = await sql<({ id: string; periods: number } & Readonly<Record<string, number>>)[]>`
    select s.id, s.period_index + 1 as periods,
      (select count(*) from payments p where p.subscription_id = s.id and p.status = 'succeeded')::int as payments,
      (select count(*) from payments p join sandbox_charges c on c.key = p.id::text
        where p.subscription_id = s.id and 'succeeded' in (c.status, c.next_status))::int as charges,
      (select count(*) from invoices i where i.subscription_id = s.id and i.status = 'paid')::int as paid,
      (select count(*) from invoices i where i.subscription_id = s.id)::int as invoices,
      (select count(distinct period_start) from invoices i where i.subscription_id = s.id)::int as billed,
      (select count(*) from events e where e.object_id = s.id and e.type = 'payment.succeeded')::int as told_of_payment,
      (select count(*) from events e join invoices i on i.id = e.object_id
        where i.subscription_id = s.id and e.type = 'invoice.created')::int as told_of_invoice,
      (select count(*) from events e where e.account_id = s.customer_id and e.type = 'entitlement.granted')::int as told_of_grant,
      (select sum(b.credits_posted) / ${LIMIT} from accounts a join balances b on b.slot = a.slot and b.id = a.id
        join meters m on m.id = a.meter_id
        where a.customer_id = s.customer_id and a.kind = 'meter')::float8 as granted,
      s.period_index + (select count(*) from events e where e.object_id = s.id and e.type = 'subscription.created')::int as told_of_start,
      s.period_index + (select count(*) from subscriptions o where o.customer_id = s.customer_id)::int as of_customer
    from subscriptions s`;
  const wrong = rows.flatMap(({ id, periods, ...counts }) =>
    Object.values(counts).every((count) => count === periods)
      ? []
      : [`${id} has had ${periods} periods: ${JSON.stringify(counts)}`],
  );
  return rows.length === buyers ? wrong : [...wrong, `${rows.length} subscriptions of ${buyers}`];
}
