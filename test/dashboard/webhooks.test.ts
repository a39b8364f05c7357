// The pages about webhooks: an endpoint from its making to its end, and what it is sent.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { relayAll } from '../support/relayed.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Member, faultIn, memberOf } from './member.ts';

let server: TestServer;
let member: Member;
beforeAll(async () => {
  server = await startServer({ edited: true });
  member = await memberOf(server);
});
afterAll(() => server.stop());

const URL_OF_NOBODY = 'https://hooks.example/tollhouse';
const idIn = (page: string) => /\/webhooks\/([0-9a-f-]{36})/.exec(page)?.[1] ?? '';
const secretIn = (page: string) => /whsec_[\w+/=]+/.exec(page)?.[0];

async function anEndpoint(fields: Record<string, string | string[]> = {}) {
  const { text } = await member.act('/webhooks/new', { url: URL_OF_NOBODY, ...fields });
  return { id: idIn(text), secret: secretIn(text) };
}

const read = async (path: string) => (await server.call('GET', path)).json;

test('the dashboard makes a webhook endpoint as typed, and shows its secret once', async () => {
  const { id, secret } = await anEndpoint({
    description: 'Orders',
    event_types: ['invoice.created', 'payment.succeeded'],
  });
  expect(secret).toStartWith('whsec_');
  expect(await read(`/webhook-endpoints/${id}`)).toMatchObject({
    url: URL_OF_NOBODY,
    description: 'Orders',
    event_types: ['invoice.created', 'payment.succeeded'],
    status: 'enabled',
  });
  for (const path of [`/webhooks/${id}`, '/webhooks', `/webhooks/${id}/change`]) {
    expect(secretIn(await member.read(path))).toBeUndefined();
  }
});

test('a webhook endpoint form with no type ticked gets the default types', async () => {
  const { id } = await anEndpoint();
  const { event_types: types } = await read(`/webhook-endpoints/${id}`);
  expect(types).toContain('payment.succeeded');
  expect(types).not.toContain('usage.recorded');
});

test('a webhook endpoint form that is sent twice makes one', async () => {
  const before = (await read('/webhook-endpoints?limit=200')).data.length;
  await member.read('/webhooks/new');
  const [, key = ''] = /name="_key" value="([^"]+)"/.exec(member.tab.page) ?? [];
  const token = /name="_token" value="([^"]+)"/.exec(member.tab.page)?.[1] ?? '';
  const fields = { _token: token, _key: key, url: URL_OF_NOBODY };
  const [one, two] = [
    await member.tab.post(`${member.base}/webhooks/new`, fields),
    await member.tab.post(`${member.base}/webhooks/new`, fields),
  ];
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(secretIn(two.text)).toBe(secretIn(one.text));
  expect((await read('/webhook-endpoints?limit=200')).data).toHaveLength(before + 1);
});

test('a refused webhook endpoint form shows what was typed and what was wrong', async () => {
  const reply = await member.send('/webhooks/new', {
    url: 'http://192.168.0.1/<b>',
    description: 'Mine',
    event_types: ['*', 'tag.created'],
  });
  expect(reply.status).toBe(400);
  expect(faultIn(reply.text)).not.toBeNull();
  expect(reply.text).toContain('value="http://192.168.0.1/&lt;b&gt;"');
  expect(reply.text).toContain('value="Mine"');
  expect(reply.text).toMatch(/value="tag.created"\s+checked/);
});

test('the dashboard changes, disables, enables and deletes a webhook endpoint', async () => {
  const { id } = await anEndpoint({ event_types: '*' });
  const state = async () => read(`/webhook-endpoints/${id}`);
  await member.act(`/webhooks/${id}/change`, {
    url: `${URL_OF_NOBODY}/2`,
    event_types: ['tag.created'],
  });
  expect(await state()).toMatchObject({ url: `${URL_OF_NOBODY}/2`, event_types: ['tag.created'] });
  await member.act(`/webhooks/${id}/disable`);
  expect((await state()).status).toBe('disabled');
  expect(await member.read(`/webhooks/${id}`)).toContain(`/webhooks/${id}/enable"`);
  await member.act(`/webhooks/${id}/enable`);
  expect((await state()).status).toBe('enabled');
  await member.act(`/webhooks/${id}/delete`);
  expect((await server.call('GET', `/webhook-endpoints/${id}`)).status).toBe(404);
  expect((await member.get(`/webhooks/${id}`)).status).toBe(404);
});

test('the dashboard rotates a webhook secret, and the old one signs too', async () => {
  const { id, secret } = await anEndpoint();
  const { text } = await member.act(`/webhooks/${id}/rotate`);
  expect(secretIn(text)).toStartWith('whsec_');
  expect(secretIn(text)).not.toBe(secret);
  expect(text).toContain('The old secret also signs until');
});

test('the dashboard sends a sample, and its delivery shows the attempts and the request', async () => {
  const { id } = await anEndpoint();
  const { text } = await member.act(`/webhooks/${id}/sample`, { type: 'invoice.created' });
  expect(text).toContain('Delivery of invoice.created');
  expect(text).toContain(`POST ${URL_OF_NOBODY}`);
  expect(text).toContain('&quot;test&quot;: true');
  const [delivery] = (await read(`/webhook-endpoints/${id}/deliveries`)).data;
  await server.sql`
    insert into delivery_attempts (delivery_id, at, status_code, error, duration_ms, response_head)
    values (${delivery.id}, now() - interval '1 minute', null, 'timeout', 15000, null),
      (${delivery.id}, now(), 500, null, 12, '<h1>"Broken"</h1>')`;
  const page = await member.read(`/deliveries/${delivery.id}`);
  expect(page).toContain('&lt;h1&gt;&quot;Broken&quot;&lt;/h1&gt;');
  for (const shown of ['500', 'timeout', '15000 ms', '12 ms']) expect(page).toContain(shown);
  expect((await member.act(`/deliveries/${delivery.id}/retry`)).status).toBe(200);
  await member.act(`/webhooks/${id}/disable`);
  expect(await member.read(`/deliveries/${delivery.id}`)).not.toContain('/retry"');
  // Of an endpoint that is gone it is still there.
  await member.act(`/webhooks/${id}/delete`);
  expect(await member.read(`/deliveries/${delivery.id}`)).toContain('(deleted)');
});

test('the dashboard filters deliveries by endpoint, state and type', async () => {
  const { id } = await anEndpoint();
  for (const [status, type] of [
    ['exhausted', 'tag.created'],
    ['delivered', 'invoice.created'],
  ] as const) {
    await server.sql`
      insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
      values (uuidv7(), ${id}, uuidv7(), ${type}, ${status}, now(), now())`;
  }
  const rows = async (query: string) =>
    (await member.read(`/deliveries?endpoint=${id}${query}`)).match(/\/deliveries\/[0-9a-f-]{36}/g)
      ?.length ?? 0;
  expect(await rows('')).toBe(2);
  expect(await rows('&status=exhausted')).toBe(1);
  expect(await rows('&status=exhausted&event_type=invoice.created')).toBe(0);
  expect(await rows('&event_type=invoice.created')).toBe(1);
  // What the select does not have is no filter.
  expect(await rows('&status=x&event_type=y')).toBe(2);
  const page = await member.read(`/webhooks/${id}`);
  expect(page).toContain('50.0 %');
});

test('the dashboard counts a replay first, and then sends exactly that', async () => {
  const { id } = await anEndpoint({ event_types: ['customer.created'] });
  for (let n = 0; n < 3; n += 1) await server.call('POST', '/customers', { body: {} });
  const path = `/webhooks/${id}/replay`;
  const range = { since: '2020-01-01T00:00:00', until: '2100-01-01T00:00:00' };
  const sent = async () =>
    (await read(`/webhook-endpoints/${id}/deliveries?limit=200`)).data.length;
  await relayAll(server.sql);
  const before = await sent();
  const counted = await member.send(path, range);
  expect(counted.status).toBe(200);
  expect(counted.text).toContain('3 events are sent again.');
  expect(counted.text).toContain('value="2020-01-01T00:00:00"');
  expect(await sent()).toBe(before);
  const [, now = ''] =
    /<form[^>]*>((?:(?!<\/form>)[\s\S])*value="send"[\s\S]*?)<\/form>/.exec(counted.text) ?? [];
  const hidden = Object.fromEntries(
    [...now.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  const done = await member.tab.post(member.base + path, hidden);
  expect([done.status, faultIn(done.text)]).toEqual([303, null]);
  expect(await sent()).toBe(3);
});

test('the dashboard refuses a replay without a time at its field', async () => {
  const { id } = await anEndpoint();
  const reply = await member.send(`/webhooks/${id}/replay`, {
    since: '2026-01-02T00:00:00',
    until: '2026-01-01T00:00:00',
  });
  expect(reply.status).toBe(400);
  expect(reply.text).toContain('until must be after since');
});

test('the dashboard lists, filters and shows events as webhooks carry them', async () => {
  const { json: customer } = await server.call('POST', '/customers', {
    body: { name: '<i>Ada</i>' },
  });
  const page = await member.read(`/events?object_id=${customer.id}&type=customer.created`);
  const [, id = ''] = /\/events\/([0-9a-f-]{36})/.exec(page) ?? [];
  const event = await read(`/events/${id}`);
  const shown = await member.read(`/events/${id}`);
  const [, text = ''] = /<pre tabindex="0">([\s\S]*?)<\/pre>/.exec(shown) ?? [];
  const plain = text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
  expect(JSON.parse(plain)).toEqual(event);
  expect(await member.read('/events?until=2000-01-01T00:00:00')).toContain('No events match');
  // A filter that the API refuses is an empty list.
  expect((await member.get('/events?object_id=x')).status).toBe(200);
});
