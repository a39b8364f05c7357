// A spend cap over as many tiers as products may have: many checks are answered, and many usages
// decided, in short turns.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { type Fields, made } from '../payments/shop.ts';
import { Market } from '../http/usage-billing/setting.ts';
import { longestTurn } from '../support/longest-turn.ts';

setDefaultTimeout(300_000);

/**
 * Of checks of four calls at once. Others are answered in between. All rows of each in one turn are
 * 30 to 70 ms.
 */
const CHECK_MS_MAX = 25;
/** Of usages, which are one decision. Each one's reckoning all meters anew was 37 to 105 ms. */
const USE_MS_MAX = 25;
/** The first ones compile the code. */
const TRIES = 9;
const PRODUCTS = 5;
const METERS = 20;
const TIERS = Array.from({ length: 50 }, (_, n) => ({
  up_to: n === 49 ? null : 10 * (n + 1),
  unit_amount: '0.01',
}));

const features: string[] = [];
let market: Market;
let customer_id: string;
beforeAll(async () => {
  market = await Market.open({ alone: true });
  customer_id = await market.cardholder();
  const sells = { model: 'graduated', tiers: TIERS };
  for (let product = 0; product < PRODUCTS; product += 1) {
    const plan = await market.sale({ gives: { limit: 1 }, sells });
    features.push(plan.feature);
    for (let n = 1; n < METERS; n += 1) {
      const feature = `${plan.feature}-${n}`;
      made(await market.post('/meters', { slug: feature }));
      await market.give({ ...plan, feature }, { limit: 1 });
      await market.sell({ ...plan, feature }, sells);
      features.push(feature);
    }
    await market.subscribe(plan, customer_id);
  }
  const cap = { body: { amount: '100000.00', currency: 'USD' } };
  const set = await market.shop.server.call('PUT', `/customers/${customer_id}/spend-cap`, cap);
  expect([set.status, set.text]).toEqual([200, set.text]);
  const used = await market.post('/track/batch', { tracks: rows({ value: 100 }) });
  expect([used.status, used.text]).toEqual([200, used.text]);
});
afterAll(() => market.close());

function rows(fields: Fields): Fields[] {
  return Array.from({ length: 500 }, (_, n) => {
    const feature = features[n % features.length];
    return { customer_id, feature_key: feature, ...fields };
  });
}

const named = ({ feature_key: name, ...row }: Fields): Fields => ({ name, ...row });
const each = rows.bind(null, { value: 1 });

// prettier-ignore
test.each<[string, number, string, () => object, number]>([
  ['checks',             4, '/check/batch',   () => ({ checks: each() }),                               CHECK_MS_MAX],
  ['checks that consume',1, '/check/batch',   () => ({ checks: rows({ value: 1, consume: true }) }),    USE_MS_MAX],
  ['usages',             1, '/track/batch',   () => ({ tracks: each() }),                               USE_MS_MAX],
  ['rejectable usages',  1, '/track/batch',   () => ({ tracks: rows({ value: 1, overage: 'reject' }) }), USE_MS_MAX],
  ['events',             1, '/events/ingest', () => ({ events: each().map(named) }),                    USE_MS_MAX],
])('many %s under a spend cap take short turns', async (what, calls, path, body, most) => {
  const send = async () => {
    const replies = await Promise.all(Array.from({ length: calls }, () => market.post(path, body())));
    return must(replies[0], 'the first of them');
  };
  const turns: number[] = [];
  for (let n = 0; n < TRIES; n += 1) {
    const { turn, reply } = await longestTurn(send);
    expect([reply.status, reply.text]).toEqual([200, reply.text]);
    turns.push(turn);
  }
  console.log(`${what}: ${turns.map((ms) => Math.round(ms)).join(', ')} ms`);
  expect(turns.toSorted((a, b) => a - b)[Math.floor(TRIES / 2)]).toBeLessThan(most);
});
