// Refunds of a payment beside a dispute of it: whatever happens at once has an outcome of an order
// of them, no more goes back than was captured, and payment, invoice, events and bank agree.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { refundedOf } from '../support/bank.ts';
import { orders } from '../support/orders.ts';
import { until } from '../support/until.ts';
import { PATIENCE_MS, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

const CAPTURED = 100;

/** In whole dollars. */
type Account = {
  readonly refunded: number;
  readonly held: number;
  readonly chargedBack: number;
  readonly dispute: 'none' | 'opened' | 'lost' | 'won';
};

const leftOf = ({ refunded, held, chargedBack }: Account): number =>
  CAPTURED - refunded - held - chargedBack;
const isDisputed = ({ dispute }: Account): boolean => dispute === 'opened' || dispute === 'lost';

function refund(account: Account, amount: number): readonly [boolean, Account] {
  const isMade = !isDisputed(account) && amount > 0 && amount <= leftOf(account);
  return [isMade, isMade ? { ...account, refunded: account.refunded + amount } : account];
}

/** Whether money goes back, and what is so afterwards. */
const RULES: Readonly<Record<string, (account: Account) => readonly [boolean, Account]>> = {
  'refund 40': (account) => refund(account, 40),
  'refund 70': (account) => refund(account, 70),
  'refund the rest': (account) => refund(account, leftOf(account)),
  opened(account) {
    if (account.dispute !== 'none') return [false, account];
    return [false, { ...account, dispute: 'opened', held: leftOf(account) }];
  },
  lost(account) {
    const chargedBack = account.held + leftOf(account);
    return [false, { ...account, dispute: 'lost', held: 0, chargedBack }];
  },
  won: (account) => [false, { ...account, dispute: 'won', held: 0 }],
};
const REFUNDS = ['refund 40', 'refund 70', 'refund the rest'];

async function act(id: string, action: string): Promise<boolean> {
  const { server } = shop;
  if (REFUNDS.includes(action)) {
    const amount = /\d+/.exec(action)?.[0];
    const { status, json } = await shop.refund(id, amount === undefined ? {} : { amount });
    const why = json.error?.message ?? json.failure_reason ?? '';
    if (json.status !== 'succeeded') expect(why).toMatch(/disputed|left to refund/);
    expect([200, 400]).toContain(status);
    return json.status === 'succeeded';
  }
  // The books of the bank: it knows of a dispute once, and ends it once.
  const ends = action === 'won' ? 'won' : 'lost';
  const inMs = action === 'opened' ? 3_600_000 : -1000;
  await server.sql`
    update sandbox_charges set dispute = ${ends}, dispute_ends_at = now() + ${inMs} * interval '1 ms'
    where key = ${id} and (dispute is null or ${inMs} < 0)`;
  const scope = { organisationId: server.organisation.id, mode: 'test' as const };
  await server.payments.pollDisputes(scope, id);
  return false;
}

const cents = (amount: string | undefined): number => Number(amount ?? '0');

async function seen(id: string, invoiceId: string): Promise<Account> {
  await until('the invoice has heard', async () => {
    const owed = await shop.server.sql`select from followups where payment_id = ${id}`;
    return owed.length === 0;
  });
  const payment = await shop.payment(id);
  const [dispute] = payment.disputes ?? [];
  const account: Account = {
    refunded: cents(payment.amount_refunded),
    held: cents(dispute?.amount_held),
    chargedBack: cents(dispute?.amount_charged_back),
    dispute: dispute?.status ?? 'none',
  };
  expect(payment.amount_refund_pending).toBe('0.00');
  expect(cents(payment.refundable_amount)).toBe(leftOf(account));
  const invoice = await shop.read(`/invoices/${invoiceId}`);
  expect({
    refunded: cents(invoice.amount_refunded),
    chargedBack: cents(invoice.amount_charged_back),
  }).toEqual({ refunded: account.refunded, chargedBack: account.chargedBack });
  const there = await refundedOf(shop.server, id);
  expect(Number(there.reduce((sum, amount) => sum + amount, 0n))).toBe(account.refunded * 100);
  const announced = (await shop.events(id)).filter(({ type }) => type === 'payment.refunded');
  expect(announced).toHaveLength(there.length);
  return account;
}

async function live(moments: readonly (readonly string[])[]): Promise<void> {
  const { id, invoice_id } = await shop.buy();
  const start: Account = { refunded: 0, held: 0, chargedBack: 0, dispute: 'none' };
  let may: readonly Account[] = [start];
  for (const actions of moments) {
    const answers = await Promise.all(actions.map((action) => act(id, action)));
    const account = await seen(id, invoice_id);
    const before = may;
    may = before.flatMap((one) =>
      [...orders(actions)].flatMap((order) => {
        let after = one;
        for (const action of order) {
          const [isMade, next] = RULES[action]!(after);
          if (isMade !== answers[actions.indexOf(action)]) return [];
          after = next;
        }
        return Bun.deepEquals(after, account) ? [after] : [];
      }),
    );
    if (may.length === 0) {
      throw new Error(
        `no order of them explains it: ${JSON.stringify({ moments, actions, answers, account, before })}`,
      );
    }
  }
}

/** What a bank says last is said once. */
const isPossible = (actions: readonly string[]): boolean =>
  !(actions.includes('won') && actions.includes('lost'));

const ALL = Object.keys(RULES);
const PAIRS = ALL.flatMap((one) => ALL.map((other) => [one, other] as const)).filter(
  ([one, other]) => one < other && isPossible([one, other]),
);

test.each(PAIRS)('%s and %s of a payment at once, and a third after them', async (one, other) => {
  const thirds = ALL.filter((third) => isPossible([one, other, third]));
  for (const third of thirds.filter((name) => name !== one && name !== other)) {
    await live([[one, other], [third]]);
  }
});

test.each(PAIRS)('%s and %s of a payment, and any third at once', async (one, other) => {
  for (const third of ALL.filter((name) => name > other && isPossible([one, other, name]))) {
    await live([[one, other, third]]);
  }
});

test('after refunds and disputes at once the books agree', async () => {
  expect(await audit(shop.server.sql)).toEqual([]);
});
