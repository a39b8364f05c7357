// Lines of usage: what the ledger reckons as scaled integers, as the API answers it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EXACT_DECIMALS } from '../../../ledger/subscriptions/rating.ts';
import type { UsageLineDraft } from '../../../ledger/subscriptions/subscription.ts';
import { usageLine } from '../../../src/invoices/drafted-lines.ts';
import { ids } from '../../../src/platform/ids.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { issue } from './issuing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const START = Date.UTC(2026, 9, 1);
const END = Date.UTC(2026, 10, 1);
const exact = (numerator: bigint, decimals: number) =>
  numerator * 10n ** BigInt(EXACT_DECIMALS - decimals);

/** 1,500.5 units in two tiers: 1,000 at 0.000002 and the rest at 0.001 with 2.00 once. */
function draft(fields: Partial<UsageLineDraft> = {}): UsageLineDraft {
  return {
    type: 'usage',
    description: 'API calls',
    featureKey: 'api-calls',
    usagePriceId: ids.next(),
    usageId: ids.next(),
    quantity: 15_005n,
    scale: 1,
    amount: 250n,
    billed: 0n,
    tiers: [
      { quantity: 10_000n, unitAmount: 2_000_000n, flatAmount: null, amount: exact(2n, 3) },
      { quantity: 5_005n, unitAmount: 10n ** 9n, flatAmount: 200n, amount: exact(25_005n, 4) },
    ],
    periodStart: START,
    periodEnd: END,
    ...fields,
  };
}

async function answered(line: UsageLineDraft, { currency = 'USD', charge = 0n } = {}) {
  const scope = { organisationId: server.organisation.id, mode: 'test' as const };
  const recurring = {
    type: 'recurring',
    description: 'Pro',
    quantity: 1,
    unitAmount: charge,
    period: null,
  } as const;
  const lines = [usageLine(line, currency), ...(charge === 0n ? [] : [recurring])];
  const made = {
    currency,
    lines,
    discountTotal: 0n,
    billingReason: 'usage',
    paidAt: null,
  } as const;
  const { id } = await issue(server.sql, scope, made);
  // The answer is held against the document, field by field.
  const { json } = await server.call('GET', `/invoices/${id}`);
  return { id, json };
}

test("an invoice's line of usage has its quantity, tiers and period, and no unit amount", async () => {
  const line = draft();
  const { id, json } = await answered(line);
  expect([json.billing_reason, json.subtotal, json.total]).toEqual(['usage', '2.50', '2.50']);
  expect(json.lines).toEqual([
    {
      id: `${id}-1`,
      type: 'usage',
      description: 'API calls',
      feature_key: 'api-calls',
      quantity: 1500.5,
      amount: '2.50',
      usage_price_id: line.usagePriceId,
      tiers: [
        { quantity: 1000, unit_amount: '0.000002', flat_amount: null, amount: '0.002' },
        { quantity: 500.5, unit_amount: '0.001', flat_amount: '2.00', amount: '2.5005' },
      ],
      period: { start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' },
    },
  ]);
  const [event] = await server.sql`select data from events where object_id = ${id}`;
  expect(event!['data']).toMatchObject({ billingReason: 'usage', amount: '2.50' });
});

test("an invoice's adjustment of usage may be negative in units and money", async () => {
  const line = draft({ type: 'usage_adjustment', quantity: -25n, amount: -1205n });
  const { json } = await answered(line, { charge: 4900n });
  expect([json.lines[0].quantity, json.lines[0].amount]).toEqual([-2.5, '-12.05']);
  expect(json.total).toBe('36.95');
});

test('the sum of many spans of an invoice may have more digits than a double', async () => {
  const tier = { quantity: 27n * 10n ** 15n + 1n, unitAmount: 1n, flatAmount: null, amount: 0n };
  const line = draft({ quantity: tier.quantity, scale: 9, tiers: [tier], amount: 0n });
  const { id, json } = await answered(line);
  expect(json.lines[0].quantity).toBe(Number('27000000.000000001'));
  const [row] =
    await server.sql`select lines #>> '{0,quantity}' as quantity from invoices where id = ${id}`;
  expect(row!['quantity']).toBe('27000000.000000001');
});
