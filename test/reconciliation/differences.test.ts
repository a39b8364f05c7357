// Each kind of difference, planted in the rows of our side or made at Stripe: found and named,
// seen again, and resolved when it is none any more.
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import type { Payment } from '../payments/shop.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(120_000);

let bed: Bed;
let sql: Sql;
beforeAll(async () => {
  bed = await Bed.open();
  ({ sql } = bed.shop.server);
});
// The books are wrong on purpose, so there is no audit.
afterAll(async () => {
  await bed.shop.server.stop();
  await bed.fake.close();
});
beforeEach(async () => {
  await sql`truncate reconciliation_differences, reconciliation_runs`;
});

type Plant = {
  readonly plant: (payment: Payment) => Promise<unknown>;
  readonly mend: (payment: Payment) => Promise<unknown>;
  readonly found: readonly string[];
};

const PLANTS: Readonly<Record<string, Plant>> = {
  'an amount': {
    plant: ({ id }) =>
      sql`update balances set credits_posted = credits_posted + 1 where id = ${id}`,
    mend: ({ id }) => sql`update balances set credits_posted = credits_posted - 1 where id = ${id}`,
    found: ['charge amount 100.01 USD succeeded / 100.00 USD succeeded'],
  },
  'a currency': {
    plant: ({ id }) => sql`update payments set currency = 'EUR' where id = ${id}`,
    mend: ({ id }) => sql`update payments set currency = 'USD' where id = ${id}`,
    found: ['charge currency 100.00 EUR succeeded / 100.00 USD succeeded'],
  },
  'a state': {
    plant: ({ id }) => sql`update payments set status = 'failed' where id = ${id}`,
    mend: ({ id }) => sql`update payments set status = 'succeeded' where id = ${id}`,
    found: ['charge state 100.00 USD failed / 100.00 USD succeeded'],
  },
  'a charge that we do not have': {
    plant: ({ id }) => sql`update payments set processor = 'stripe:acct_other' where id = ${id}`,
    mend: ({ id }) =>
      sql`update payments set processor = ${`stripe:${bed.account.id}`} where id = ${id}`,
    found: ['charge extra null / 100.00 USD succeeded'],
  },
};

const found = async () => {
  const rows = await sql<{ text: string }[]>`
    select subject || ' ' || kind || ' ' || coalesce(ours, 'null') || ' / ' || coalesce(theirs, 'null') as text
    from reconciliation_differences where resolved_at is null order by id`;
  return rows.map(({ text }) => text);
};

describe.each(Object.entries(PLANTS))(
  'a difference of %s',
  (_name, { plant, mend, found: wanted }) => {
    test('is found, seen again, and resolved', async () => {
      const payment = await bed.buy();
      await plant(payment);
      await bed.night();
      expect(await found()).toEqual([...wanted]);
      const [first] = await sql`select id, found_at, seen_at from reconciliation_differences`;
      await bed.night();
      expect(await found()).toEqual([...wanted]);
      const [again] = await sql`select id, found_at, seen_at from reconciliation_differences`;
      expect([again?.['id'], again?.['found_at']]).toEqual([first?.['id'], first?.['found_at']]);
      expect(again?.['seen_at'] > first?.['seen_at']).toBe(true);
      await mend(payment);
      await bed.night();
      expect(await found()).toEqual([]);
      const rows = await sql`select from reconciliation_differences where resolved_at is not null`;
      expect(rows.length).toBe(wanted.length);
    });
  },
);

/** The payment is of another account than the one where its money is. */
const moveTo = (account: string, { id }: Payment) =>
  sql`update payments set processor = ${`stripe:${account}`} where id = ${id}`;

test('reconciliation finds a charge and a refund that Stripe does not have', async () => {
  const payment = await bed.buy();
  await bed.refund(payment, '4.50');
  const other = bed.fake.newAccount();
  await bed.connect(other);
  await moveTo(other.id, payment);
  await bed.night();
  // By the account where they should be; and by the one that has them.
  expect(await found()).toEqual(
    expect.arrayContaining([
      'charge missing 100.00 USD succeeded / null',
      'refund missing 4.50 USD succeeded / null',
      'charge extra null / 100.00 USD succeeded',
      'refund extra null / 4.50 USD succeeded',
    ]),
  );
  await moveTo(bed.account.id, payment);
  await bed.connect(bed.account);
  await bed.night();
  expect(await found()).toEqual([]);
});

test('reconciliation finds a refund that the two sides settled otherwise', async () => {
  const payment = await bed.buy();
  const { id } = await bed.refund(payment, '4.50');
  await sql`update refunds set status = 'failed', failure_reason = 'declined' where id = ${id}`;
  await bed.night();
  expect(await found()).toEqual(['refund state 4.50 USD failed / 4.50 USD succeeded']);
  await sql`update refunds set status = 'succeeded', failure_reason = null where id = ${id}`;
  await bed.night();
  expect(await found()).toEqual([]);
});

test('reconciliation finds no difference in a dispute won in part: both sides have lost the rest', async () => {
  const payment = await bed.buy();
  const dispute = bed.fake.dispute(bed.intentOf(payment));
  bed.fake.closeDispute(dispute, 'lost', 4000);
  await bed.night();
  expect(await found()).toEqual([]);
  const rows = await sql`select status, amount from disputes where reference = ${dispute}`;
  expect([...rows]).toEqual([{ status: 'lost', amount: 6000n }]);
});

test('reconciliation finds a dispute that the two sides closed otherwise', async () => {
  const payment = await bed.buy();
  const dispute = bed.fake.dispute(bed.intentOf(payment));
  bed.fake.closeDispute(dispute, 'lost');
  await bed.night();
  expect(await found()).toEqual([]);
  await sql`update disputes set amount = amount + 1 where reference = ${dispute}`;
  await bed.night();
  expect(await found()).toEqual(['dispute amount 100.01 USD lost / 100.00 USD lost']);
  await sql`update disputes set amount = amount - 1 where reference = ${dispute}`;
  await bed.night();
  expect(await found()).toEqual([]);
});

test("in test mode reconciliation allows an organisation's clock to be months ahead", async () => {
  await bed.shop.server.call('POST', '/test-clock', { body: { advance: 'P2M' } });
  const payment = await bed.buy();
  const other = bed.fake.newAccount();
  await bed.connect(other);
  await moveTo(other.id, payment);
  await bed.night();
  expect(await found()).toContain('charge missing 100.00 USD succeeded / null');
  await moveTo(bed.account.id, payment);
  await bed.connect(bed.account);
  await bed.night();
  expect(await found()).toEqual([]);
});

// It cannot be taken back, so it comes last.
test('reconciliation finds a refund made at Stripe, and ignores charges of others', async () => {
  const payment = await bed.buy();
  // Its charge is on a later page than the refund.
  await bed.sellElsewhere(101);
  const foreign = bed.books.charges.at(-1);
  const { id } = await bed.stripe.refunds.create({
    payment_intent: bed.intentOf(payment),
    amount: 250,
  });
  await bed.stripe.refunds.create({ charge: foreign?.id ?? '' });
  await bed.night();
  expect(await found()).toEqual(['refund extra null / 2.50 USD succeeded']);
  const [row] = await sql`select key, reference, payment_id from reconciliation_differences`;
  expect(row).toEqual({ key: id, reference: id, payment_id: payment.id });
  expect(
    bed.logged.filter((line) => line.includes('found a difference') && line.includes(id)),
  ).toHaveLength(1);
});
