// The credit of a customer whose plan has changed fifty thousand times: others have turns
// meanwhile.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { longestTurn } from '../../support/longest-turn.ts';
import { Market } from '../usage-billing/setting.ts';

const CHANGES = 50_000;
const TURN_MS_MAX = 25;
const TRIES = 5;

let market: Market;
beforeAll(async () => {
  market = await Market.open({ edited: true });
});
// Without an audit: the copies have no order of numbers.
afterAll(() => market.shop.server.stop());

test('credit with fifty thousand entries is read in short turns', async () => {
  const plan = await market.sale({ price: { amount: '100.00' } });
  const small = await market.price(plan, { amount: '5.00' });
  const { id, customer_id: customerId } = await market.buyer(plan);
  await market.advance('P15D');
  await market.act(id, 'change', { price_id: small });
  const { server } = market.shop;
  // The same change again and again, a second apart.
  await server.sql`
    insert into invoices
    select copy.* from invoices i cross join generate_series(1, ${CHANGES - 1}) n
      cross join jsonb_populate_record(i, jsonb_build_object(
        'id', uuidv7(), 'number', 'N-' || n, 'created_at', i.created_at - n * interval '1 s')) copy
    where i.subscription_id = ${id} and i.billing_reason = 'subscription_update'`;
  const path = `/customers/${customerId}/credit`;
  const turns: number[] = [];
  for (let n = 0; n < TRIES; n += 1) {
    const { turn, reply } = await longestTurn(() => server.call('GET', path));
    expect(reply.json.data[0].entries).toHaveLength(50);
    turns.push(turn);
  }
  turns.sort((a, b) => a - b);
  console.log(`${CHANGES} entries: ${turns.map(Math.round).join(', ')} ms`);
  expect(turns[2]).toBeLessThan(TURN_MS_MAX);
  const page = await market.shop.read(`${path}/entries?currency=usd&limit=1000`);
  expect(page.data).toHaveLength(1000);
  expect(page.next_cursor).not.toBeNull();
}, 120_000);
