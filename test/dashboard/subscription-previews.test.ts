// Before an action on a subscription is done, its page says what it bills and does: what the API's
// preview says. It asks the service, and no script of the browser.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../payments/shop.ts';
import { Market } from '../http/usage-billing/setting.ts';
import type { Json, PlanWish } from '../http/subscriptions/subscribing.ts';
import { faultIn, type Member, memberOf } from './member.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
let member: Member;
beforeAll(async () => {
  market = await Market.open();
  member = await memberOf(market.shop.server, { role: 'support' });
});
afterAll(() => market.close());

// The milliseconds between a page and a preview are worth nothing.
const YEAR = { interval: 'year', amount: '30.00' };

const sold = (price: PlanWish = {}) => market.sale({ price: { ...YEAR, ...price } });

const previewed = async (id: string, action: string, body?: object): Promise<Json> =>
  (await market.post(`/subscriptions/${id}/${action}/preview`, body)).json;

/** What a reader of a page sees. */
const seen = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

/** The page has each line of the preview, and what is due at once. */
function expectShown(page: string, { lines, amount_due: due }: Json): void {
  const text = seen(page);
  const charged = /[1-9]/.test(due) ? `$${due}` : 'nothing';
  expect(text).toContain(`Charged now ${charged}`);
  for (const { description, amount } of lines) {
    expect(text).toContain(description);
    expect(text).toContain(`$${amount.replace('-', '')}`);
  }
}

test('the dashboard previews an upgrade: its lines, and what is charged, before it is', async () => {
  const plan = await sold();
  const dear = await market.price(plan, { ...YEAR, amount: '90.00' });
  const subscription = await market.signUp(plan);
  const { id } = subscription;
  await market.advance('P120D');
  await market.use(subscription, plan, 33);
  const at = `/subscriptions/${id}/change`;
  const asked = await member.send(at, { price_id: dear, quantity: '2' });
  const preview = await previewed(id, 'change', { price_id: dear, quantity: 2 });
  expect(preview.lines).toHaveLength(3);
  expectShown(asked.text, preview);
  expect(seen(asked.text)).toContain('Takes effect when its payment succeeds');
  expect(seen(asked.text)).toContain('Current period');
  expect(await market.subscription(id)).toEqual(subscription);
  await member.confirm(asked, at);
  expect(await market.subscription(id)).toMatchObject({ price_id: dear, quantity: 2 });
  expect((await market.bill({ id })).total).toBe(preview.total);
});

test("the dashboard previews a downgrade's credit, and another interval's new period", async () => {
  const plan = await market.plan({ ...YEAR, amount: '90.00' });
  const cheap = await market.price(plan, YEAR);
  const long = await market.price(plan, { interval: 'year', interval_count: 2, amount: '99.00' });
  const { id } = await market.signUp(plan);
  await market.advance('P120D');
  const at = `/subscriptions/${id}/change`;
  const cheaper = seen((await member.send(at, { price_id: cheap, quantity: '1' })).text);
  const { credited } = await previewed(id, 'change', { price_id: cheap });
  expect(cheaper).toContain(`Charged now nothing Credit for later invoices $${credited}`);
  expect(cheaper).toContain('Takes effect immediately');
  const longer = seen((await member.send(at, { price_id: long, quantity: '1' })).text);
  expect(longer).toContain('New period');
});

test('a refused plan change says so in its preview, with what was typed', async () => {
  const { id } = await market.signUp(await market.plan(YEAR));
  const at = `/subscriptions/${id}/change`;
  const refused = await member.send(at, { quantity: '0' });
  expect([refused.status, faultIn(refused.text) === null]).toEqual([400, false]);
  expect(refused.text).toContain('value="0"');
  expect(refused.text).toContain('Preview');
});

test('the dashboard previews a cancellation at once with the usage that is left', async () => {
  const plan = await sold();
  const subscription = await market.signUp(plan);
  await market.use(subscription, plan, 50);
  const { id } = subscription;
  const page = await member.read(`/subscriptions/${id}/cancel`);
  const [, atOnce = ''] = page.split('<h2>Immediately</h2>');
  const preview = await previewed(id, 'cancel', { mode: 'immediate' });
  expect(preview.total).toBe('20.00');
  expectShown(atOnce, preview);
});

test("the dashboard previews a resume, in the paid period and after it, and a trial's end", async () => {
  const plan = await market.plan(YEAR);
  const { id } = await market.signUp(plan);
  await market.act(id, 'pause');
  const free = seen(await member.read(`/subscriptions/${id}/resume`));
  expect(free).toContain('Charged now nothing Takes effect immediately Current period');
  await market.advance('P400D');
  const late = await member.read(`/subscriptions/${id}/resume`);
  expectShown(late, await previewed(id, 'resume'));
  expect(seen(late)).toContain('the subscription stays paused');
  expect(seen(late)).toContain('New period');
  const trial = await market.subscribe(plan, await market.cardholder(), { trial_days: 7 });
  const page = await member.read(`/subscriptions/${trial.id}/end-trial`);
  expectShown(page, await previewed(trial.id, 'end-trial'));
  expect(seen(page)).toContain('Charged now $30.00');
});
