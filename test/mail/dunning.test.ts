// The mails to a customer whose renewal is not paid, by the test clock.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Club, DAY_MS, type Json } from '../http/subscriptions/subscribing.ts';
import { portalBy, portalOf } from '../http/portal/customer.ts';
import { PATIENCE_MS, Shop } from '../payments/shop.ts';
import { NUMBERS } from '../support/means.ts';
import { tell } from '../../src/platform/postgres/tell.ts';
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

/** The pause after a failed try is over. */
async function dueNow(to: string): Promise<void> {
  const { sql } = club.shop.server;
  await sql`update mails set next_at = now() where recipient = ${to} and claim is null`;
  tell(sql, 'tollhouse_mails');
}

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
    ...text
      .split('\n')
      .filter((line) => /(?:next attempt|not retried|blocked on|ends on)/.test(line)),
  ]);
}

test('dunning mails tell each failure, the block and the end, and nothing once it is paid', async () => {
  const plan = await club.plan({ interval: 'year' });
  const subscription = await club.signUp(plan, 'renewalFails');
  const failedAt = Date.parse(subscription.current_period_end);
  const after = (days: number): string => day(failedAt + days * DAY_MS);
  const warning = `If it stays unpaid, your access is blocked on ${after(14)}, and your subscription ends on ${after(21)}.`;
  const failed = (next: number | null) => [
    '[Test] Your payment of $30.00 did not go through',
    next === null
      ? 'The charge is not retried automatically.'
      : `The next attempt is on ${after(next)}.`,
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
    `Access returns as soon as it is paid. If it stays unpaid, your subscription ends on ${after(21)}.`,
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

test('a customer whose pause ends without a payment method gets the mail of a failed renewal', async () => {
  const plan = await club.plan({ interval: 'year' });
  const to = 'paused-without@example.com';
  const customer = (await club.post('/customers', { email: to })).json;
  const { id } = await club.subscribe(plan, customer.id, { trial_days: 5 });
  const at = new Date((await club.now()) + 10 * DAY_MS).toISOString();
  await club.act(id, 'pause', { resumes_at: at });
  await club.advanceTo(at);
  expect((await told({ customer_email: to })).map(([subject]) => subject)).toEqual([
    '[Test] Your payment of $30.00 did not go through',
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
  await dueNow(to);
  expect((await told(subscription)).map(([subject]) => subject)).toEqual(
    Array(2).fill('[Test] Receipt INV from One'),
  );
  const [dropped] = await club.shop.server.sql`
    select count(*)::int from mails where status = 'dropped' and invoice_id = ${owed.id}`;
  expect(dropped?.['count']).toBe(1);
});

test('the mail of a failed renewal has a link that replaces the card, and one token for all its tries', async () => {
  const plan = await club.plan({ interval: 'year' });
  const subscription = await club.signUp(plan, 'renewalFails');
  const { customer_email: to, customer_id: customer, id } = subscription;
  const { server } = club.shop;
  const receipt = (await office.to(to))[0];
  expect(receipt?.text).not.toContain('/portal/');
  // The server takes it, and its answer is lost.
  office.data = (address) => (address === to ? 450 : 250);
  await club.advanceTo(subscription.current_period_end);
  const tokens = () => server.sql`
    select extract(epoch from expires_at - created_at)::int as "ttlS" from portal_tokens where customer_id = ${customer}`;
  await until('it was tried', async () => (await tokens()).length > 0);
  await until('it is due again', async () => {
    const rows = await server.sql`
      select from mails where recipient = ${to} and status = 'pending' and claim is null and attempts > 0`;
    return rows.length > 0;
  });
  office.data = () => 250;
  await dueNow(to);
  const [, mail] = await office.to(to, 2);
  const link = /^Use another payment method: (\S+)$/m.exec(mail?.text ?? '')?.[1] ?? '';
  expect(mail?.html).toContain(`<a href="${link}">Use another payment method</a>`);
  expect(mail?.text).toContain('for 14 days');
  // Made once, however often it was tried; it expires, and only its hash is there.
  expect([...(await tokens())]).toEqual([{ ttlS: 14 * 86_400 }]);
  const { pathname } = new URL(link);
  const token = pathname.split('/')[2] ?? '';
  expect(pathname).toBe(`/portal/${token}/payment-method`);
  expect(server.logged.join('')).not.toContain(token);
  const form = await server.call('GET', pathname, { key: null });
  expect([form.status, form.text]).toEqual([200, expect.stringContaining('name="attempt"')]);
  await opensNothingElse(id, token);
  await pays(customer, id, token);
  // The receipts have none.
  const mails = await office.to(to, 3);
  expect(mails.at(-1)?.text).not.toContain('/portal/');
});

/** Whoever has the mail may pay: it leads to no account. */
async function opensNothingElse(id: string, token: string): Promise<void> {
  const { server } = club.shop;
  const at = (path: string) => `/portal/${token}${path}`;
  const { json } = await server.call('GET', '/openapi.json', { key: null });
  const [invoice] = await club.invoices(id);
  const refused: string[] = [];
  for (const [path, methods] of Object.entries<object>(json.paths)) {
    if (!path.startsWith('/portal/{token}')) continue;
    const there = path
      .replace('/portal/{token}', '')
      .replace('{id}', invoice.id)
      .replace('{feature_key}', 'f');
    for (const method of Object.keys(methods)) {
      if (there === '/payment-method') continue;
      const body = { subscription_id: id };
      const options = { key: null, ...(method === 'post' && { body }) };
      const { status, text } = await server.call(method.toUpperCase(), at(there), options);
      expect([there, method, status]).toEqual([there, method, 403]);
      expect(text).not.toMatch(/INV-|One/);
      refused.push(there);
    }
  }
  expect(refused.length).toBeGreaterThan(12);
  expect(await club.subscription(id)).toMatchObject({
    status: 'active',
    cancel_at_period_end: false,
  });
  const { text } = await server.call('GET', at('/payment-method'), { key: null });
  expect(text).not.toContain(`href="${at('')}"`);
}

/** By the token of the mail, and with it the open invoice. */
async function pays(customer: string, id: string, token: string): Promise<void> {
  const portal = portalBy(club.shop.server, { customer, token, tokenId: '' });
  const { status, headers } = await portal.saveCard(NUMBERS.good);
  const done = headers.get('location') ?? '';
  expect([status, done]).toEqual([303, `/portal/${token}/payment-method?done=method_replaced`]);
  const page = await club.shop.server.call('GET', done, { key: null });
  expect([page.status, page.text]).toEqual([
    200,
    expect.stringContaining('The payment method was replaced.'),
  ]);
  const owed = (await club.invoices(id)).at(-1);
  await until('it is paid', async () => {
    return (await club.shop.read(`/invoices/${owed.id}`)).status === 'paid';
  });
}

test('no link goes to an address that the customer no longer has', async () => {
  const plan = await club.plan({ interval: 'year' });
  const subscription = await club.signUp(plan, 'renewalFails');
  const { customer_email: to, customer_id: customer } = subscription;
  const { server } = club.shop;
  await office.to(to);
  office.rcpt = (address) => (address === to ? 450 : 250);
  await club.advanceTo(subscription.current_period_end);
  await until('it was tried', () => office.named.filter((address) => address === to).length > 1);
  // As if it had never been written before.
  await server.sql`delete from portal_tokens where customer_id = ${customer}`;
  const body = { email: `other-${to}` };
  expect((await server.call('PATCH', `/customers/${customer}`, { body })).status).toBe(200);
  office.rcpt = () => 250;
  await until('it is sent', async () => {
    await dueNow(to);
    return office.taken.filter(({ recipient }) => recipient === to).length > 1;
  });
  const [, mail] = await office.to(to, 2);
  expect(mail?.text).not.toContain('/portal/');
  expect(mail?.text).toContain('To use another payment method, contact One');
});
