// A spend cap is on disk when it is answered, and what is not yet on disk leaves no more of it.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { postTo, Setting, restart } from '../metering/setting.ts';
import { UNHURRIED } from '../../support/settling.ts';

setDefaultTimeout(2 * PATIENCE_MS);

async function made(setting: Setting, path: string, body: object): Promise<string> {
  const { status, text, json } = await setting.post(path, body);
  if (status !== 201) throw new Error(`${status} ${text}`);
  return json.id;
}

test('a spend cap is as it was after its node dies', async () => {
  const setting = await Setting.open({ alone: true, settings: UNHURRIED });
  await setting.meter('calls');
  const prices = [{ amount: '0.00', currency: 'USD', type: 'recurring', interval: 'month' }];
  const product = await made(setting, '/products', { name: 'Calls', prices });
  const price = { currency: 'USD', model: 'per_unit', unit_amount: '0.01' };
  await made(setting, `/products/${product}/usage-prices`, { feature_key: 'calls', ...price });
  const customer = await setting.customer();
  await made(setting, '/subscriptions', { customer_id: customer, product_id: product });
  const endpoint = { url: 'https://hooks.example/a', event_types: ['*'] };
  await made(setting, '/webhook-endpoints', endpoint);
  const path = `/customers/${customer}/spend-cap`;
  const body = { amount: '0.05', currency: 'USD' };
  expect((await setting.server.call('PUT', path, { body })).status).toBe(200);
  await setting.track(customer, 'calls', { value: 5 });

  const again = await restart(setting);
  try {
    const key = setting.server.organisation.testKey;
    const ask = { customer_id: customer, feature_key: 'calls' };
    const checked = await postTo(again.url, key, { path: '/check', body: ask });
    expect([checked.json.allowed, checked.json.reason]).toEqual([false, 'spend_cap']);
    const rejected = { ...ask, overage: 'reject' };
    expect((await postTo(again.url, key, { path: '/track', body: rejected })).status).toBe(402);
  } finally {
    await again.stop();
  }
  const { sql } = setting.server;
  // It was announced before the restart, and not again after it.
  const [told] =
    await sql`select count(*)::int from events where type = 'customer.spend_cap_reached'`;
  expect(told!['count']).toBe(1);
  expect(await audit(sql)).toEqual([]);
  await setting.stop();
});
