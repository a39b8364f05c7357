// The pages of keys, settings and the test clock.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { enrolled } from '../http/people/tab.ts';
import { type Member, faultIn, memberOf } from './member.ts';

let server: TestServer;
let member: Member;
beforeAll(async () => {
  server = await startServer();
  member = await memberOf(server);
});
afterAll(() => server.stop());

const read = async (path: string) => (await server.call('GET', path)).json;
const keyIn = (page: string) => /class="secret">[\s\S]*?<\/span\s*>([\w-]+)/.exec(page)?.[1] ?? '';
const keys = async () => (await read('/api-keys?limit=200')).data;

test('the dashboard makes an API key, shows it once, and it has its scopes', async () => {
  const { text } = await member.act('/keys/new', { name: 'Reports', scopes: 'read' });
  const key = keyIn(text);
  expect((await server.call('GET', '/organization', { key })).status).toBe(200);
  expect((await server.call('POST', '/customers', { key, body: {} })).status).toBe(403);
  const list = await member.read('/keys');
  expect(list).toContain('Reports');
  expect(list).toContain(key.slice(-4));
  expect(list).not.toContain(key);
  const [{ created_by: maker }] = await keys();
  expect(maker).toEqual({ kind: 'user', id: expect.any(String), label: expect.any(String) });
  expect((await read('/members')).data).toContainEqual(
    expect.objectContaining({ user_id: maker.id, email: maker.label }),
  );
  expect(list).toContain(maker.label);
});

test('an API key made in the dashboard expires at a time in the zone of the organisation', async () => {
  await server.call('PATCH', '/organization', { body: { timezone: 'Asia/Tokyo' } });
  await member.act('/keys/new', {
    name: 'Until',
    scopes: 'all',
    expires_at: '2100-01-01T09:00:00',
  });
  expect((await keys())[0].expires_at).toBe('2100-01-01T00:00:00.000Z');
  expect(await member.read('/keys')).toContain('1 Jan 2100, 09:00:00');
  await server.call('PATCH', '/organization', { body: { timezone: 'UTC' } });
  const past = await member.send('/keys/new', { scopes: 'all', expires_at: '2001-01-01T00:00' });
  expect([past.status, faultIn(past.text)]).toEqual([400, expect.any(String)]);
  expect(past.text).toContain('value="2001-01-01T00:00"');
});

test('the dashboard rotates and revokes an API key', async () => {
  const key = keyIn((await member.act('/keys/new', { name: 'Old', scopes: 'all' })).text);
  const [{ id }] = await keys();
  const next = keyIn((await member.act(`/keys/${id}/rotate`, { overlap_seconds: '3600' })).text);
  const opens = async (one: string) =>
    (await server.call('GET', '/organization', { key: one })).status;
  expect([await opens(key), await opens(next)]).toEqual([200, 200]);
  await member.act(`/keys/${id}/revoke`);
  expect([await opens(key), await opens(next)]).toEqual([401, 200]);
  expect(await member.read('/keys')).not.toContain(`/keys/${id}/revoke`);
  const again = await member.send(`/keys/${id}/rotate`, { overlap_seconds: '0' });
  expect([again.status, faultIn(again.text)]).toEqual([409, 'this key has ended']);
});

test('in live mode the dashboard asks for a code before keys and the processor', async () => {
  const live = await memberOf(server, { mode: 'live' });
  const risky = [
    ['/keys/new', { scopes: 'all' }],
    ['/settings/processor', { secret_key: 'sk_live_x' }],
  ] as const;
  for (const [path, fields] of risky) {
    const reply = await live.send(path, fields);
    expect([path, reply.status, reply.headers.get('location')]).toEqual([
      path,
      303,
      '/dashboard/account?enroll=1',
    ]);
  }
  const made = async () =>
    (await server.call('GET', '/api-keys', { key: server.organisation.liveKey })).json.data.length;
  const before = await made();
  await live.tab.get('/dashboard/account');
  await enrolled(live.tab);
  expect(keyIn((await live.act('/keys/new', { name: 'Live', scopes: 'all' })).text)).not.toBe('');
  expect(await made()).toBe(before + 1);
});

test('the dashboard changes the organisation; a field left empty is cleared', async () => {
  await member.act('/settings/organization', {
    name: 'Acme & <Sons>',
    timezone: 'Europe/Vienna',
    'seller.name': 'Acme GmbH',
    'seller.country': 'AT',
  });
  expect(await read('/organization')).toMatchObject({
    name: 'Acme & <Sons>',
    timezone: 'Europe/Vienna',
    seller: { name: 'Acme GmbH', country: 'AT', city: null },
  });
  expect(await member.read('/settings')).toContain('Acme &amp; &lt;Sons&gt;');
  const refused = await member.send('/settings/organization', {
    name: 'x',
    timezone: 'Mars/Base',
    'seller.country': 'austria',
  });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/id="f-seller.country-error"/);
  expect(refused.text).toContain('value="austria"');
});

test('the dashboard changes the branding; an invalid colour is shown again', async () => {
  await member.act('/settings/branding', {
    'branding.color': '#5B2A86',
    'branding.support_email': 'help@acme.example',
    'branding.support_url': '',
  });
  expect((await read('/organization')).branding).toEqual({
    color: '#5b2a86',
    logo_url: null,
    support_email: 'help@acme.example',
    support_url: null,
  });
  expect(await member.read('/settings')).toContain('#5b2a86');
  const refused = await member.send('/settings/branding', { 'branding.color': 'red;}' });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/id="f-branding.color-error"/);
  expect(refused.text).toContain('value="red;}"');
});

test('the dashboard draws and changes the schedule of dunning', async () => {
  await member.act('/settings/dunning', {
    'dunning.retry_days': '2, 4,9',
    'dunning.block_after_days': '10',
    'dunning.expire_after_days': '20',
  });
  expect((await read('/organization')).dunning).toEqual({
    retry_days: [2, 4, 9],
    block_after_days: 10,
    expire_after_days: 20,
  });
  const page = await member.read('/settings/dunning');
  const days = [...page.matchAll(/<strong>Day (\d+)<\/strong>/g)].map(([, day]) => Number(day));
  expect(days).toEqual([0, 2, 4, 9, 10, 20]);
  for (const [retries, field] of [
    ['3, x', 'retry_days'],
    ['9, 2', 'retry_days'],
  ] as const) {
    const reply = await member.send('/settings/dunning', {
      'dunning.retry_days': retries,
      'dunning.block_after_days': '10',
      'dunning.expire_after_days': '20',
    });
    expect([reply.status, reply.text]).toEqual([
      400,
      expect.stringContaining(`id="f-dunning.${field}-error"`),
    ]);
  }
});

test.each(['', 'ten'])('days of dunning that are no number ("%s") are refused', async (days) => {
  const before = (await read('/organization')).dunning;
  for (const field of ['block_after_days', 'expire_after_days']) {
    const reply = await member.send('/settings/dunning', {
      'dunning.retry_days': '1',
      'dunning.block_after_days': '10',
      'dunning.expire_after_days': '20',
      [`dunning.${field}`]: days,
    });
    expect([reply.status, reply.text]).toEqual([
      400,
      expect.stringContaining(`id="f-dunning.${field}-error"`),
    ]);
  }
  expect((await read('/organization')).dunning).toEqual(before);
});

test('the dashboard refuses an invalid processor key, and does not show it again', async () => {
  expect(await member.read('/settings/processor')).toContain('The sandbox takes payments');
  const reply = await member.send('/settings/processor', { secret_key: 'sk_test_<wrong>' });
  expect([reply.status, faultIn(reply.text)]).toEqual([400, expect.any(String)]);
  expect(reply.text).not.toContain('wrong');
  expect((await member.get('/settings/processor/disconnect')).status).toBe(404);
});

test('the dashboard moves the test clock, and shows what happened', async () => {
  const { json: product } = await server.call('POST', '/products', {
    body: {
      name: 'Plan',
      prices: [{ amount: '1', currency: 'USD', type: 'recurring', interval: 'month' }],
    },
  });
  const { json: customer } = await server.call('POST', '/customers', { body: {} });
  await server.call('POST', '/subscriptions', {
    body: { customer_id: customer.id, product_id: product.id, trial_days: 3 },
  });
  const before = Date.parse((await read('/test-clock')).now);
  const { text } = await member.act('/test-clock', { advance: 'P1M' });
  const after = Date.parse((await read('/test-clock')).now);
  expect(after - before).toBeGreaterThan(27 * 86_400_000);
  expect(text).toContain('The clock has moved.');
  expect(text).toContain('subscription.trial_ended');
  const back = await member.send('/test-clock', { now: '2001-01-01T00:00:00' });
  expect([back.status, faultIn(back.text)]).toEqual([
    409,
    'the clock is past that already: it only goes forward',
  ]);
});

test('the dashboard has no test clock in live mode', async () => {
  const live = await memberOf(server, { mode: 'live' });
  expect((await live.get('/test-clock')).status).toBe(404);
  expect(await live.read('/keys')).not.toContain('/test-clock');
});
