// What a customer used and was denied, on its page.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { type Member, memberOf } from './member.ts';
import { HOSTILE } from './samples.ts';

setDefaultTimeout(30_000);

let server: TestServer;
let member: Member;
beforeAll(async () => {
  server = await startServer();
  member = await memberOf(server, { role: 'read_only' });
  for (const slug of ['a-calls', 'b-calls', 'c-calls', 'd-calls']) await make('/meters', { slug });
  await make('/meters', { slug: 'z-seats', aggregation: 'max', value_property: 'seats' });
  await make('/meters', { slug: 'y-jobs', unit: HOSTILE.slice(0, 40), aggregation: 'count' });
  await make('/meters', { slug: 'x-sso' });
});
afterAll(() => server.stop());

async function make(path: string, body: object): Promise<string> {
  const { status, text, json } = await server.call('POST', path, { body });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return json.id;
}

const aCustomer = () => make('/customers', {});

async function track(customer_id: string, feature_key: string, fields: object = {}) {
  const body = { customer_id, feature_key, ...fields };
  const { status, text } = await server.call('POST', '/track', { body });
  if (status !== 200) throw new Error(`${status} ${text}`);
}

/** The charts of a page, by their ids: the titles of the bars. */
function chartsOf(page: string): Record<string, string[]> {
  const charts = page.matchAll(/<figure class="chart" id="usage-([\w-]+)"[\s\S]*?<\/figure>/g);
  return Object.fromEntries(
    [...charts].map(([figure, slug = '']) => {
      const titles = [...figure.matchAll(/<title>([^<]*)<\/title>/g)];
      return [slug, titles.map(([, title = '']) => title)];
    }),
  );
}

/** The text of a page, without its markup. */
const textOf = (page: string) =>
  page
    .replace(/<(style|script)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

test('the usage page of a customer who used nothing and was denied nothing is empty', async () => {
  const text = textOf(await member.read(`/customers/${await aCustomer()}`));
  expect(text).toContain('No metered features.');
  expect(text).toContain('No recent denials.');
});

test('the usage page of a customer charts acknowledged usage by day and by hour', async () => {
  const customer = await aCustomer();
  await track(customer, 'a-calls', { value: 1234.5 });
  const page = await member.read(`/customers/${customer}`);
  const { 'a-calls': days = [] } = chartsOf(page);
  expect(days).toHaveLength(30);
  expect(days.at(-1)).toEndWith(': 1,234.5');
  expect(days.filter((title) => !title.endsWith(': 0'))).toHaveLength(1);
  expect(page).toContain('id="usage" data-live');
  await track(customer, 'a-calls', { value: 0.5 });
  const [, link = ''] = /href="(\?usage_by=hour)"/.exec(page) ?? [];
  const { 'a-calls': hours = [] } = chartsOf(await member.read(`/customers/${customer}${link}`));
  expect(hours).toHaveLength(24);
  expect(hours.at(-1)).toMatch(/^\d+ \w+,? \d\d:00: 1,235$/);
});

test('a day of the usage page begins in the zone of the organization', async () => {
  const customer = await aCustomer();
  const zone = 'Pacific/Kiritimati';
  const patch = { body: { timezone: zone } };
  expect((await server.call('PATCH', '/organization', patch)).status).toBe(200);
  await track(customer, 'a-calls');
  const { 'a-calls': days = [] } = chartsOf(await member.read(`/customers/${customer}`));
  const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: zone });
  expect(days.at(-1)).toBe(`${today.format(new Date())}: 1`);
});

test('the usage page charts a few features; those without bins say so, unused grants have none', async () => {
  const customer = await aCustomer();
  const features = ['a-calls', 'b-calls', 'c-calls', 'd-calls', 'y-jobs'];
  for (const feature of features) await track(customer, feature);
  await track(customer, 'z-seats', { value: 4 });
  const sso = { feature_key: 'x-sso', boolean: true, reason: 'plan' };
  await server.call('POST', `/customers/${customer}/grants`, { body: sso });
  const first = await member.read(`/customers/${customer}`);
  expect(Object.keys(chartsOf(first))).toEqual(['a-calls', 'b-calls', 'c-calls']);
  const [, next = ''] = /rel="next" href="(\?usage_after=[^"]*)"/.exec(first) ?? [];
  const second = await member.read(`/customers/${customer}${next}`);
  expect(Object.keys(chartsOf(second))).toEqual(['d-calls', 'y-jobs']);
  expect(textOf(second)).toContain('No chart of z-seats: its aggregation is max');
  expect(second).not.toContain('<script>alert');
  expect(second).toContain('&lt;script&gt;');
  for (const odd of ['usage_after=%00', 'usage_after=~', 'usage_by=year']) {
    expect((await member.get(`/customers/${customer}?${odd}`)).status).toBe(200);
  }
});

test("while old usage is being added up the rest of the customer's page is shown", async () => {
  const customer = await aCustomer();
  await track(customer, 'a-calls');
  await track(customer, 'b-calls');
  await server.sql`insert into usage_backfills (relation, page) values ('none', 0)`;
  const before = server.logged.length;
  try {
    const page = await member.read(`/customers/${customer}`);
    expect(chartsOf(page)).toEqual({});
    expect(textOf(page)).toContain('Usage of b-calls is not available yet');
    // One is asked for, and again while it fails: each that waits would delay the page.
    const asked = server.logged.slice(before).filter((line) => line.includes('"/usage"'));
    expect(asked.length).toBeWithin(1, 5);
  } finally {
    await server.sql`delete from usage_backfills where relation = 'none'`;
  }
});

test("the customer's page lists denials newest first, with explanations, whatever was recorded since", async () => {
  const customer = await aCustomer();
  for (const value of [7, 8]) {
    const body = { customer_id: customer, feature_key: 'a-calls', value };
    expect((await server.call('POST', '/check', { body })).json.allowed).toBe(false);
  }
  await server.flush();
  const grant = { feature_key: 'b-calls', amount: 99 };
  await server.call('POST', `/customers/${customer}/grants`, { body: grant });
  for (let n = 0; n < 30; n += 1) await track(customer, 'b-calls');
  const page = await member.read(`/customers/${customer}`);
  const [denials = ''] = /<div id="denials" data-live[\s\S]*?<\/div>/.exec(page) ?? [];
  const text = textOf(denials);
  expect(text).toContain('The customer had no grant of this feature');
  expect(text.indexOf(' 8 ')).toBeLessThan(text.indexOf(' 7 '));
  const [, to = ''] = /href="[^"]*(\/why\?[^"]*)"/.exec(denials) ?? [];
  const why = textOf(await member.read(to.replaceAll('&amp;', '&')));
  expect(why).toContain('Denied at');
  expect(why).toContain('A check of 8 a-calls');
});
