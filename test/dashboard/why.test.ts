// The page that answers "why was this customer denied?", as a member of support uses it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { faultIn, type Member, memberOf } from './member.ts';
import { HOSTILE } from './samples.ts';

setDefaultTimeout(30_000);

let server: TestServer;
let member: Member;
beforeAll(async () => {
  server = await startServer();
  member = await memberOf(server, { role: 'support' });
  await make('/meters', { slug: 'api-calls' });
  const zone = { timezone: 'Asia/Kolkata' };
  expect((await server.call('PATCH', '/organization', { body: zone })).status).toBe(200);
});
afterAll(() => server.stop());

async function make(path: string, body: object): Promise<string> {
  const { status, text, json } = await server.call('POST', path, { body });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return json.id;
}

/** A customer who has used all of 1000, and is denied under this request id. */
async function denied(external: string, requestId: string): Promise<string> {
  const customer = await make('/customers', { external_customer_id: external });
  await make(`/customers/${customer}/grants`, { feature_key: 'api-calls', amount: 1000 });
  const body = { customer_id: customer, feature_key: 'api-calls' };
  await server.call('POST', '/track', { body: { ...body, value: 1000 } });
  const headers = { 'x-request-id': requestId };
  const check = await server.call('POST', '/check', { body, headers });
  expect(check.json.allowed).toBe(false);
  await server.flush();
  return customer;
}

/** The text of a page, without its markup. */
const textOf = (page: string) =>
  page
    .replace(/<(style|script)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

const ask = (query: Record<string, string>) =>
  member.read(`/why?${new URLSearchParams(query).toString()}`);

test('the page Why without a query asks for one', async () => {
  const page = await member.read('/why');
  expect(textOf(page)).toContain('Request id, event id or key');
  expect(page).not.toContain('Denied');
});

test('the page Why explains a request id: the sentence first, the balance, the grants, the links', async () => {
  const customer = await denied('user-1', 'seen-in-a-log');
  const page = await ask({ search: ' seen-in-a-log ' });
  const text = textOf(page);
  expect(text).toMatch(
    /Denied at .{5,40}, api-calls: Nothing was left: 1000 of 1000 were used\. 1 was asked for\./,
  );
  expect(text.indexOf('Denied')).toBeLessThan(text.indexOf('By id or key'));
  expect(text).toContain('1,000 of 1,000');
  expect(text).toContain('pays first');
  expect(page).toContain(`href="${member.base}/customers/${customer}"`);
});

test("the page Why explains units that could not be reserved, and the customer's page shows held ones", async () => {
  const customer = await denied('user-holds', 'before');
  const body = { feature_key: 'api-calls', external_customer_id: 'user-holds' };
  await server.call('POST', '/customers/user-holds/grants', {
    body: { feature_key: 'api-calls', amount: 7 },
  });
  const reserve = (amount: number, id: string) =>
    server.call('POST', '/reservations', {
      body: { ...body, amount },
      headers: { 'x-request-id': id },
    });
  expect([(await reserve(5, 'held')).status, (await reserve(3, 'not-held')).status]).toEqual([
    201, 402,
  ]);
  await server.flush();
  const text = textOf(await ask({ search: 'not-held' }));
  expect(text).toContain('Reservation of 3 api-calls');
  expect(text).toContain('Denied');
  const shown = textOf(await member.read(`/customers/${customer}`));
  expect(shown).toMatch(/Reserved\s+5\b/);
});

test('the page Why explains a customer and a time, in the zone of the organization, to the minute', async () => {
  await denied('user-2', 'unseen');
  const now = Temporal.Now.zonedDateTimeISO('Asia/Kolkata');
  const at = now.toPlainDateTime().toString({ smallestUnit: 'minute' });
  const text = textOf(await ask({ customer: 'user-2', at, feature_key: 'api-calls' }));
  expect(text).toContain('Denied at');
  expect(text).toContain('Nearby decisions');
  expect(textOf(await ask({ customer: 'user-2', at }))).toContain('Denied at');
  // What is newest, where no time is given.
  expect(textOf(await ask({ customer: 'user-2' }))).toContain('Denied at');
});

test('the page Why explains the id of an event, and a key with its customer', async () => {
  const customer = await denied('user-3', 'other');
  const body = { customer_id: customer, feature_key: 'api-calls', idempotency_key: 'order-17' };
  const { json } = await server.call('POST', '/track', { body });
  expect(textOf(await ask({ search: json.id }))).toContain('Recorded at');
  const named = { search: 'order-17', customer: 'user-3' };
  expect(textOf(await ask(named))).toMatch(/Recorded at .* 1001 of 1000 were used after it\./);
  expect(textOf(await ask({ search: 'order-17' }))).toContain('No decision found');
});

test('the page Why links each nearby decision to its own explanation', async () => {
  await denied('user-4', 'beside');
  const now = Temporal.Now.zonedDateTimeISO('Asia/Kolkata').toPlainDateTime();
  const at = now.toString({ smallestUnit: 'second' });
  const page = await ask({ customer: 'user-4', at });
  const [, to = ''] = /href="[^"]*(\/why\?search=[^"]*)"/.exec(page) ?? [];
  expect(textOf(await member.read(to.replaceAll('&amp;', '&')))).toContain('Recorded at');
});

test('the page Why leads from the id of another object to its page', async () => {
  const customer = await make('/customers', {});
  const page = await ask({ search: customer });
  expect(textOf(page)).toContain('This is about a customer');
  expect(page).toContain(`href="${member.base}/customers/${customer}"`);
});

test('the page Why says that it found nobody, nothing, or an invalid query', async () => {
  expect(textOf(await ask({ search: 'unknown' }))).toContain('No decision found');
  const at = '2026-11-23T14:03';
  expect(textOf(await ask({ customer: 'nobody', at }))).toContain('There is no such customer');
  expect(textOf(await ask({ customer: 'a@b.example', at }))).toContain('There is no such customer');
  const customer = await make('/customers', { external_customer_id: 'user-5' });
  expect(customer).toBeString();
  const feature = { customer: 'user-5', at, feature_key: 'none' };
  expect(textOf(await ask(feature))).toContain('There is no such customer or feature');
  expect(faultIn(await ask({ customer: 'user-5', at: 'tomorrow' }))).toBeString();
  expect(faultIn(await ask({ search: 'a\0b' }))).toBeString();
  const long = 'x'.repeat(300);
  expect(textOf(await ask({ search: long }))).toContain('No decision found');
  expect(faultIn(await ask({ search: long, customer: 'user-5' }))).toBeString();
});

test('the page Why escapes whatever is in a name', async () => {
  const customer = await denied(HOSTILE, 'hostile');
  const reason = { feature_key: 'api-calls', amount: 1, reason: HOSTILE };
  await make(`/customers/${customer}/grants`, reason);
  const body = { customer_id: customer, feature_key: 'api-calls', value: 5 };
  await server.call('POST', '/check', { body, headers: { 'x-request-id': 'hostile-2' } });
  await server.flush();
  for (const query of [
    { search: 'hostile-2' },
    { search: HOSTILE },
    { customer: HOSTILE, at: HOSTILE },
    { customer, instant: HOSTILE, feature_key: HOSTILE },
  ]) {
    expect(await ask(query as Record<string, string>)).not.toContain('<script>alert');
  }
  expect(await ask({ search: 'hostile-2' })).toContain('&lt;script&gt;alert');
});

test('the page Why finds nothing for a member of another organization', async () => {
  const customer = await denied('user-6', 'private');
  const stranger = await memberOf(server, { organisationId: server.other.id });
  const read = async (query: string) => textOf(await stranger.read(`/why?${query}`));
  expect(await read('search=private')).toContain('No decision found');
  expect(await read(`search=${customer}`)).toContain('No decision found');
  expect(await read('customer=user-6&at=2026-11-23T14:03')).toContain('no such customer');
  const page = `/dashboard/${server.organisation.id}/test/why`;
  expect((await stranger.tab.get(page)).status).toBe(404);
});
