// An account at Stripe that is not ours alone: another organisation has connected it too, and the
// merchant's own programs name their things as they like. None of that is a difference.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Payment } from '../payments/shop.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(120_000);

const CARD = '4242424242424242';

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.open();
});
afterAll(() => bed.close());

/** What runs have counted and recorded, by organisation. */
async function seen() {
  const { sql, organisation, other } = bed.shop.server;
  const of = async ({ id }: { readonly id: string }) => {
    const [counted] = await sql<{ compared: number; notOurs: number }[]>`
      select compared::int, not_ours::int as "notOurs" from reconciliation_runs r
      join processor_accounts a on a.id = r.account_id
      where a.organisation_id = ${id} order by r.begun_at desc limit 1`;
    const moved = await sql<{ payment: string }[]>`
      select distinct t.payment_id as payment from processor_transactions t
      join processor_accounts a on a.id = t.account_id where a.organisation_id = ${id}`;
    const { compared, notOurs } = must(counted, 'a run');
    return { compared, notOurs, payments: moved.map(({ payment }) => payment) };
  };
  return [await of(organisation), await of(other)] as const;
}

/** The other organisation connects the same account, and sells. */
async function sellAsOther(): Promise<Payment> {
  const { server } = bed.shop;
  const { testKey: key } = server.other;
  await bed.connect(bed.account, key);
  const prices = [{ amount: '100', currency: 'USD' }];
  const { json: product } = await server.call('POST', '/products', {
    key,
    body: { name: 'Vase', prices },
  });
  const session = await bed.shop.checkout({ product_id: product.id }, { key });
  const outcome = await bed.shop.pay(session, { instrument: null });
  if (outcome.kind !== 'requires_action') throw new Error(`not led to Stripe: ${outcome.kind}`);
  await bed.fake.buyer.pays(outcome.url, CARD);
  const path = `/payments?checkout_id=${session.id}`;
  const [{ id }] = (await server.call('GET', path, { key })).json.data;
  await server.payments.refresh(id);
  return (await server.call('GET', `/payments/${id}`, { key })).json;
}

test("reconciliation of two organisations with one Stripe account sees each one's own", async () => {
  const { server } = bed.shop;
  const mine = await bed.buy();
  const theirs = await sellAsOther();
  expect([mine.status, theirs.status]).toEqual(['succeeded', 'succeeded']);
  await bed.refund(mine, '4.50');
  const body = { amount: '2.50' };
  const { testKey: key } = server.other;
  await server.call('POST', `/payments/${theirs.id}/refund`, { key, body });
  // And what has no key of anybody's, of the charge of one of them.
  bed.fake.dispute(bed.intentOf(theirs));
  await bed.night();
  expect(await bed.open()).toEqual([]);
  expect(await seen()).toEqual([
    { compared: 2, notOurs: 3, payments: [mine.id] },
    { compared: 3, notOurs: 2, payments: [theirs.id] },
  ]);
});

test('reconciliation ignores what the merchant sells with a key of its own', async () => {
  const metadata = { key: ids.next() };
  const price_data = { currency: 'usd', unit_amount: 700, product_data: { name: 'Hat' } };
  const { url } = await bed.stripe.checkout.sessions.create({
    mode: 'payment',
    line_items: [{ quantity: 1, price_data }],
    metadata,
    payment_intent_data: { metadata },
    success_url: 'https://hats.example',
  });
  await bed.fake.buyer.pays(url ?? '', CARD);
  const charge = bed.books.charges.find((one) => one.metadata['key'] === metadata.key);
  await bed.stripe.refunds.create({ charge: charge?.id ?? '', metadata });
  await bed.night();
  expect(await bed.open()).toEqual([]);
});
