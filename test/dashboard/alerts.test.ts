// Alerts in the dashboard: made and deleted on the pages of a meter and of a customer, and what has
// fired beside the balance.
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
});
afterAll(() => server.stop());

const make = async (path: string, body: object) => {
  const { status, json, text } = await server.call('POST', path, { body });
  if (status >= 300) throw new Error(text);
  return json;
};

/** Opens the page, and sends its form with its token and its key. */
async function submit(path: string, fields: Record<string, string>) {
  const shown = await owner.get(base + path);
  expect([path, shown.status]).toEqual([path, 200]);
  const hidden = (name: string) =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(shown.text)?.[1] ?? '';
  return owner.post(base + path, { _token: hidden('_token'), _key: hidden('_key'), ...fields });
}

const textOf = async (path: string): Promise<string> =>
  (await owner.get(base + path)).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('the dashboard makes an alert on a meter for each customer, on a customer for it alone', async () => {
  const meter = await make('/meters', { slug: 'calls' });
  const customer = await make('/customers', { external_customer_id: 'user-1' });
  await make(`/customers/${customer.id}/grants`, { feature_key: 'calls', amount: 10 });
  await submit(`/meters/${meter.id}/alert`, { type: 'usage_percentage', threshold: '80' });
  await submit(`/customers/${customer.id}/alert`, {
    feature_key: 'calls',
    type: 'remaining',
    threshold: '2.5',
  });
  const ofMeter = await textOf(`/meters/${meter.id}`);
  expect(ofMeter).toContain('80 % used each customer');
  expect(ofMeter).toContain('2.5 left user-1');
  const before = await textOf(`/customers/${customer.id}`);
  expect(before).toContain('calls 80 % used armed each customer');
  expect(before).toContain('calls 2.5 left armed this customer');
  expect(before).not.toContain('Triggered alerts');
  await make('/track', { feature_key: 'calls', customer_id: customer.id, value: 8 });
  const after = await textOf(`/customers/${customer.id}`);
  expect(after).toContain('Triggered alerts 80 % used, 2.5 left');
  expect(after).toContain('calls 80 % used fired each customer');

  const { data } = (await server.call('GET', '/alerts')).json;
  for (const { id } of data) await submit(`/alerts/${id}/delete`, {});
  expect((await server.call('GET', '/alerts')).json.data).toEqual([]);
  expect(await textOf(`/customers/${customer.id}`)).toContain('No alerts yet.');
});

test("the dashboard's alert form shows an invalid threshold's error beside it", async () => {
  const meter = await make('/meters', { slug: 'seats' });
  const wrong = await submit(`/meters/${meter.id}/alert`, { type: 'usage', threshold: '0' });
  expect([wrong.status, wrong.text]).toEqual([
    400,
    expect.stringContaining('must be greater than zero'),
  ]);
});
