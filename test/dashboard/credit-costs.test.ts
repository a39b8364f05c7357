// Credit costs in the dashboard: given to a new meter and to one that is there, shown, and taken
// away.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { aMember, signedIn, type Tab } from '../http/people/tab.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let owner: Tab;
let base: string;
beforeAll(async () => {
  server = await startServer();
  base = `/dashboard/${server.organisation.id}/test`;
  owner = await signedIn(server, await aMember(server, 'owner'));
  for (const slug of ['chat', 'image', 'calls']) {
    await server.call('POST', '/meters', { body: { slug, scale: 0 } });
  }
});
afterAll(() => server.stop());

/** Every field as it stands in the form; what is named is typed over it. */
async function submit(path: string, fields: Record<string, string>, without = /^$/) {
  const { text } = await owner.get(base + path);
  const filled = [...text.matchAll(/<input\s[^>]*?name="([^"]+)"[^>]*?value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  const kept = filled.filter(([name]) => !without.test(name));
  return owner.post(base + path, { ...Object.fromEntries(kept), ...fields });
}

const read = async (slug: string) => (await server.call('GET', `/meters/${slug}`)).json;

const textOf = async (path: string): Promise<string> =>
  (await owner.get(base + path)).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test("the dashboard makes a meter's credit costs, then changes them: the form keeps them", async () => {
  const made = {
    slug: 'credits',
    aggregation: 'sum',
    'credit_costs.0.feature_key': 'chat',
    'credit_costs.0.cost': '0.5',
  };
  // What is not ticked is not sent.
  await submit('/meters/new', made, /^carry/);
  const pool = await read('credits');
  expect(pool).toMatchObject({ scale: 9, credit_costs: [{ feature_key: 'chat', cost: '0.5' }] });
  expect(await textOf(`/meters/${pool.id}`)).toContain('Pays for chat : 0.5 a unit');
  await submit(`/meters/${pool.id}/edit`, {
    name: 'Credits',
    status: 'active',
    // A row between is left empty.
    'credit_costs.2.feature_key': 'image',
    'credit_costs.2.cost': '12',
  });
  expect(await read('credits')).toMatchObject({
    name: 'Credits',
    credit_costs: [
      { feature_key: 'chat', cost: '0.5' },
      { feature_key: 'image', cost: '12' },
    ],
  });
  // A form that was opened before it had them says nothing of them.
  await submit(`/meters/${pool.id}/edit`, { name: 'Pool' }, /^credit_costs/);
  expect(await read('credits')).toMatchObject({ name: 'Pool', credit_costs: { length: 2 } });
  await submit(`/meters/${pool.id}/edit`, {
    'credit_costs.0.feature_key': '',
    'credit_costs.0.cost': '',
    'credit_costs.1.feature_key': '',
    'credit_costs.1.cost': '',
  });
  expect((await read('credits')).credit_costs).toEqual([]);
});

test("the dashboard's credit cost form shows an error beside its field", async () => {
  const { json } = await server.call('POST', '/meters', { body: { slug: 'spare' } });
  const { id } = json;
  const { status, text } = await submit(`/meters/${id}/edit`, {
    'credit_costs.0.feature_key': 'calls',
    'credit_costs.0.cost': '0',
  });
  expect([status, (await read('spare')).credit_costs]).toEqual([400, []]);
  expect(text).toContain('id="f-credit_costs.0.cost-error"');
});

test('the dashboard has no credit cost fields for a meter that does not sum', async () => {
  const { json } = await server.call('POST', '/meters', {
    body: { slug: 'peak', aggregation: 'max' },
  });
  expect(await textOf(`/meters/${json.id}/edit`)).not.toContain('Credits');
  await submit(`/meters/${json.id}/edit`, { name: 'Peak' });
  expect((await read('peak')).name).toBe('Peak');
});

test("the dashboard's customer page shows what a credit pool pays for", async () => {
  await server.call('POST', '/meters', { body: { slug: 'minutes', scale: 0 } });
  const costs = [{ feature_key: 'minutes', cost: '2' }];
  await server.call('POST', '/meters', { body: { slug: 'coins', credit_costs: costs } });
  const { json } = await server.call('POST', '/customers', { body: {} });
  const grant = { feature_key: 'minutes', amount: 3 };
  await server.call('POST', `/customers/${json.id}/grants`, { body: grant });
  const use = (value: number) =>
    server.call('POST', '/track', {
      body: { feature_key: 'minutes', customer_id: json.id, value },
    });
  await use(2);
  expect(await textOf(`/customers/${json.id}`)).not.toContain('coins');
  await use(6);
  const text = await textOf(`/customers/${json.id}`);
  expect(text).toContain('Overage 5, which coins pays');
  expect(text).toContain('The next use takes from coins');
});
