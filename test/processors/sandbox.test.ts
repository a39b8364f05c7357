// The sandbox: the conformance suite, bare and guarded, and its own cards and accounts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { guarded } from '../../src/processors/guarded.ts';
import type { ChargeResult, Instrument } from '../../src/processors/processor.ts';
import { type Sandbox, openSandbox } from '../../src/processors/sandbox.ts';
import { freshDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { conforms } from './conformance.ts';
import type { Rig } from './rig.ts';

const SETTLE_MS = 3000;
/** In the middle of a month, so that this month's cards are valid. */
const NOW = Date.UTC(2026, 10, 15);
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

const card = (number: string): Instrument => ({
  type: 'card',
  number,
  expiry: '12/34',
  cvc: '123',
});
const debit = (iban: string): Instrument => ({ type: 'bank_debit', iban });

const INSTRUMENTS: Rig['instruments'] = {
  succeeds: card('4242424242424242'),
  succeeds_at_first: card('4000000000000341'),
  settles: debit('DE89370400440532013000'),
  bounces: debit('DE62370400440532013001'),
  challenges: card('4000002760003184'),
  declines: card('4000000000000002'),
  errors: card('4000000000000119'),
  loses_the_answer: card('4000000000001000'),
  loses_the_request: card('4000000000001018'),
  refund_settles: card('4000000000007726'),
  refund_fails_late: card('4000000000005126'),
  disputed_lost: card('4000000000000259'),
  disputed_won: card('4000000000002685'),
};

async function openRig(wrap: (bank: Sandbox) => Rig['processor']): Promise<Rig> {
  const database = await freshDatabase();
  const sql = openPool(database.url, { max: 8, applicationName: 'sandbox test' });
  let now = NOW;
  const open = () =>
    openSandbox({
      sql,
      timers,
      settleMs: SETTLE_MS,
      origin: 'https://bank.example',
      challengeUrl: (key) => `https://bank.example/${encodeURIComponent(key)}`,
    })({ now: () => now });
  const bank = open();
  return {
    processor: wrap(bank),
    another: wrap(open()),
    instruments: INSTRUMENTS,
    most: { amount: 999_999_999_999_999n, currency: 'KWD' },
    newKey: () => ids.next(),
    settle: () => void (now += SETTLE_MS),
    answer: async (key, passed) => void (await bank.answerChallenge(key, passed)),
    async close() {
      await sql.end();
      await database.drop();
    },
  };
}

conforms('sandbox', () => openRig((bank) => bank));
conforms('guarded sandbox', () =>
  openRig((bank) => guarded(bank, { timers, deadlineMs: 30_000, log: SILENT })),
);

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 4, applicationName: 'sandbox test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const openBank = (settleMs = SETTLE_MS) =>
  openSandbox({
    sql,
    timers,
    settleMs,
    origin: 'https://bank.example',
    challengeUrl: (key) => `https://bank.example/${key}`,
  })({ now: () => NOW });
const chargeOf = (instrument: Instrument | null, key = ids.next()) => ({
  key,
  amount: 1250n,
  currency: 'USD',
  instrument,
  save: false,
  returnUrl: 'https://shop.example/back',
});

// prettier-ignore
const CARDS: [string, string, string | null][] = [
  // number              answers            code
  ['4242424242424242',   'succeeded',       null],
  ['4242 4242 4242 4242', 'succeeded',      null],
  ['4242-4242-4242-4242', 'succeeded',      null],
  [' 4242424242424242 ', 'succeeded',       null],
  ['5555555555554444',   'succeeded',       null],
  ['378282246310005',    'succeeded',       null],
  ['4000000000000341',   'succeeded',       null],
  ['4000000000009235',   'succeeded',       null],
  ['4000002500003155',   'succeeded',       null],
  ['4000000000000259',   'succeeded',       null],
  ['4000000000002685',   'succeeded',       null],
  ['4000000000000002',   'declined',        'card_declined'],
  ['4000000000009995',   'declined',        'insufficient_funds'],
  ['4000000000009987',   'declined',        'lost_card'],
  ['4000000000009979',   'declined',        'stolen_card'],
  ['4000000000000069',   'declined',        'expired_card'],
  ['4000000000000127',   'declined',        'incorrect_cvc'],
  ['4000000000000119',   'not_attempted',   'processing_error'],
  ['4000002760003184',   'requires_action', null],
  ['4000008400001629',   'requires_action', null],
  // A valid checksum is not enough: it may be a real card.
  ['4111111111111111',   'declined',        'incorrect_number'],
  ['424242424242424',    'declined',        'incorrect_number'],
  ['',                   'declined',        'incorrect_number'],
  ['4242424242424242\u0000', 'declined',    'incorrect_number'],
  ['DE89370400440532013000', 'declined',    'incorrect_number'],
];

const codeOf = (result: ChargeResult): string | null => ('code' in result ? result.code : null);

test.each(CARDS)("the sandbox's card %p is %s %p", async (number, kind, code) => {
  const result = await openBank().charge(chargeOf(card(number)));
  expect([result.kind, codeOf(result)]).toEqual([kind as 'declined', code]);
});

// prettier-ignore
const DETAILS: [string, string, string | null][] = [
  // expiry     cvc       code
  ['11/26',     '123',    null],
  ['12/34',     '1234',   null],
  ['1/27',      '123',    null],
  [' 01 / 27 ', ' 123 ',  null],
  ['11/2026',   '123',    null],
  ['10/26',     '123',    'expired_card'],
  ['12/25',     '123',    'expired_card'],
  ['10/2026',   '123',    'expired_card'],
  ['13/30',     '123',    'invalid_expiry'],
  ['00/30',     '123',    'invalid_expiry'],
  ['12/1930',   '123',    'invalid_expiry'],
  ['12-30',     '123',    'invalid_expiry'],
  ['1230',      '123',    'invalid_expiry'],
  ['12/3',      '123',    'invalid_expiry'],
  ['',          '123',    'invalid_expiry'],
  ['12/34',     '12',     'incorrect_cvc'],
  ['12/34',     '12345',  'incorrect_cvc'],
  ['12/34',     '12a',    'incorrect_cvc'],
  ['12/34',     '',       'incorrect_cvc'],
];

test.each(DETAILS)("the sandbox's expiry %p, security code %p is %p", async (expiry, cvc, code) => {
  const instrument = { type: 'card', number: '4242424242424242', expiry, cvc } as const;
  const result = await openBank().charge(chargeOf(instrument));
  expect([result.kind, codeOf(result)]).toEqual([code === null ? 'succeeded' : 'declined', code]);
  expect('method' in result && result.method).toEqual({
    type: 'card',
    brand: 'visa',
    last4: '4242',
  });
});

// prettier-ignore
const ACCOUNTS: [string, string, string | null][] = [
  ['DE89370400440532013000',      'pending',  null],
  ['de89 3704 0044 0532 0130 00', 'pending',  null],
  ['DE62370400440532013001',      'pending',  null],
  ['DE75512108001245126199',      'declined', 'incorrect_iban'],
  ['4242424242424242',            'declined', 'incorrect_iban'],
];

test.each(ACCOUNTS)("the sandbox's account %p is %s %p", async (iban, kind, code) => {
  const result = await openBank().charge(chargeOf(debit(iban)));
  expect([result.kind, codeOf(result)]).toEqual([kind as 'declined', code]);
});

test('the sandbox keeps nothing of an unknown card number, which may be real', async () => {
  const [number, iban] = ['4111111111111111', 'DE75512108001245126199'];
  await openBank().charge(chargeOf(card(number)));
  await openBank().charge(chargeOf(debit(iban)));
  await openBank().charge(chargeOf(card('4000002760003184')));
  const books = JSON.stringify(await sql`select to_jsonb(c)::text as row from sandbox_charges c`);
  for (const typed of [number, iban, '4000002760003184', '4242424242424242', '"1111"', '"6199"']) {
    expect(books).not.toContain(typed);
  }
});

test('a challenge that the buyer passes may still be declined by the sandbox', async () => {
  const bank = openBank();
  const made = chargeOf(card('4000008400001629'));
  await bank.charge(made);
  expect(await bank.answerChallenge(made.key, true)).toEqual({ returnUrl: made.returnUrl });
  expect(await bank.confirmCharge(made.key)).toMatchObject({
    kind: 'declined',
    code: 'card_declined',
  });
});

test('of many answers to a sandbox challenge at once one is taken', async () => {
  const bank = openBank();
  const made = chargeOf(card('4000002760003184'));
  await bank.charge(made);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => bank.answerChallenge(made.key, index % 2 === 0)),
  );
  expect(answers.filter((answer) => answer !== null)).toEqual([{ returnUrl: made.returnUrl }]);
});

test("what the sandbox's bank asks is known while it asks and after", async () => {
  const bank = openBank();
  const made = chargeOf(card('4000002760003184'));
  await bank.charge(made);
  const challenge = {
    amount: 1250n,
    currency: 'USD',
    method: { type: 'card', brand: 'visa', last4: '3184' },
    returnUrl: made.returnUrl,
  } as const;
  expect(await bank.findChallenge(made.key)).toEqual({ ...challenge, isOpen: true });
  await bank.answerChallenge(made.key, false);
  expect(await bank.findChallenge(made.key)).toEqual({ ...challenge, isOpen: false });
  const plain = chargeOf(card('4242424242424242'));
  await bank.charge(plain);
  expect(await bank.findChallenge(plain.key)).toBeNull();
  expect(await bank.findChallenge(ids.next())).toBeNull();
  expect(await bank.answerChallenge(plain.key, true)).toBeNull();
});

test("the sandbox's books outlive the process", async () => {
  const made = chargeOf(card('4242424242424242'));
  const result = await openBank().charge(made);
  expect(await openBank().findCharge(made.key)).toEqual(result);
});

test('a sandbox payment is settled at once where nothing waits', async () => {
  const bank = openBank(0);
  const settled = chargeOf(debit('DE89370400440532013000'));
  expect((await bank.charge(settled)).kind).toBe('succeeded');
  const bounced = chargeOf(debit('DE62370400440532013001'));
  expect(await bank.charge(bounced)).toMatchObject({
    kind: 'declined',
    code: 'insufficient_funds',
  });
});

test('sandbox charges whose common statement the database cancels are not retried one by one', async () => {
  const bank = openBank();
  const canceled = new Set<string>();
  const answers = await sql.begin(async (held) => {
    await held`lock table sandbox_charges in exclusive mode`;
    let isOver = false;
    const asked = Promise.allSettled(
      Array.from({ length: 20 }, () => bank.charge(chargeOf(card('4242424242424242')))),
    ).finally(() => {
      isOver = true;
    });
    await until('all are answered', async () => {
      const waiting = await sql<{ since: string }[]>`
        select query_start::text as since, pg_cancel_backend(pid) from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%sandbox_charges%' and datname = current_database()`;
      for (const { since } of waiting) canceled.add(since);
      return isOver;
    });
    return asked;
  });
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
  expect(canceled.size).toBeLessThan(5);
});

const refundOf = (chargeKey: string, amount: bigint) => ({
  key: ids.next(),
  chargeKey,
  amount,
  currency: 'USD',
});

test('sandbox refunds at the same moment share a statement', async () => {
  const bank = openBank();
  const charge = chargeOf(card('4242424242424242'));
  await bank.charge(charge);
  await Promise.all(Array.from({ length: 20 }, () => bank.refund(refundOf(charge.key, 1n))));
  const [row] = await sql<{ made: bigint; statements: bigint }[]>`
    select count(*) as made, count(distinct xmin::text) as statements
    from sandbox_refunds where charge_key = ${charge.key}`;
  expect(row).toEqual({ made: 20n, statements: 1n });
});

test('each of many sandbox refunds at once has its own answer, sent by two processes too', async () => {
  const banks = [openBank(), openBank()] as const;
  const numbers = ['4242424242424242', '4000000000007726', '4000000000005126'];
  const charges = numbers.map((number) => chargeOf(card(number)));
  for (const charge of charges) await banks[0].charge(charge);
  const some = charges.flatMap(({ key }) => Array.from({ length: 20 }, () => refundOf(key, 10n)));
  const impossible = refundOf(charges[0]?.key ?? '', 2n ** 80n);
  // In two orders.
  const sent = [...some, impossible, ...some.toReversed()];
  const answers = await Promise.allSettled(
    sent.map((refund, nth) => banks[nth < some.length ? 0 : 1].refund(refund)),
  );
  const kinds = answers.map((answer) =>
    answer.status === 'fulfilled' ? answer.value.kind : 'failed',
  );
  const own = some.map((_, nth) => (nth >= 20 && nth < 40 ? 'pending' : 'succeeded'));
  expect(kinds).toEqual([...own, 'failed', ...own.toReversed()]);
  const rows = await sql<{ refunded: bigint; made: bigint }[]>`
    select c.refunded, count(*) as made
    from sandbox_charges c join sandbox_refunds r on r.charge_key = c.key
    where c.key = any(${charges.map(({ key }) => key)}) group by c.key`;
  expect(rows.map(({ refunded, made }) => [refunded, made])).toEqual(
    charges.map(() => [200n, 20n]),
  );
});
