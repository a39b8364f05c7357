// Reading the audit log: its filters, whose it is, and the download.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { insertAuditRecord, type NewAuditRecord } from '../../../src/records/audit-log.ts';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';

setDefaultTimeout(30_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const read = async (query = '', key?: string): Promise<Reply> => {
  const path = `/audit-log?${query}`;
  const reply = await server.call('GET', path, key === undefined ? {} : { key });
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  return reply;
};

const made = async (path: string, body: object, key?: string): Promise<string> => {
  const call = { body, ...(key !== undefined && { key }) };
  const { status, json, text } = await server.call('POST', path, call);
  if (status !== 201) throw new Error(text);
  return json.id;
};

type Entry = Reply['json'];

test('an audit log row says who, from where, what, and each field before and after', async () => {
  const id = await made('/products', { name: 'Pro', description: 'Old', metadata: { a: '1' } });
  const body = { name: 'Pro 2026', metadata: { a: '1', token: 'tk', tokens: 'many' } };
  const headers = { 'x-request-id': 'change-1', 'user-agent': 'Agent/1' };
  await server.call('PATCH', `/products/${id}`, { body, headers });
  const { json } = await read(`object_id=${id}`);
  expect(json.data).toHaveLength(2);
  const [changed, created] = json.data as Entry[];
  const key = server.organisation.testKey;
  expect(changed).toEqual({
    id: expect.any(String),
    at: expect.any(String),
    mode: 'test',
    actor: {
      kind: 'key',
      id: expect.any(String),
      label: expect.stringMatching(new RegExp(`…${key.slice(-4)}$`)),
      session_id: null,
    },
    address: '127.0.0.1',
    user_agent: 'Agent/1',
    request_id: 'change-1',
    operation: 'updateProduct',
    object: { type: 'product', id },
    status: 200,
    before: { name: 'Pro', metadata: { a: '1' } },
    after: { name: 'Pro 2026', metadata: { a: '1', token: '[left out]', tokens: '[left out]' } },
  });
  expect([created.operation, created.before, created.after.description]).toEqual([
    'createProduct',
    null,
    'Old',
  ]);
  expect(created.request_id).toMatch(/^[\da-f-]{36}$/);
});

test('GET /audit-log filters by each field, and by several at once', async () => {
  const { id } = (await server.call('POST', '/api-keys', { body: { name: 'filter' } })).json;
  const { key, id: actor } = (await server.call('POST', `/api-keys/${id}/rotate`)).json;
  const product = await made('/products', { name: 'Of a key' }, key);
  await server.call('PATCH', `/products/${product}`, { body: { name: 'x' }, key });
  const seen = async (query: string) =>
    (await read(query)).json.data.map((row: Entry) => row.operation);
  expect(await seen(`actor=${actor}`)).toEqual(['updateProduct', 'createProduct']);
  expect(await seen(`actor=${actor.toUpperCase()}&operation=updateProduct`)).toEqual([
    'updateProduct',
  ]);
  expect(await seen(`object_id=${product}&actor_kind=key`)).toHaveLength(2);
  expect(await seen(`object_id=${product}&actor_kind=user`)).toEqual([]);
  expect(await seen(`operation=nothing`)).toEqual([]);
  const [last] = (await read(`actor=${actor}`)).json.data;
  expect(await seen(`actor=${actor}&from=${last.at}`)).toEqual(['updateProduct']);
  expect(await seen(`actor=${actor}&to=${last.at}`)).toEqual(['createProduct']);
});

test.each([
  ['actor=x', 'actor', 'must be a UUID'],
  ['actor_kind=robot', 'actor_kind', null],
  ['operation=', 'operation', null],
  [`object_id=${'x'.repeat(256)}`, 'object_id', null],
  ['from=yesterday', 'from', 'must be an ISO 8601 time with a zone'],
  ['to=2026-01-01', 'to', null],
  ['limit=201', 'limit', null],
  ['sort=at', 'sort', null],
])('GET /audit-log?%s is refused', async (query, field, message) => {
  for (const path of ['/audit-log', '/audit-log.csv']) {
    const { status, json } = await server.call('GET', `${path}?${query}`);
    expect([path, status, json.error.issues[0].path]).toEqual([path, 400, [field]]);
    if (message !== null && path === '/audit-log') {
      expect(json.error.issues[0].message).toBe(message);
    }
  }
});

test('GET /audit-log keeps test and live apart, and shows in both what concerns both', async () => {
  const { testKey, liveKey } = server.organisation;
  const inLive = await made('/products', { name: 'Live' }, liveKey);
  await server.call('PATCH', '/organization', { body: { name: 'Renamed' }, key: liveKey });
  const of = async (key: string) => (await read('limit=200', key)).json.data as Entry[];
  const [test_, live] = [await of(testKey), await of(liveKey)];
  expect(live.some(({ object }) => object.id === inLive)).toBe(true);
  expect(test_.some(({ object }) => object.id === inLive)).toBe(false);
  expect(new Set(live.map(({ mode }) => mode))).toEqual(new Set(['live', null]));
  expect(new Set(test_.map(({ mode }) => mode))).toEqual(new Set(['test', null]));
  for (const rows of [test_, live]) {
    const renamed = rows.find(({ operation }) => operation === 'updateOrganization')!;
    expect([renamed.before.name, renamed.after.name]).toEqual(['One', 'Renamed']);
  }
});

test('GET /audit-log tells of the settings of one mode there alone, and of a new name in both', async () => {
  const { testKey, liveKey } = server.organisation;
  const change = (body: object, key: string) =>
    server.call('PATCH', '/organization', { body, key });
  const seller = { tax_id: 'OF LIVE MODE' };
  await change({ name: 'Of both', timezone: 'Asia/Tokyo', seller }, liveKey);
  await change({ name: 'Of tests' }, testKey);
  await change({ timezone: 'Asia/Tokyo' }, testKey);
  await change({ name: 'Of both' }, liveKey);
  const said = async (key: string) => {
    const { json } = await read('operation=updateOrganization&limit=4', key);
    return json.data.map(({ mode, after }: Entry) => [mode, after]);
  };
  expect(await said(testKey)).toEqual([
    ['test', { timezone: 'Asia/Tokyo' }],
    ['test', { name: 'Of tests' }],
    [null, { name: 'Of both' }],
    expect.anything(),
  ]);
  expect(await said(liveKey)).toEqual([
    ['live', {}],
    [null, { name: 'Of both' }],
    ['live', { timezone: 'Asia/Tokyo', seller: expect.objectContaining(seller) }],
    expect.anything(),
  ]);
  for (const path of ['/audit-log?limit=200', '/audit-log.csv']) {
    expect((await server.call('GET', path, { key: testKey })).text).not.toContain('OF LIVE MODE');
    expect((await server.call('GET', path, { key: liveKey })).text).toContain('OF LIVE MODE');
  }
});

test("an audit log is hidden from other organisations, and a group's rows are no organisation's", async () => {
  const key = server.group.testKey;
  await server.call('POST', '/partner/webhook-endpoints', {
    key,
    body: { url: 'https://hooks.example/' },
  });
  const own = (await read('limit=200')).json.data as Entry[];
  expect(own.some(({ operation }) => operation === 'createPartnerWebhookEndpoint')).toBe(false);
  expect((await read('', server.other.testKey)).json.data).toEqual([]);
  const mine = own[0]!.object.id;
  expect((await read(`object_id=${mine}`, server.other.testKey)).json.data).toEqual([]);
  const csv = await server.call('GET', '/audit-log.csv', { key: server.other.testKey });
  expect(csv.text.split('\r\n')).toHaveLength(2);
  expect((await server.call('GET', '/audit-log', { key })).status).toBe(403);
  expect((await server.call('GET', '/audit-log', { key: null })).status).toBe(401);
});

test('an API key with the scope read may read the audit log, and one for metering may not', async () => {
  const keyOf = async (scope: string) =>
    (await server.call('POST', '/api-keys', { body: { scopes: [scope] } })).json.key;
  const [reader, meter] = [await keyOf('read'), await keyOf('metering')];
  for (const path of ['/audit-log', '/audit-log.csv']) {
    expect((await server.call('GET', path, { key: reader })).status).toBe(200);
    expect((await server.call('GET', path, { key: meter })).status).toBe(403);
  }
});

/** The values of a CSV, as a reader of RFC 4180 takes them. */
function valuesOf(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g,
  )) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
    if (end === '') break;
  }
  return rows.slice(0, -1);
}

const ROW: Omit<NewAuditRecord, 'id' | 'organisationId' | 'at'> = {
  otherId: null,
  groupId: null,
  mode: 'live',
  actorKind: 'user',
  actorId: ids.next(),
  actorLabel: '=HYPERLINK("https://evil.example")',
  sessionId: null,
  address: '2001:db8::1',
  userAgent: '@SUM(1,2)\r\n"x"',
  requestId: '-1+2',
  operation: 'updateProduct',
  objectType: 'product',
  objectId: '+cmd',
  status: 200,
  before: { name: '"quoted", and\nbroken' },
  after: null,
};

test('the CSV download of the audit log has every row, and nothing that a spreadsheet runs', async () => {
  const { id: organisationId, liveKey: key } = server.other;
  const at = Date.UTC(2026, 5, 1);
  const COUNT = 450;
  for (let n = 0; n < COUNT; n += 1) {
    // Several have one time: no page loses or repeats one of them.
    const time = new Date(at + Math.floor(n / 7));
    await insertAuditRecord(server.sql, { ...ROW, id: ids.next(), organisationId, at: time });
  }
  const reply = await server.call('GET', '/audit-log.csv', { key });
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"');
  const [head, ...rows] = valuesOf(reply.text);
  expect(head!.slice(0, 4)).toEqual(['id', 'at', 'mode', 'actor_kind']);
  expect(new Set(rows.map(([id]) => id)).size).toBe(COUNT);
  const times = rows.map((row) => row[1]!);
  expect(times).toEqual(times.toSorted().toReversed());
  const named = Object.fromEntries(head!.map((name, n) => [name, rows[0]![n]]));
  expect(named).toMatchObject({
    actor_label: `'=HYPERLINK("https://evil.example")`,
    address: '2001:db8::1',
    user_agent: `'@SUM(1,2)\r\n"x"`,
    request_id: `'-1+2`,
    object_id: `'+cmd`,
    before: JSON.stringify(ROW.before),
    after: '',
  });
  expect(reply.text).not.toMatch(/(?:^|,|\n)"?[=+\-@\t]/);
  const some = await server.call('GET', `/audit-log.csv?to=${new Date(at + 10).toISOString()}`, {
    key,
  });
  expect(valuesOf(some.text)).toHaveLength(71);
});

test('a CSV download of the audit log that cannot begin is refused as JSON, and takes no slot', async () => {
  const download = (signal?: AbortSignal) =>
    fetch(`${server.url}/audit-log.csv`, {
      headers: { authorization: `Bearer ${server.organisation.testKey}` },
      ...(signal !== undefined && { signal }),
    });
  await server.sql.begin(async (transaction) => {
    await transaction`lock table audit_log in access exclusive mode`;
    const leaving = new AbortController();
    const refused = [download(), download()];
    const left = [download(leaving.signal), download(leaving.signal)];
    for (const reply of await Promise.all(refused)) {
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await reply.json()).toMatchObject({ error: { type: 'service_unavailable' } });
    }
    leaving.abort();
    for (const one of left) await one.catch(() => undefined);
  });
  const four = await Promise.all([download(), download(), download(), download()]);
  expect(four.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const reply of four) expect(await reply.text()).toStartWith('id,at,mode');
});
