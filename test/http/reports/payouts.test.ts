// GET /reports/payouts: what each field says, which payouts are listed, and what is refused.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { insertAccount, insertPayout } from '../../support/payouts.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let account: string;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
beforeEach(async () => {
  const { sql, organisation } = server;
  await sql`
    with own as (select id from processor_accounts where organisation_id = ${organisation.id})
    delete from payouts where account_id in (select id from own)`;
  await sql`delete from processor_accounts where organisation_id = ${organisation.id}`;
  account = await insertAccount(server.sql, {
    organisationId: server.organisation.id,
    mode: 'test',
  });
});
afterAll(() => server.stop());

const read = async (query = '', key = server.organisation.testKey) => {
  const { status, json } = await server.call('GET', `/reports/payouts${query}`, { key });
  expect([status, json.error]).toEqual([200, undefined]);
  return json.data;
};

const SUMS = { gross: 100_000n, fees: 3860n, refunds: 4900n, disputes: 0n, other: 0n, count: 21n };
const createdAt = new Date('2026-11-20T10:00:00.000Z');

test('a payout has its sums in the decimals of its currency', async () => {
  await insertPayout(server.sql, account, { payout: 'po_1', createdAt, sums: SUMS });
  expect(await read()).toEqual([
    {
      id: expect.any(String),
      payout_id: 'po_1',
      account: expect.stringMatching(/^acct_/),
      amount: '912.40',
      currency: 'USD',
      status: 'paid',
      arrival_date: '2026-11-23',
      gross: '1000.00',
      fees: '38.60',
      refunds: '49.00',
      disputes: '0.00',
      other: '0.00',
      count: 21,
      created_at: '2026-11-20T10:00:00.000Z',
    },
  ]);
});

test("a payout's unread or unreported sum is null, and a debt is negative", async () => {
  await insertPayout(server.sql, account, { amount: -700n, currency: 'JPY' });
  const unread = {
    gross: null,
    fees: null,
    refunds: null,
    disputes: null,
    other: null,
    count: null,
  };
  expect(await read()).toEqual([expect.objectContaining({ amount: '-700', ...unread })]);
});

test('GET /reports/payouts filters from a time and up to another', async () => {
  for (const day of [19, 20, 21]) {
    const at = new Date(`2026-11-${day}T00:00:00.000Z`);
    await insertPayout(server.sql, account, { payout: `po_${day}`, createdAt: at });
  }
  const names = async (query: string) =>
    (await read(query)).map((one: { payout_id: string }) => one.payout_id);
  expect(await names('')).toEqual(['po_21', 'po_20', 'po_19']);
  expect(await names('?from=2026-11-20T00:00:00Z')).toEqual(['po_21', 'po_20']);
  expect(await names('?to=2026-11-20T00:00:00Z')).toEqual(['po_19']);
  expect(await names('?from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00.001Z')).toEqual(['po_20']);
  expect(await names('?from=2026-11-21T01:00:00%2B01:00&limit=1')).toEqual(['po_21']);
});

test('GET /reports/payouts lists none of another organisation or mode', async () => {
  const { other, organisation } = server;
  await insertPayout(server.sql, account, {});
  expect(await read('', other.testKey)).toEqual([]);
  expect(await read('', organisation.liveKey)).toEqual([]);
});

test.each([
  ['from=2026-11-20', 'from'],
  ['to=soon', 'to'],
  ['from=2026-02-30T00:00:00Z', 'from'],
])('GET /reports/payouts?%s is 400', async (query, name) => {
  const { status, json } = await server.call('GET', `/reports/payouts?${query}`);
  const issue = { path: [name], message: 'must be an ISO 8601 time with a zone' };
  expect([status, json.error.issues]).toEqual([400, [issue]]);
});
