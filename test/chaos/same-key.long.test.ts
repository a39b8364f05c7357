// A hundred callers send one key at once: one object is made, and each caller gets the same bytes
// or is told to retry. It works without Redis, and without what the process has in memory.
import Redis from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { redisDatabase } from '../support/services.ts';
import { ask, buy, type Seller, sell } from '../support/shop.ts';
import { type Killable, startKillable } from './killable.ts';
import { MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { createKeys } from './tenant.ts';

const CALLERS = 100;

let service: Killable;
let seller: Seller;
let redisUrl: string;
let product: string;
let payment: string;

beforeAll(async () => {
  redisUrl = redisDatabase(9);
  // With a rate limit, so that Redis has something to forget.
  service = await startKillable({
    ...MONEY_ENV,
    RATE_LIMIT_REFUNDS_PER_PAYMENT: '100000',
    REDIS_URL: redisUrl,
  });
  seller = { url: await service.target(), key: (await createKeys(service.databaseUrl)).testKey };
  product = await sell(seller, { USD: '10.00' });
  payment = await buy(seller, { product_id: product, means: ['good'] });
});
afterAll(() => service.stop());

/**
 * All callers at once, then one more who must be answered. Returns the bytes of every final answer.
 */
async function everybody(key: string, path: string, body: object): Promise<string[]> {
  const url = await service.target();
  const answers: string[] = [];
  const send = async (): Promise<void> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${seller.key}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    // A machine that is too busy to answer in time says so.
    if (response.status === 409 || response.status === 503) {
      expect(['idempotency_in_progress', 'service_unavailable']).toContain(
        JSON.parse(text).error.type,
      );
      expect(response.headers.get('retry-after')).toBe('1');
    } else {
      answers.push(`${response.status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, send));
  const before = answers.length;
  await send();
  expect(answers.length).toBe(before + 1);
  return answers;
}

async function flushRedis(): Promise<void> {
  const redis = new Redis(redisUrl);
  expect(await redis.flushdb()).toBe('OK');
  redis.disconnect();
}

/** A new attempt would be refused in other words now: nothing is left. */
const refundTheRest = async (): Promise<void> =>
  ask({ ...seller, url: await service.target() }, 'POST', `/payments/${payment}/refund`, {});

const nothing = async (): Promise<void> => undefined;

// prettier-ignore
const OPERATIONS: [string, () => string, () => object, string, number, number, () => Promise<void>][] = [
  // what        path                                  body                                                                                   table        status  made  then
  ['refund',   () => `/payments/${payment}/refund`, () => ({ amount: '1.00' }),                                                           'refunds',   200,    1,    nothing],
  ['refusal',  () => `/payments/${payment}/refund`, () => ({ amount: '99.00' }),                                                          'refunds',   400,    0,    refundTheRest],
  ['checkout', () => '/checkouts',                  () => ({ product_id: product, customer_email: 'buyer@example.com', currency: 'USD' }), 'checkouts', 201,    1,    nothing],
];

test.each(OPERATIONS)(
  `the same %s from ${CALLERS} callers is one, for ever`,
  async (what, path, body, table, status, made, then) => {
    await withSql(service.databaseUrl, async (sql) => {
      const count = async (): Promise<number> =>
        Number((await sql.unsafe<{ count: bigint }[]>(`select count(*) from ${table}`))[0]!.count);
      const before = await count();
      const first = await everybody(what, path(), body());
      expect(await count()).toBe(before + made);
      await then();
      const known = await count();
      await flushRedis();
      const flushed = await everybody(what, path(), body());
      await service.kill();
      await service.restart();
      const restarted = await everybody(what, path(), body());
      expect([...new Set([...first, ...flushed, ...restarted])]).toEqual([first[0]!]);
      expect(first[0]).toStartWith(`${status} `);
      expect(await count()).toBe(known);
      expect(await wrongBooks(sql)).toEqual([]);
    });
  },
  30_000,
);
