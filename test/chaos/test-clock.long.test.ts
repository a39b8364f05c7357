// The service is killed while a clock moves: the clock keeps what it reached, nothing is done
// twice, and a retry continues the move.
import { expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { withSeed } from '../support/random.ts';
import { ask, buy } from '../support/shop.ts';
import { startKillable } from './killable.ts';
import { createKeys } from './tenant.ts';

const SUBSCRIPTIONS = 10;
const MONTHS = 24;
const KILLS = 3;
const KILL_MS_MAX = 400;

test('kill -9 while two years of subscriptions pass bills each month once', async () => {
  const service = await startKillable();
  const sql = openPool(service.databaseUrl, { max: 1, applicationName: 'chaos verdict' });
  try {
    const { testKey: key } = await createKeys(service.databaseUrl);
    const seller = async () => ({ url: await service.target(), key });
    const plan = { amount: '10', currency: 'USD', type: 'recurring', interval: 'month' };
    const { id } = await ask(await seller(), 'POST', '/products', { name: 'Plan', prices: [plan] });
    for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
      const who = { customer_email: `${index}@example.com`, external_customer_id: `${index}` };
      await buy(await seller(), { means: ['good'], product_id: id, ...who });
    }
    const clock = async () => Date.parse((await ask(await seller(), 'GET', '/test-clock')).now);
    const target = new Date(await clock());
    target.setUTCMonth(target.getUTCMonth() + MONTHS, target.getUTCDate() + 1);
    const move = { now: target.toISOString() };
    const ends: string[] = [];
    await withSeed(async (random) => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = await clock();
        if (before >= target.getTime()) break;
        const moving = ask(await seller(), 'POST', '/test-clock', move).then(
          () => 'arrived',
          () => 'stopped',
        );
        await Bun.sleep(random.integer(1, KILL_MS_MAX));
        await service.kill();
        ends.push(await moving);
        await service.restart();
        // Nothing has happened after the time that it shows now.
        const [last] = await sql<{ at: Date }[]>`select max(issued_at) as at from invoices`;
        expect(await clock()).toBeGreaterThanOrEqual(Math.max(before, last!.at.getTime()));
      }
    });
    // Otherwise no kill came during a move.
    expect(ends).toContain('stopped');
    if ((await clock()) < target.getTime()) await ask(await seller(), 'POST', '/test-clock', move);
    const rows = await sql<{ periods: number; invoices: number; paid: number }[]>`
      select count(distinct period_start)::int as periods, count(*)::int as invoices,
        count(*) filter (where status = 'paid')::int as paid
      from invoices group by subscription_id`;
    const each = { periods: MONTHS + 1, invoices: MONTHS + 1, paid: MONTHS + 1 };
    expect([...rows]).toEqual(Array.from({ length: SUBSCRIPTIONS }, () => each));
    expect(await audit(sql)).toEqual([]);
  } finally {
    await sql.end();
    await service.stop();
  }
}, 90_000);
