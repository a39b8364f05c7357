// What the audit reckons in SQL is what is billed.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { toJson } from '../../ledger/store/json.ts';
import { rate, rateAll, rounded } from '../../ledger/subscriptions/rating.ts';
import { SOLD_COSTS } from '../../src/database/audit-usage-cost.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Json } from '../../src/platform/postgres/postgres.ts';
import { type Case, cases } from '../ledger/rating-cases.ts';
import { seeded } from '../ledger/property.ts';
import { type Bed, openBed } from './bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.stop());

const SEED = 20_260_131;
const INCLUDED = 7n;

/** Temporary tables hide the real ones: the query needs no customers and products. */
async function costs(samples: readonly Case[], line: string): Promise<readonly bigint[]> {
  const rows = samples.map((sample) => ({ ...sample, id: ids.next() }));
  const at = new Date(0).toISOString();
  return bed.sql.begin(async (sql) => {
    const insert = async (table: string, values: readonly Json[]) => {
      await sql.unsafe(
        `create temp table ${table} on commit drop as table public.${table} with no data`,
      );
      await sql`insert into ${sql(table)} select * from jsonb_populate_recordset(null::${sql(table)}, ${sql.json(values)})`;
    };
    await insert(
      'meters',
      rows.map(({ id, scale }) => ({ id, scale })),
    );
    await insert(
      'usage_prices',
      rows.map(({ id, price: { id: _id, currency, minimum, maximum, ...tariff } }) => ({
        id,
        currency,
        model: tariff.model,
        tariff: toJson(tariff),
        minimum_amount: minimum === null ? null : String(minimum),
        maximum_amount: maximum === null ? null : String(maximum),
      })),
    );
    await insert(
      'usage_spans',
      rows.map(({ id, quantity }) => ({
        id,
        meter_id: id,
        usage_price_id: id,
        ended_at: at,
        live: true,
        quantity_limit: String(INCLUDED),
        opening_aggregate: '-3',
        closing_aggregate: String(quantity + INCLUDED),
      })),
    );
    const found = await sql.unsafe<{ id: string; value: string }[]>(
      `select id, trim_scale(${line})::text as value from ${SOLD_COSTS} c`,
    );
    const values = new Map(found.map(({ id, value }) => [id, BigInt(value)]));
    return rows.map(({ id }) => values.get(id) ?? -1n);
  });
}

const samples = fc.sample(cases, { seed: SEED, numRuns: 2000 });

test(seeded('SQL and the ledger cost a span of usage the same, to the last decimal'), async () => {
  const found = await costs(samples, 'cost');
  for (const [index, { price, quantity, scale }] of samples.entries()) {
    expect(found[index]).toBe(rate(price, quantity, scale).amount);
  }
});

test(seeded('SQL and the ledger round a line of usage the same'), async () => {
  const found = await costs(samples, 'least(div(2 * (3 * cost) + coin, 2 * coin), most)');
  for (const [index, { price, quantity, scale }] of samples.entries()) {
    const { amount } = rateAll(
      price,
      Array.from({ length: 3 }, () => ({ quantity, minimum: price.minimum ?? 0n })),
      scale,
    );
    expect(found[index]).toBe(rounded(amount, price.currency));
  }
});
