// Refunds that are refused. Nothing is stored, the processor is not called, and the payment is
// unchanged.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../../../support/means.ts';
import { type Fields, PATIENCE_MS, Shop } from '../../../payments/shop.ts';
import type { Call } from '../../../support/server.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
const paid: Record<string, string> = {};
const PRICES = { USD: '100', JPY: '10000', KWD: '10', CLF: '1' };
beforeAll(async () => {
  shop = await Shop.open();
  for (const [currency, total] of Object.entries(PRICES)) {
    paid[currency] = (await shop.buy({ currency, total })).id;
  }
});
afterAll(async () => {
  const { sql, organisation } = shop.server;
  const left = await sql`
    with mine as (select id from payments where organisation_id = ${organisation.id})
    select id::text from refunds where payment_id in (select id from mine)
    union all select key from sandbox_refunds where charge_key in (select id::text from mine)
    union all select id::text from followups where payment_id in (select id from mine)`;
  expect(left).toHaveLength(0);
  for (const [currency, total] of Object.entries(PRICES)) {
    const { status, amount, refundable_amount } = await shop.payment(paid[currency]!);
    expect([status, refundable_amount]).toEqual(['succeeded', amount]);
    expect(Number(amount)).toBe(Number(total));
    await shop.events(paid[currency]!, 1);
  }
  await shop.close();
});

const AMOUNT = 'must be a decimal string such as "12.50"';
const REASON = 'must be one of duplicate, fraudulent, requested_by_customer';

// prettier-ignore
const INVALID: [string, unknown, [path: string[], message: string][]][] = [
  // what                          body                                at
  ['a JSON number',                { amount: 1 },                      [[['amount'], AMOUNT]]],
  ['null',                         { amount: null },                   [[['amount'], AMOUNT]]],
  ['an object',                    { amount: {} },                     [[['amount'], AMOUNT]]],
  ['a list',                       { amount: ['1'] },                  [[['amount'], AMOUNT]]],
  ['nothing',                      { amount: '' },                     [[['amount'], AMOUNT]]],
  ['a negative amount',            { amount: '-1' },                   [[['amount'], AMOUNT]]],
  ['a sign',                       { amount: '+1' },                   [[['amount'], AMOUNT]]],
  ['an exponent',                  { amount: '1e1' },                  [[['amount'], AMOUNT]]],
  ['hexadecimal',                  { amount: '0x1' },                  [[['amount'], AMOUNT]]],
  ['no whole part',                { amount: '.5' },                   [[['amount'], AMOUNT]]],
  ['no decimals after the point',  { amount: '1.' },                   [[['amount'], AMOUNT]]],
  ['a comma',                      { amount: '1,00' },                 [[['amount'], AMOUNT]]],
  ['a space',                      { amount: ' 1' },                   [[['amount'], AMOUNT]]],
  ['a line break',                 { amount: '1\n' },                  [[['amount'], AMOUNT]]],
  ['other digits',                 { amount: '١' },                    [[['amount'], AMOUNT]]],
  ['thirteen digits',              { amount: '1'.repeat(13) },         [[['amount'], AMOUNT]]],
  ['five decimals',                { amount: '0.00000' },              [[['amount'], AMOUNT]]],
  ['NaN',                          { amount: 'NaN' },                  [[['amount'], AMOUNT]]],
  ['a currency',                   { amount: '1 USD' },                [[['amount'], AMOUNT]]],
  ['zero',                         { amount: '0' },                    [[['amount'], 'must be more than zero']]],
  ['zero with decimals',           { amount: '0.00' },                 [[['amount'], 'must be more than zero']]],
  ['an unknown reason',            { reason: 'because' },              [[['reason'], REASON]]],
  ['a reason of another case',     { reason: 'Duplicate' },            [[['reason'], REASON]]],
  ['a misspelt amount',            { amout: '1' },                     [[['amout'], 'is not a known field']]],
  ['an own key',                   { idempotency_key: 'x' },           [[['idempotency_key'], 'is not a known field']]],
  ['__proto__',                    JSON.parse('{"__proto__": {}}'),    [[['__proto__'], 'is not a known field']]],
  ['all of it',                    { amount: 1, reason: 1, x: 1 },
    [[['x'], 'is not a known field'], [['amount'], AMOUNT], [['reason'], REASON]]],
  ['a list of refunds',            [{ amount: '1' }],                  [[[], 'must be an object']]],
  ['a string',                     '1',                                [[[], 'must be an object']]],
  ['a body of null',               null,                               [[[], 'must be an object']]],
];
test.each(INVALID)('a refund with %s is 400', async (_what, body, at) => {
  const { status, json } = await shop.refund(paid['USD']!, body);
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  const issues = at.map(([path, message]) => ({ path, message }));
  expect(json.error.issues.toSorted(byPath)).toEqual(issues.toSorted(byPath));
});

const byPath = (a: { path: string[] }, b: { path: string[] }) =>
  a.path.join() < b.path.join() ? -1 : 1;

test.each<[string, Call]>([
  ['malformed JSON', { raw: '{"amount":' }],
  ['no UTF-8', { raw: Buffer.from([0x7b, 0xff, 0x7d]) }],
])('a refund with a body of %s is 400', async (_what, call) => {
  const { status, json } = await shop.refund(paid['USD']!, undefined, call);
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map(({ path }: { path: string[] }) => path)).toEqual([[]]);
});

// prettier-ignore
const DECIMALS: [string, string, number][] = [
  ['JPY', '1.0',   0],
  ['JPY', '0.9',   0],
  ['USD', '1.001', 2],
  ['USD', '1.000', 2],
  ['USD', '0.001', 2],
  ['KWD', '0.0001', 3],
  ['KWD', '1.0000', 3],
];
test.each(DECIMALS)(
  'a refund of %s %s is 400: more decimals than the currency has, zeros too',
  async (currency, amount, digits) => {
    const { status, json } = await shop.refund(paid[currency]!, { amount });
    expect([status, json.error.type, json.error.issues]).toEqual([
      400,
      'invalid_request',
      [{ path: ['amount'], message: `must have at most ${digits} decimals in ${currency}` }],
    ]);
  },
);

test.each<[string]>([[''], ['x'.repeat(256)], ['a\tb'], ['clé']])(
  'a refund with the Idempotency-Key %p is 400',
  async (key) => {
    const headers = { 'idempotency-key': key };
    const { status, json } = await shop.refund(paid['USD']!, {}, { headers });
    expect([status, json.error.type]).toEqual([400, 'invalid_request']);
    expect(json.error.issues[0].path).toEqual(['Idempotency-Key']);
  },
);

describe('a refund of more than is left is refused', () => {
  // prettier-ignore
  const OVER: [string, string][] = [
    ['USD', '100.01'], ['USD', '999999999999.99'], ['JPY', '10001'], ['KWD', '10.001'], ['CLF', '1.0001'],
  ];
  test.each(OVER)('of %s %s', async (currency, amount) => {
    const { status, json } = await shop.refund(paid[currency]!, { amount });
    expect([status, json]).toEqual([
      400,
      {
        error: {
          type: 'validation_error',
          message: 'the amount exceeds what is left to refund: pending refunds count as refunded',
        },
      },
    ]);
  });
});

const NO_CHARGE = {
  error: { type: 'validation_error', message: 'the payment has no linked charge to reverse' },
};
test.each<[Means, string]>([
  ['declined', 'failed'],
  ['error', 'errored'],
  ['challenge', 'requires_action'],
  ['answerLost', 'processing'],
])('a refund of a payment with %s is %s: there is nothing to refund', async (means, state) => {
  const payment = await shop.buy({ means });
  expect(payment.status).toBe(state);
  const bodies: (Fields | undefined)[] = [undefined, {}, { amount: '1' }, { amount: '100.01' }];
  const replies = await Promise.all(bodies.map((body) => shop.refund(payment.id, body)));
  for (const { status, json } of replies) expect([status, json]).toEqual([400, NO_CHARGE]);
});
