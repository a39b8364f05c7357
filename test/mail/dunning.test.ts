// The mails to a customer whose renewal is not paid, by the test clock.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Club, DAY_MS, type Json } from '../http/subscriptions/subscribing.ts';
import { portalOf } from '../http/portal/customer.ts';
import { PATIENCE_MS, Shop } from '../payments/shop.ts';
import { NUMBERS } from '../support/means.ts';
import { UNHURRIED } from '../support/settling.ts';
import { until } from '../support/until.ts';
import { mailSettings, openPostOffice, type PostOffice } from './post-office.ts';

setDefaultTimeout(2 * PATIENCE_MS);

let office: PostOffice;
let club: Club;
beforeAll(async () => {
  office = await openPostOffice();
  const mail = mailSettings(office);
  const settings = { mail, ...UNHURRIED };
  club = new Club(await Shop.open({ deliver: true, settings }));
  await club.shop.server.call('PATCH', '/organization', { body: { timezone: 'Pacific/Auckland' } });
});
afterAll(async () => {
  await club.close();
  await office.stop();
});

const day = (at: number): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'Pacific/Auckland' }).format(at);

/** Kinds and texts of the mails to a customer, once nothing is in flight. */
async function told({ customer_email: to }: Json): Promise<readonly string[][]> {
  const { sql } = club.shop.server;
  await until('no mail is owed', async () => {
    const [owed] = await sql`select count(*)::int as count from mails where status = 'pending'`;
    return owed?.['count'] === 0;
  });
  await office.read();
  const mails = office.taken.filter(({ recipient }) => recipient === to);
  return mails.map(({ subject = '', text = '' }) => [
    subject.replace(/INV-\S+/, 'INV'),
    ...text.split('\n').filter((line) => /(?:tried again|blocked from|ends on)/.test(line)),
  ]);
}

test('dunning mails tell each failure, the block and the end, and nothing once it is paid', async () => {
  const plan = await club.plan({ interval: 'year' });
  const subscription = await club.signUp(plan, 'renewalFails');
  const failedAt = Date.parse(subscription.current_period_end);
  const after = (days: number): string => day(failedAt + days * DAY_MS);
  const warning = `While it is not paid, your access is blocked from ${after(14)} on, and your subscription ends on ${after(21)}.`;
  const failed = (next: number | null) => [
    '[Test] Your payment of $30.00 did not go through',
    next === null ? 'It is not tried again by itself.' : `It is tried again on ${after(next)}.`,
    warning,
  ];
  const receipt = ['[Test] Receipt INV from One'];
  expect(await told(subscription)).toEqual([receipt]);
  await club.advanceTo(failedAt);
  expect((await told(subscription)).slice(1)).toEqual([failed(1)]);
  for (const days of [1, 3, 7, 13]) await club.advanceTo(failedAt + days * DAY_MS);
  await club.advanceTo(failedAt + 14 * DAY_MS);
  const late = (await told(subscription)).slice(2);
  const blocked = [
    '[Test] Your access to Pro is blocked',
    `It is open again as soon as that is paid. While it is not, your subscription ends on ${after(21)}.`,
  ];
  const sorted = (mails: readonly string[][]) =>
    mails.map((mail) => mail.join('\n')).toSorted((a, b) => (a < b ? -1 : 1));
  expect(sorted(late)).toEqual(sorted([blocked, ...[3, 7, 13, 20].map(failed)]));
  await club.advanceTo(failedAt + 22 * DAY_MS);
  const all = await told(subscription);
  expect(all.filter(([subject]) => subject?.includes('has ended'))).toEqual([
    ['[Test] Your subscription to Pro has ended'],
  ]);
  expect(all.filter(([subject]) => subject?.includes('Receipt'))).toEqual([receipt]);
});

test('a customer without a payment method gets one dunning mail until it is blocked', async () => {
  const plan = await club.plan({ interval: 'year' });
  const to = 'nothing-left@example.com';
  const customer = (await club.post('/customers', { email: to })).json;
  await club.subscribe(plan, customer.id);
  const who = { customer_email: to };
  expect((await told(who)).map(([subject]) => subject)).toEqual([
    '[Test] Your payment of $30.00 did not go through',
  ]);
  await club.advance('P15D');
  expect((await told(who)).map(([subject]) => subject)).toEqual([
    '[Test] Your payment of $30.00 did not go through',
    '[Test] Your access to Pro is blocked',
  ]);
});

test('a dunning mail is not sent where the invoice was paid before it left', async () => {
  const plan = await club.plan({ interval: 'year' });
  const subscription = await club.signUp(plan, 'renewalFails');
  const { customer_email: to, id } = subscription;
  expect(await told(subscription)).toHaveLength(1);
  office.rcpt = (address) => (address === to ? 450 : 250);
  await club.advanceTo(subscription.current_period_end);
  await until('it was tried', () => office.named.filter((address) => address === to).length > 1);
  const portal = await portalOf(club.shop.server, subscription.customer_id);
  // The open invoice is tried at once.
  expect((await portal.saveCard(NUMBERS.good)).status).toBe(303);
  const owed = (await club.invoices(id)).at(-1);
  await until(
    'it is paid',
    async () => (await club.shop.read(`/invoices/${owed.id}`)).status === 'paid',
  );
  office.rcpt = () => 250;
  await club.shop.server
    .sql`update mails set next_at = now() where status = 'pending' and claim is null`;
  expect((await told(subscription)).map(([subject]) => subject)).toEqual(
    Array(2).fill('[Test] Receipt INV from One'),
  );
  const [dropped] = await club.shop.server.sql`
    select count(*)::int from mails where status = 'dropped' and invoice_id = ${owed.id}`;
  expect(dropped?.['count']).toBe(1);
});
