// Buyers pay on the hosted page with every kind of card. kill -9 comes between the attempt, the
// charge and the steps after it.
import { expect, test } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { withSeed } from '../support/random.ts';
import { sell } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { CheckoutLoad } from './checkout-load.ts';
import { wrongCheckouts } from './checkout-verdict.ts';
import { startKillable } from './killable.ts';
import { DECIDED_MS_MAX, MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { createKeys } from './tenant.ts';

const KILLS = 4;
const ANSWERS_BEFORE_KILL_MAX = 40;
const BUYERS = 16;

test('checkouts with kill -9 in between: each buyer who paid is charged once, and no one else is', async () => {
  const service = await startKillable(MONEY_ENV);
  try {
    await withSeed((random) =>
      withSql(service.databaseUrl, async (sql) => {
        const { target, upSince } = service;
        const { id: organisationId, testKey: key } = await createKeys(service.databaseUrl);
        const productId = await sell({ url: await target(), key }, { USD: '10.00', EUR: '9.00' });
        const load = new CheckoutLoad({ key, productId, buyers: BUYERS, random, target, upSince });
        const cut = { open: 0, charged: 0, owing: 0 };
        let left: readonly string[] = [];
        for (let kill = 0; kill < KILLS; kill += 1) {
          await load.moreAnswers(random.integer(1, ANSWERS_BEFORE_KILL_MAX));
          await service.kill();
          left = await openPayments(sql);
          const { open, charged, owing } = await halfDone(sql);
          cut.open += open;
          cut.charged += charged;
          cut.owing += owing;
          await service.restart();
        }
        const restarted = performance.now();
        await until('what was open is decided', async () => {
          const open = new Set(await openPayments(sql));
          return !left.some((id) => open.has(id));
        });
        expect(performance.now() - restarted).toBeLessThan(DECIDED_MS_MAX);
        await load.moreAnswers(ANSWERS_BEFORE_KILL_MAX);
        await load.stop();
        expect(load.faults.slice(0, 5)).toEqual([]);
        expect(await wrongCheckouts(sql, organisationId, load)).toEqual([]);
        expect(await wrongBooks(sql)).toEqual([]);
        // Otherwise no kill came at the intended step.
        expect(cut.open + cut.charged + cut.owing).toBeGreaterThan(0);
      }),
    );
  } finally {
    await service.stop();
  }
}, 60_000);

async function openPayments(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from payments where status in ('processing', 'requires_action')`;
  return rows.map(({ id }) => id);
}

/**
 * Payments that have begun without a charge, or whose charge is not recorded yet; and open outbox
 * tasks.
 */
async function halfDone(sql: Sql): Promise<{ open: number; charged: number; owing: number }> {
  const [row] = await sql<{ open: number; charged: number; owing: number }[]>`
    select count(*) filter (where c.key is null)::int as open, count(c.key)::int as charged,
      (select count(*) from followups)::int as owing
    from payments p left join sandbox_charges c on c.key = p.id::text where p.status = 'processing' and p.method is null`;
  return row!;
}
