// Reads of subscriptions, and repeated actions.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Json } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

test('GET /subscriptions lists newest first, by customer, product and status, in pages', async () => {
  const [one, two] = [await club.plan({ amount: '0' }), await club.plan({ amount: '0' })];
  const [ada, bob] = [await club.customer(), await club.customer()];
  const a = await club.subscribe(one, ada);
  const b = await club.subscribe(two, ada);
  const c = await club.subscribe(one, bob);
  await club.act(b.id, 'cancel', { mode: 'immediate' });
  await club.act(c.id, 'pause');
  const idsOf = async (query: string): Promise<string[]> =>
    (await club.shop.read(`/subscriptions?${query}`)).data.map(({ id }: Json) => id);
  expect(await idsOf('')).toEqual([c.id, b.id, a.id]);
  expect(await idsOf(`customer_id=${ada}`)).toEqual([b.id, a.id]);
  expect(await idsOf(`product_id=${one.productId}`)).toEqual([c.id, a.id]);
  expect(await idsOf('status=canceled')).toEqual([b.id]);
  expect(await idsOf(`status=paused&customer_id=${bob}`)).toEqual([c.id]);
  expect(await idsOf(`status=active&customer_id=${bob}`)).toEqual([]);
  expect(await club.shop.read('/subscriptions?limit=2&offset=1')).toMatchObject({
    limit: 2,
    offset: 1,
    has_more: false,
  });
  expect((await club.shop.read('/subscriptions?limit=2')).has_more).toBe(true);
  const [listed] = (await club.shop.read(`/subscriptions?customer_id=${bob}`)).data;
  expect(listed).toEqual(await club.subscription(c.id));
});

// prettier-ignore
const AGAIN: [string, [string, object?][], number][] = [
  // what actions events after the first
  ['a pause',                 [['pause'], ['pause']],                                                       1],
  ['other terms of a pause',  [['pause'], ['pause', { keep_invoices: true }], ['pause', { keep_invoices: true }]], 2],
  ['a resume',                [['pause'], ['resume'], ['resume']],                                          2],
  ['a resume of nothing',     [['resume']],                                                                 0],
  ['a cancellation',          [['cancel'], ['cancel', { mode: 'at_period_end' }]],                          1],
  ['an uncancel',             [['cancel'], ['uncancel'], ['uncancel']],                                     2],
  ['an uncancel of nothing',  [['uncancel']],                                                               0],
  ['an end',                  [['cancel', { mode: 'immediate' }], ['cancel', { mode: 'immediate' }], ['cancel']], 2],
  ['the same plan',           [['change', { quantity: 1 }]],                                                0],
];
test.each(AGAIN)('%s of a subscription again changes nothing', async (_what, actions, count) => {
  const plan = await club.plan({ amount: '0' });
  const { id } = await club.subscribe(plan, await club.customer());
  let last: Json = null;
  for (const [action, body] of actions) last = await club.act(id, action, body);
  expect(last).toEqual(await club.subscription(id));
  expect(await club.events(id)).toHaveLength(1 + count);
});

test('an Idempotency-Key replays an action on a subscription to the byte, whatever became of it since', async () => {
  const plan = await club.plan({ amount: '0' });
  const { id } = await club.subscribe(plan, await club.customer());
  const headers = { 'idempotency-key': 'pause 1' };
  const pause = (body: object = {}, of = id) =>
    club.post(`/subscriptions/${of}/pause`, body, { headers });
  const first = await pause();
  await club.act(id, 'resume');
  const again = await pause();
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect((await club.subscription(id)).status).toBe('active');
  expect((await pause({ keep_invoices: true })).status).toBe(422);
  const other = await club.subscribe(plan, await club.customer());
  expect((await pause({}, other.id)).status).toBe(422);
  // For another action it is another key.
  expect((await club.post(`/subscriptions/${id}/cancel`, {}, { headers })).status).toBe(200);
});
