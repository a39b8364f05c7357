// Many callers refund one payment at once, with kill -9 between the reserve, the processor and the
// result.
import { expect, test } from 'bun:test';
import type { Means } from '../support/means.ts';
import { type Random, withSeed } from '../support/random.ts';
import { ask, buy, sell } from '../support/shop.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { until } from '../support/until.ts';
import { startKillable } from './killable.ts';
import { DECIDED_MS_MAX, MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { RefundLoad, randomWishes } from './refund-load.ts';
import { wrongRefunds } from './refund-verdict.ts';
import { createKeys } from './tenant.ts';

const KILLS = 4;
const ANSWERS_BEFORE_KILL_MAX = 40;
const HOT = 200;
const BESIDE = 25;

/**
 * Payments whose refunds succeed, stay pending for a while, or succeed and fail later; the answer
 * to the last one's charge was lost.
 */
const CARDS: readonly Means[] = ['good', 'refundPends', 'refundFailsLate', 'answerLost'];

test('refunds at once under kill -9: never more than was captured, each made once', async () => {
  const service = await startKillable(MONEY_ENV);
  try {
    await withSeed((random) =>
      withSql(service.databaseUrl, async (sql) => {
        const { testKey: key } = await createKeys(service.databaseUrl);
        const wishes = await wishesOf(random, { url: await service.target(), key });
        const load = new RefundLoad({ key, wishes, random, target: service.target });
        const cut = { reserved: 0, sent: 0 };
        for (let kill = 0; kill < KILLS; kill += 1) {
          await load.moreAnswers(random.integer(1, ANSWERS_BEFORE_KILL_MAX));
          await service.kill();
          const { reserved, sent } = await halfDone(sql);
          cut.reserved += reserved;
          cut.sent += sent;
          await service.restart();
        }
        const restarted = performance.now();
        await load.done;
        await until('all is decided', async () => (await undecided(sql)) === 0);
        expect(performance.now() - restarted).toBeLessThan(DECIDED_MS_MAX);
        await load.repeat();
        await load.stopReading();
        expect(load.faults.slice(0, 5)).toEqual([]);
        expect(await wrongRefunds(sql, load)).toEqual([]);
        expect(await wrongBooks(sql)).toEqual([]);
        // Otherwise no kill came at the intended step.
        expect(cut.reserved + cut.sent).toBeGreaterThan(0);
        expect(load.snapshots).toBeGreaterThan(KILLS);
      }),
    );
  } finally {
    await service.stop();
  }
}, 60_000);

/** One payment is the hot one; which one changes. */
async function wishesOf(random: Random, seller: { url: string; key: string }) {
  const product_id = await sell(seller, { USD: '100.00' });
  const hot = random.pick(CARDS);
  const wishes = CARDS.map(async (card) => {
    const payment = await buy(seller, { product_id, means: [card] });
    await until('it is paid', async () => {
      const { status } = await ask(seller, 'GET', `/payments/${payment}`);
      return status === 'succeeded';
    });
    return randomWishes(random, payment, card === hot ? HOT : BESIDE);
  });
  return (await Promise.all(wishes)).flat();
}

/** Refunds without an answer; the processor may or may not have received them. */
async function halfDone(sql: Sql): Promise<{ reserved: number; sent: number }> {
  const [row] = await sql<{ reserved: number; sent: number }[]>`
    select count(*) filter (where s.key is null)::int as reserved, count(s.key)::int as sent
    from refunds r left join sandbox_refunds s on s.key = r.id::text where r.answered is null`;
  return row!;
}

async function undecided(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select (select count(*) from refunds where ask_at is not null)::int
      + (select count(*) from followups)::int as count`;
  return row!.count;
}
