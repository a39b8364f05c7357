// Metadata of usage holds numbers and booleans as well as text, and they are read back unchanged
// everywhere.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, refusal, Setting, testBooksClose } from './setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('plain');
  await setting.meter('sized', { value_property: 'bytes', scale: 2 });
  await setting.meter('people', { aggregation: 'unique', unique_property: 'user' });
  customer = await setting.customer();
});
afterAll(() => setting.stop());

const SCALARS = {
  tokens: 12,
  cached: true,
  forced: false,
  share: 0.1,
  debt: -7.25,
  great: 1e300,
  small: 5e-324,
  exact: 0.12345678901234568,
  nothing: 0,
  text: '12',
};

/** The metadata in a customer's events and in the database. */
async function kept(id: string): Promise<unknown[]> {
  const rows = await setting.server.sql<{ data: Fields }[]>`
    select id, data from events where account_id = ${id} and type = 'usage.recorded' order by id`;
  const { json } = await setting.server.call('GET', `/events?type=usage.recorded&limit=100`);
  const listed = (json.data as { data: Fields }[]).filter(({ data }) => data['customerId'] === id);
  const books = await setting.server.sql<{ metadata: unknown }[]>`
    select t.metadata from transfers t join accounts a on a.id = t.debit
    where a.customer_id = ${id}`;
  return [
    ...rows.map(({ data }) => data['metadata']),
    ...listed.map(({ data }) => data['metadata']),
    ...books.map(({ metadata }) => metadata),
  ];
}

test.each(['/track', '/events/ingest'])(
  'metadata of %s is kept and shown as it was sent',
  async (path) => {
    const id = await setting.customer();
    const hook = { url: 'https://example.com/hook', event_types: ['usage.recorded'] };
    const endpoint = await setting.post('/webhook-endpoints', hook);
    const fields = { metadata: SCALARS };
    const { status } =
      path === '/track'
        ? await setting.track(id, 'plain', fields)
        : await setting.ingest([{ name: 'plain', customer_id: id, ...fields }]);
    expect(status).toBe(200);
    expect(await kept(id)).toEqual([SCALARS, SCALARS, SCALARS]);
    await setting.server.call('DELETE', `/webhook-endpoints/${endpoint.json.id}`);
  },
);

// prettier-ignore
const VALUES: [what: string, bytes: unknown, consumed: number | null][] = [
  ['a number',                  12.5,   12.5],
  ['its text',                  '12.5', 12.5],
  ['a whole number',            3,      3],
  ['a number with an exponent', 1e2,    100],
  ['too many decimals',         0.125,  null],
  ['true',                      true,   null],
  ['text that is no number',    'many', null],
  ['out of range',              1e300,  null],
];

test.each(VALUES)('a value_property of %s', async (_what, bytes, consumed) => {
  const id = await setting.customer();
  const reply = await setting.track(id, 'sized', { metadata: { bytes } });
  if (consumed === null) {
    expect(refusal(reply)).toEqual([400, 'invalid_request', [['metadata', 'bytes']]]);
  } else {
    expect([reply.status, await setting.consumed(id, 'sized')]).toEqual([200, [consumed]]);
  }
});

test('a unique_property is told apart by its text', async () => {
  const id = await setting.customer();
  const users = [7, '7', 7.5, '7.5', true, 'true', 'True', 8];
  for (const user of users) await setting.track(id, 'people', { metadata: { user } });
  expect(await setting.consumed(id, 'people')).toEqual([5]);
});

test('a key of an event with the value 1 is refused for another event with "1"', async () => {
  const send = (tokens: unknown) =>
    setting.track(customer, 'plain', { idempotency_key: 'one', metadata: { tokens, a: true } });
  expect((await send(1)).json).toMatchObject({ duplicate: false });
  expect((await send(1)).json).toMatchObject({ duplicate: true });
  expect(refusal(await send('1'))).toEqual([422, 'idempotency_key_reused']);
});

test('a number that no double holds is refused in words', async () => {
  const raw = `{"feature_key":"plain","customer_id":"${customer}","metadata":{"a":1e400,"b":[]}}`;
  const { status, json } = await setting.server.call('POST', '/track', { raw });
  expect([status, json.error.issues]).toEqual([
    400,
    [
      { path: ['metadata', 'a'], message: 'is too large a number' },
      { path: ['metadata', 'b'], message: 'must be a string, a number or a boolean' },
    ],
  ]);
});

testBooksClose(() => setting);
