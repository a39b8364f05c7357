// The sandbox's own cards and accounts when they are saved, and when they are charged off session.
import { timers } from '../../src/platform/clock.ts';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DECLINES } from '../../ledger/payments/declines.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { ChargeResult, Instrument } from '../../src/processors/processor.ts';
import { openSandbox } from '../../src/processors/sandbox.ts';
import { freshDatabase } from '../support/database.ts';

const NOW = Date.UTC(2026, 10, 15);
const SETTLE_MS = 3000;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 4, applicationName: 'saved test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const bankAt = (now: number) =>
  openSandbox({
    sql,
    timers,
    settleMs: SETTLE_MS,
    origin: 'https://bank.example',
    challengeUrl: (key) => key,
  })({ now: () => now });
const BANK = () => bankAt(NOW);

const card = (number: string, expiry = '12/34'): Instrument => ({
  type: 'card',
  number,
  expiry,
  cvc: '123',
});
const instrumentOf = (number: string): Instrument =>
  number.startsWith('DE') ? { type: 'bank_debit', iban: number } : card(number);

const saving = (instrument: Instrument, amount = 0n) => ({
  key: ids.next(),
  amount,
  currency: 'USD',
  instrument,
  save: true,
  returnUrl: 'https://shop.example/back',
});
const later = (name: string) => ({ key: ids.next(), saved: name, amount: 1250n, currency: 'USD' });
const said = (result: ChargeResult): string =>
  'code' in result ? `${result.kind} ${result.code}${hard(result)}` : result.kind;
const hard = (result: ChargeResult): string =>
  result.kind === 'declined' && DECLINES[result.code] === 'final' ? ', hard' : '';
const savedAs = (result: ChargeResult): string => {
  if (!('saved' in result) || result.saved === null) throw new Error(`${result.kind}, not saved`);
  return result.saved;
};

async function saved(instrument: Instrument): Promise<string> {
  const made = saving(instrument);
  await BANK().charge(made);
  await BANK().answerChallenge(made.key, true);
  await BANK().confirmCharge(made.key);
  return savedAs(await BANK().findCharge(made.key));
}

// prettier-ignore
const SAVINGS: [string, string, string][] = [
  // number                 with a charge                     without
  ['4242424242424242',       'succeeded',                      'succeeded'],
  ['4000000000000341',       'succeeded',                      'succeeded'],
  ['4000000000009235',       'succeeded',                      'succeeded'],
  ['4000002500003155',       'succeeded',                      'succeeded'],
  ['4000000000000002',       'declined card_declined',         'declined card_declined'],
  ['4000000000009995',       'declined insufficient_funds',    'declined insufficient_funds'],
  ['4000000000009987',       'declined lost_card, hard',       'declined lost_card, hard'],
  ['4000000000009979',       'declined stolen_card, hard',     'declined stolen_card, hard'],
  ['4000000000000069',       'declined expired_card',          'declined expired_card'],
  ['4000000000000119',       'not_attempted processing_error', 'not_attempted processing_error'],
  ['4000002760003184',       'requires_action',                'requires_action'],
  ['4000008400001629',       'requires_action',                'requires_action'],
  ['4000000000001000',       'unknown',                        'unknown'],
  // There is no money that could be lost on its way.
  ['4000000000001018',       'unknown',                        'succeeded'],
  ['DE89370400440532013000', 'pending',                        'succeeded'],
  ['DE62370400440532013001', 'pending',                        'succeeded'],
  ['4111111111111111',       'declined incorrect_number, hard', 'declined incorrect_number, hard'],
  ['DE75512108001245126199', 'declined incorrect_iban, hard',  'declined incorrect_iban, hard'],
];

test.each(SAVINGS)(
  'saving %s is %s, or %s where nothing is charged',
  async (number, paid, free) => {
    const instrument = instrumentOf(number);
    expect(said(await BANK().charge(saving(instrument, 1250n)))).toBe(paid);
    expect(said(await BANK().charge(saving(instrument)))).toBe(free);
  },
);

// prettier-ignore
const RENEWALS: [string, string, string][] = [
  // number                  answers                   and is, once settled
  ['4242424242424242',       'succeeded',              'succeeded'],
  ['4000000000000341',       'declined card_declined', 'declined card_declined'],
  ['4000000000009235',       'declined insufficient_funds', 'declined insufficient_funds'],
  ['4000002500003155',       'declined authentication_required, hard', 'declined authentication_required, hard'],
  ['4000002760003184',       'succeeded',              'succeeded'],
  ['4000000000001000',       'unknown',                'succeeded'],
  ['4000000000001018',       'unknown',                'not_attempted not_found'],
  ['DE89370400440532013000', 'pending',                'succeeded'],
  ['DE62370400440532013001', 'pending',                'declined insufficient_funds'],
];

test.each(RENEWALS)('a charge of the saved %s is %s, then %s', async (number, first, then) => {
  const made = later(await saved(instrumentOf(number)));
  expect(said(await BANK().chargeSaved(made))).toBe(first);
  expect(said(await bankAt(NOW + SETTLE_MS).findCharge(made.key))).toBe(then);
});

test('a bank debit that is accepted is saved at once, and stays so when it bounces', async () => {
  const made = saving(instrumentOf('DE62370400440532013001'), 1250n);
  const name = savedAs(await BANK().charge(made));
  const after = bankAt(NOW + SETTLE_MS);
  expect(said(await after.findCharge(made.key))).toBe('declined insufficient_funds');
  expect((await after.chargeSaved(later(name))).kind).toBe('pending');
});

test('a saved card tells its last month, and is declined when that is over', async () => {
  const instrument = card('4242 4242 4242 4242', '1/2027');
  const result = await BANK().charge(saving(instrument));
  expect(result).toMatchObject({ expiry: { month: 1, year: 2027 } });
  const name = savedAs(result);
  const lastMoment = Date.UTC(2027, 1) - 1;
  expect(said(await bankAt(lastMoment).chargeSaved(later(name)))).toBe('succeeded');
  const made = later(name);
  expect(said(await bankAt(lastMoment + 1).chargeSaved(made))).toBe('declined expired_card');
  expect(said(await bankAt(lastMoment).chargeSaved(made))).toBe('declined expired_card');
  const debit = await BANK().charge(saving(instrumentOf('DE89370400440532013000')));
  expect(debit).toMatchObject({ expiry: null });
});

const UNSAVED: [string, ReturnType<typeof saving>, boolean | null][] = [
  ['that waits for its buyer', saving(card('4000002760003184')), null],
  ['that its buyer did not agree to', saving(card('4000002760003184')), false],
  ['that its bank declined after all', saving(card('4000008400001629')), true],
  ['that was declined', saving(card('4000000000000002')), null],
  ['that did not ask to', { ...saving(card('4242424242424242'), 1n), save: false }, null],
];

test.each(UNSAVED)('nothing is saved by a charge %s', async (_what, made, answer) => {
  const name = savedAs(await BANK().charge(saving(card('4242424242424242'))));
  const prefix = name.slice(0, name.lastIndexOf('_') + 1);
  await BANK().charge(made);
  if (answer !== null) await BANK().answerChallenge(made.key, answer);
  await BANK().confirmCharge(made.key);
  const result = await BANK().chargeSaved(later(`${prefix}${made.key}`));
  expect(said(result)).toBe('declined mandate_lost, hard');
});

test('a renewal saves no payment method of its own', async () => {
  const name = await saved(card('4242424242424242'));
  const made = later(name);
  expect(savedAs(await BANK().chargeSaved(made))).toBe(name);
  const prefix = name.slice(0, name.lastIndexOf('_') + 1);
  const result = await BANK().chargeSaved(later(`${prefix}${made.key}`));
  expect(said(result)).toBe('declined mandate_lost, hard');
});

test('a refund of a renewal goes as its saved card says', async () => {
  for (const [number, kind] of [
    ['4242424242424242', 'succeeded'],
    ['4000000000007726', 'pending'],
  ] as const) {
    const made = later(await saved(card(number)));
    await BANK().chargeSaved(made);
    const refund = { key: ids.next(), chargeKey: made.key, amount: 1n, currency: 'USD' };
    expect((await BANK().refund(refund)).kind).toBe(kind);
  }
});

test('a saved payment method outlives the process, and is not the number', async () => {
  for (const [number] of RENEWALS) await saved(instrumentOf(number));
  const books = JSON.stringify(await sql`select to_jsonb(c)::text as row from sandbox_charges c`);
  for (const [number] of [...SAVINGS, ...RENEWALS]) expect(books).not.toContain(number);
  expect(books).not.toContain('123"');
});

test('saved charges at once have each its own answer; one that cannot be written fails alone', async () => {
  const [good, bad] = [
    await saved(card('4242424242424242')),
    await saved(card('4000000000000341')),
  ];
  const bank = BANK();
  const twice = later(good);
  const charges = [
    { ...later(good), amount: 2n ** 80n },
    ...Array.from({ length: 120 }, (_, index) => later(index % 2 === 0 ? good : bad)),
    twice,
    twice,
  ];
  const answers = await Promise.allSettled(charges.map((charge) => bank.chargeSaved(charge)));
  const [impossible, ...others] = answers.map((answer) =>
    answer.status === 'fulfilled' ? said(answer.value) : 'failed',
  );
  expect(impossible).toBe('failed');
  expect(others).toEqual([
    ...Array.from({ length: 120 }, (_, i) =>
      i % 2 === 0 ? 'succeeded' : 'declined card_declined',
    ),
    'succeeded',
    'succeeded',
  ]);
});
