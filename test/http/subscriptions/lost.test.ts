// Renewals whose charge or answer is lost on its way: in the end there is one charge, and periods
// go on meanwhile.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { GOOD, portalOf } from '../portal/customer.ts';
import { Club, type Json } from './subscribing.ts';

setDefaultTimeout(60_000);

const LOSES_REQUEST = '4000000000001018';

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

/** A trial of a week, by a customer whose charges never arrive. */
async function inTrial(): Promise<Json> {
  const customer = await club.customer();
  await saveCard(customer, LOSES_REQUEST);
  return club.subscribe(await club.plan(), customer, { trial_days: 7 });
}

async function saveCard(customer: string, number: string): Promise<void> {
  const portal = await portalOf(club.shop.server, customer);
  expect((await portal.saveCard(number)).status).toBe(303);
}

const statusesOf = async (id: string): Promise<string[]> =>
  (await club.payments(id)).map(({ status }) => status);

async function chargesOf(id: string): Promise<number> {
  const [row] = await club.shop.server.sql<{ count: number }[]>`
    select count(*)::int as count from sandbox_charges c join payments p on p.id::text = c.key
    where p.subscription_id = ${id} and c.status = 'succeeded'`;
  return row!.count;
}

test("a subscription's charge whose answer is lost is looked up, and found charged", async () => {
  const session = await club.checkout(await club.plan());
  const { subscription_id: id } = await club.pay(session, 'answerLost');
  await club.advance('PT1M');
  expect(await statusesOf(id)).toEqual(['succeeded']);
  await club.advance('P1M');
  expect(await statusesOf(id)).toEqual(['succeeded', 'succeeded']);
  expect(await chargesOf(id)).toBe(2);
});

test("a subscription's charge that is lost is given up and retried later, or by a new card at once", async () => {
  const { id, customer_id: customer } = await inTrial();
  await club.advance('P10D');
  // On the first day, and on the second.
  expect(await statusesOf(id)).toEqual(['errored', 'errored']);
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'warning' });
  await saveCard(customer, GOOD);
  expect(await statusesOf(id)).toEqual(['errored', 'errored', 'succeeded']);
  expect(await chargesOf(id)).toBe(1);
  const [invoice] = await club.invoices(id);
  expect(invoice).toMatchObject({ status: 'paid', amount_due: '0.00' });
  expect(await club.subscription(id)).toMatchObject({ overdue_state: 'clear' });
});

test('a subscription all of whose charges are lost is ended by dunning', async () => {
  const { id } = await inTrial();
  await club.advance('P2M');
  expect((await statusesOf(id)).every((status) => status === 'errored')).toBe(true);
  expect(await club.subscription(id)).toMatchObject({ status: 'canceled' });
  expect((await club.types(id)).at(-1)).toBe('subscription.expired');
  expect(await chargesOf(id)).toBe(0);
});
