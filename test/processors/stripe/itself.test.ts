// The adapter against Stripe itself, where STRIPE_TEST_KEY has a secret key of a test account; else
// against the fake. Only what needs nobody at Stripe's page, no lost answer and no time.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type Stripe from 'stripe';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import type { Processor } from '../../../src/processors/processor.ts';
import { stripeClient } from '../../../src/processors/stripe/client.ts';
import { Line } from '../../../src/processors/stripe/line.ts';
import { openStripe } from '../../../src/processors/stripe/stripe.ts';
import { freshDatabase, type FreshDatabase } from '../../support/database.ts';
import { openStripeFake, type StripeFake } from './fake.ts';

setDefaultTimeout(60_000);

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

const KEY = process.env['STRIPE_TEST_KEY'];

/** What of `conformance.ts` needs the fake, and why. */
const LEFT_TO_THE_FAKE = {
  'a buyer who pays, is declined or confirms': 'a person or a browser at the page of Stripe',
  'bank debits and disputes': 'days until they are decided',
  'refunds that are pending or fail late': 'days until the bank has decided',
  'lost requests and answers, and forgotten keys': 'control of the network and of time',
};

let fake: StripeFake | null = null;
let database: FreshDatabase;
let sql: Sql;
let stripe: Stripe;
let processor: Processor;

beforeAll(async () => {
  fake = KEY === undefined ? await openStripeFake() : null;
  const key = KEY ?? fake?.newAccount().testKey ?? '';
  if (!/^(?:sk|rk)_test_/.test(key)) throw new Error('STRIPE_TEST_KEY is not a key of test mode');
  const apiUrl = fake === null ? null : new URL(fake.url);
  database = await freshDatabase();
  sql = openPool(database.url, { max: 4, applicationName: 'stripe itself' });
  stripe = stripeClient({ key, apiUrl });
  const name = 'stripe:acct_tested';
  processor = openStripe({
    sql,
    clock,
    log: SILENT,
    apiUrl,
    account: { name, key, organisationId: ids.next() },
    line: new Line({ clock, timers, log: SILENT }, name),
    onFailing: () => undefined,
  });
  if (fake === null) console.log('left to the fake of Stripe:', LEFT_TO_THE_FAKE);
});
afterAll(async () => {
  await fake?.close();
  await sql.end();
  await database.drop();
});

/** One of Stripe's test cards, as it is saved by a buyer. */
async function saved(card: string): Promise<string> {
  const { id: customer } = await stripe.customers.create({ name: 'A test of Tollhouse' });
  const { id: method } = await stripe.paymentMethods.attach(card, { customer });
  return `${customer}:${method}`;
}

const AMOUNT = 1234n;
async function renewal(card: string) {
  return { key: ids.next(), saved: await saved(card), amount: AMOUNT, currency: 'USD' };
}

describe('a Stripe charge without its buyer', () => {
  test('is one, however often and by how many it is asked for', async () => {
    const request = await renewal('pm_card_visa');
    const results = await Promise.all([1, 2, 3].map(() => processor.chargeSaved(request)));
    const again = await processor.chargeSaved(request);
    const found = await processor.findCharge(request.key);
    for (const result of [...results, again, found]) {
      expect(result).toMatchObject({ kind: 'succeeded', method: { brand: 'visa', last4: '4242' } });
    }
    const references = [...results, again, found].map(
      (result) => 'reference' in result && result.reference,
    );
    expect(new Set(references).size).toBe(1);
    const intent = await stripe.paymentIntents.retrieve(String(references[0]));
    expect([intent.amount_received, intent.currency, intent.metadata['key']]).toEqual([
      1234,
      'usd',
      request.key,
    ]);
  });

  test.each([
    ['pm_card_chargeCustomerFail', 'card_declined'],
    ['pm_card_authenticationRequired', 'authentication_required'],
  ])('of %s is declined as %s, for ever', async (card, code) => {
    const request = await renewal(card);
    expect(await processor.chargeSaved(request)).toMatchObject({ kind: 'declined', code });
    expect(await processor.findCharge(request.key)).toMatchObject({ kind: 'declined', code });
    expect(await processor.chargeSaved(request)).toMatchObject({ kind: 'declined', code });
  });

  test('of a removed method has lost its mandate', async () => {
    const request = await renewal('pm_card_visa');
    expect(await processor.forget(request.saved)).toEqual({ kind: 'forgotten' });
    expect(await processor.chargeSaved(request)).toMatchObject({
      kind: 'declined',
      code: 'mandate_lost',
    });
  });

  test('that was canceled before it came is never made', async () => {
    const request = await renewal('pm_card_visa');
    expect((await processor.cancelCharge(request.key)).kind).toBe('not_attempted');
    expect((await processor.chargeSaved(request)).kind).toBe('not_attempted');
  });
});

test('Stripe refunds are made once each, and no more than was charged', async () => {
  const request = await renewal('pm_card_visa');
  await processor.chargeSaved(request);
  const refund = (amount: bigint, key: string = ids.next()) =>
    processor.refund({ key, chargeKey: request.key, amount, currency: 'USD' });
  const key = ids.next();
  const first = await refund(1000n, key);
  expect(first.kind).toBe('succeeded');
  expect(await refund(1000n, key)).toEqual(first);
  expect(await processor.findRefund(key)).toEqual(first);
  expect((await refund(235n)).kind).toBe('declined');
  expect((await refund(234n)).kind).toBe('succeeded');
  expect((await refund(1n)).kind).toBe('declined');
  expect((await processor.findRefund(ids.next())).kind).toBe('not_attempted');
});

describe('a page at Stripe', () => {
  // prettier-ignore
  test.each([
    ['for a purchase',          { amount: AMOUNT, currency: 'USD', save: false }],
    ['for a signup',            { amount: AMOUNT, currency: 'USD', save: true }],
    ['that only saves',         { amount: 0n,     currency: 'USD', save: true }],
    ['in a currency without decimals', { amount: 1200n,  currency: 'JPY', save: false }],
    ['in one with three',       { amount: 12_340n, currency: 'KWD', save: false }],
    ['that must be confirmed',  { amount: AMOUNT, currency: 'USD', save: true, confirms: true }],
  ])('%s is there for its buyer, until it is given up', async (_what, wish) => {
    const key = ids.next();
    const returnUrl = 'https://shop.example/back?a=b';
    const request = { key, instrument: null, returnUrl, ...wish };
    const made = await processor.charge(request);
    expect(made).toMatchObject({ kind: 'requires_action', url: expect.stringMatching(/^https?:/) });
    expect(await processor.charge(request)).toMatchObject({ kind: 'requires_action' });
    expect(await processor.findCharge(key)).toEqual(made);
    expect((await processor.cancelCharge(key)).kind).toBe('not_attempted');
    expect((await processor.findCharge(key)).kind).toBe('not_attempted');
    expect((await processor.charge(request)).kind).toBe('not_attempted');
  });
});
