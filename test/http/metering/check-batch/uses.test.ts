// Rows of /check/batch that record or hold.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('people', { aggregation: 'unique', unique_property: 'name' });
});
afterAll(() => setting.stop());

type Row = Record<string, unknown>;

/** A new customer that may use so much. */
async function granted(amount: number): Promise<string> {
  const id = await setting.customer();
  await setting.grant(id, 'api', { amount });
  return id;
}

const batch = (checks: readonly unknown[], key?: string) =>
  setting.post(
    '/check/batch',
    { checks },
    key === undefined ? {} : { headers: { 'idempotency-key': key } },
  );

async function consumedBy(id: string): Promise<number> {
  const { json } = await setting.post('/check', { feature_key: 'api', customer_id: id });
  return json.consumed;
}

/** What differs from one customer to another. */
function common({ reservation, period_start: _start, ...row }: Row): Row {
  if (reservation === undefined || reservation === null) return { ...row, reservation };
  const { id: _, customer_id: __, expires_at: ___, created_at: ____, ...held } = reservation as Row;
  return { ...row, reservation: held };
}

test('POST /check/batch takes every body of /check, and answers each row as /check would', async () => {
  const rows = (customer_id: string): Row[] => {
    const one = { feature_key: 'api', customer_id };
    return [
      { ...one, consume: true, value: 4 },
      { ...one, consume: true, value: 7 },
      { ...one, consume: true, value: 3, idempotency_key: 'k' },
      { ...one, consume: true, value: 3, idempotency_key: 'k' },
      { ...one, consume: true, value: 2, idempotency_key: 'k' },
      { ...one, consume: false, value: null },
      { ...one, consume: true, reserve: true },
      { ...one, consume: true, expires_in: 60 },
      { ...one, idempotency_key: 'k' },
      { ...one, consume: true, value: -1 },
      { ...one, feature_key: 'people', consume: true },
      { ...one, feature_key: 'nothing', consume: true },
      { feature_key: 'api', external_customer_id: 'nobody', consume: true },
      { ...one, reserve: true, value: 2, expires_in: 60, idempotency_key: 'h' },
      { ...one, reserve: true, value: 100 },
    ];
  };
  const [first, second] = [await granted(10), await granted(10)];
  const alone: Row[] = [];
  for (const row of rows(second)) {
    const { status, json } = await setting.post('/check', row);
    alone.push(status === 200 ? common(json) : { error: json.error });
  }
  // What is held and asked for is decided beside what is used: those rows are sent after it.
  const [uses, others] = [rows(first).slice(0, 5), rows(first).slice(5)];
  const replies = [await batch(uses), await batch(others)];
  const results: Row[] = replies.flatMap(({ json }) => json.results);
  expect(results.map((row) => ('error' in row ? row : common(row)))).toEqual(alone);
  expect(alone.map((row) => (row['error'] as Row | undefined)?.['type'] ?? row['allowed'])).toEqual(
    [
      true,
      false,
      true,
      true,
      'idempotency_key_reused',
      true,
      ...Array.from({ length: 5 }, () => 'invalid_request'),
      'not_found',
      'not_found',
      true,
      false,
    ],
  );
  expect(await consumedBy(first)).toBe(7);
});

test('a use in POST /check/batch counts once under its key, in whichever call', async () => {
  const id = await granted(10);
  const use = { feature_key: 'api', customer_id: id, consume: true, idempotency_key: 'once' };
  const first = (await batch([use, { ...use, idempotency_key: 'other' }])).json.results;
  expect((await batch([use])).json.results).toEqual([first[0]]);
  const alone = await setting.post('/check', use);
  expect([alone.json, alone.headers.get('idempotency-replayed')]).toEqual([first[0], 'true']);
  expect(await consumedBy(id)).toBe(2);
});

test('POST /check/batch sent again under its Idempotency-Key uses and holds nothing again', async () => {
  const id = await granted(20);
  const one = { feature_key: 'api', customer_id: id };
  const rows = [
    { ...one, consume: true },
    { ...one, consume: true },
    { ...one, reserve: true },
    { ...one, reserve: true },
  ];
  const first = await batch(rows, 'again');
  const again = await batch(rows, 'again');
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.json.results.slice(0, 2)).toEqual(first.json.results.slice(0, 2));
  const heldIn = ({ json }: typeof first) =>
    json.results.slice(2).map(({ reservation }: { reservation: Row }) => reservation['id']);
  expect(heldIn(again)).toEqual(heldIn(first));
  expect(new Set(heldIn(first)).size).toBe(2);
  const { json } = await setting.post('/check', one);
  expect([json.consumed, json.reserved]).toEqual([2, 2]);
  // Another use in the place of one.
  const other = await batch([{ ...one, consume: true, value: 5 }], 'again');
  expect(other.json.results[0].error.type).toBe('idempotency_key_reused');
});

test('two POST /check/batch of 500 uses at once never overrun, and each answer is true', async () => {
  const id = await granted(600);
  const use = { feature_key: 'api', customer_id: id, consume: true };
  const both = await Promise.all([1, 2].map(() => batch(Array.from({ length: 500 }, () => use))));
  const rows: Row[] = both.flatMap(({ json }) => json.results);
  const allowed = rows.filter((row) => row['allowed'] === true);
  expect(allowed).toHaveLength(600);
  expect(new Set(allowed.map((row) => row['consumed'])).size).toBe(600);
  expect(rows.filter((row) => row['reason'] === 'insufficient_balance')).toHaveLength(400);
  expect(await consumedBy(id)).toBe(600);
});

test('a use that POST /check/batch denies is explained afterwards', async () => {
  const id = await granted(1);
  const use = { feature_key: 'api', customer_id: id, consume: true, value: 9 };
  const { headers } = await batch([use]);
  const requestId = headers.get('x-request-id');
  await setting.server.flush();
  const { json } = await setting.server.call('GET', `/decisions?request_id=${requestId}`);
  expect(json.data).toMatchObject([{ kind: 'consume', customer_id: id }]);
});

testBooksClose(() => setting);
