// Signups and renewals with kill -9 between any two of their commits, and at random. Each period is
// charged, billed, granted and announced once.
import { expect, test } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { withSeed } from '../support/random.ts';
import { until } from '../support/until.ts';
import { killAt, killSoon } from './kill-at.ts';
import { startKillable } from './killable.ts';
import { DECIDED_MS_MAX, isDone, MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { openSteps, type Step } from './steps.ts';
import { LIMIT, Subscribers } from './subscribers.ts';
import { createKeys } from './tenant.ts';

/** How many rounds; CI runs one. */
const ROUNDS = Number(process.env['CHAOS_ROUNDS'] ?? 1);
const BUYERS = 32;
const KILLS = 2;

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
