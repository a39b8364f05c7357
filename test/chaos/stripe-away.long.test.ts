// Stripe is away for an hour, or answers one account so slowly that nobody waits for it: what waits
// is carried out once when it is back, and nobody else notices.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createOrganisation } from '../../src/accounts/onboarding.ts';
import { clock } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, buy, type Seller } from '../support/shop.ts';
import {
  closeStripeSide,
  openStripeSide,
  stripeAt,
  type StripeSide,
} from '../support/stripe-side.ts';
import { until } from '../support/until.ts';
import { wrongBooks } from './money.ts';
import { wrongAtStripe } from './stripe-books.ts';
import { openStripeGate, type StripeGate } from './stripe-gate.ts';

setDefaultTimeout(450_000);

const SUBSCRIBERS = 24;
/** Less than one call of Stripe's is waited for. */
const NOTICED_MS = 5000;
const ROUNDS = 10;
/** Longer than a charge waits between two questions. */
const NEXT_QUESTION = 'PT5M';

let side: StripeSide;
let gate: StripeGate;
let server: TestServer;
/** On Stripe, on another account there, and on the sandbox. */
let club: Club;
let other: Club;
let sandbox: Club;

beforeAll(async () => {
  const fake = await openStripeSide();
  gate = openStripeGate(fake.fake.url);
  side = stripeAt(fake, gate.url);
  server = await startServer({ stripe: side, settings: (url) => ({ appUrl: url }) });
  const third = await createOrganisation(
    { sql: server.sql, ids, now: clock.now() },
    { name: 'Third', groupId: null },
  );
  if (typeof third === 'string') throw new Error(third);
  club = await Club.open(server, server.organisation);
  other = await Club.open(server, server.other);
  sandbox = await Club.open(server, third);
  await Promise.all(Array.from({ length: SUBSCRIBERS }, (_, n) => club.signUp(n)));
});
afterAll(async () => {
  await server.stop();
  await gate.stop();
  await closeStripeSide(side);
});

/** A merchant with a plan for a month. */
class Club {
  readonly #seller: Seller;
  readonly #productId: string;
  readonly id: string;

  private constructor(seller: Seller, made: { readonly id: string; readonly productId: string }) {
    this.#seller = seller;
    this.#productId = made.productId;
    this.id = made.id;
  }

  static async open({ url }: TestServer, its: { id: string; testKey: string }): Promise<Club> {
    const seller = { url, key: its.testKey };
    await ask(seller, 'POST', '/meters', { slug: 'calls', scale: 0 });
    const prices = [{ currency: 'USD', amount: '10.00', type: 'recurring', interval: 'month' }];
    const { id: productId } = await ask(seller, 'POST', '/products', { name: 'Plan', prices });
    const given = { feature_key: 'calls', limit: 1000 };
    await ask(seller, 'POST', `/products/${productId}/entitlements`, given);
    return new Club(seller, { id: its.id, productId });
  }

  ask(method: string, path: string, body?: object) {
    return ask(this.#seller, method, path, body);
  }

  /** The payment. */
  signUp(n: number): Promise<string> {
    const who = { customer_email: `${n}@example.com`, external_customer_id: `user-${n}` };
    return buy(this.#seller, { product_id: this.#productId, means: ['good'], ...who });
  }

  refund(paymentId: string): Promise<{ id: string; status: string }> {
    return this.ask('POST', `/payments/${paymentId}/refund`, { amount: '1.00' });
  }

  use(path: '/check' | '/track', n: number) {
    return this.ask('POST', path, {
      feature_key: 'calls',
      external_customer_id: `user-${n}`,
      value: 1,
    });
  }

  advance(duration: string) {
    return this.ask('POST', '/test-clock', { advance: duration });
  }

  /** How many payments have each status. */
  async statuses(): Promise<Readonly<Record<string, number>>> {
    const rows = await server.sql<{ status: string; count: number }[]>`
      select status, count(*)::int as count from payments where organisation_id = ${this.id} group by status`;
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }
}

/**
 * Nobody was told of a failed payment, each renewal is charged once, and all books are equal. The
 * clock passes to the next question: of those that ask at the same time, one is the probe by which
 * Stripe is found to be back, and the others ask again.
 */
async function expectOnce(payments: number): Promise<void> {
  await until('all is carried out', async () => {
    const { succeeded = 0, processing = 0, partially_refunded: some = 0 } = await club.statuses();
    if (processing === 0 && succeeded + some === payments) return true;
    await club.advance(NEXT_QUESTION);
    return false;
  });
  await until('nothing is left to do', async () => {
    const [row] = await server.sql<{ refunds: number; followups: number }[]>`
      select (select count(*) from refunds where status = 'pending')::int as refunds,
        (select count(*) from followups)::int as followups`;
    if (row?.refunds !== 0) await club.advance(NEXT_QUESTION);
    return row?.refunds === 0 && row.followups === 0;
  });
  const told = await server.sql`
    select type from events where organisation_id = ${club.id} and type in ('payment.failed', 'payment.errored')`;
  expect(told).toHaveLength(0);
  const [open] = await server.sql<{ open: number }[]>`
    select count(*)::int as open from invoices where organisation_id = ${club.id} and status <> 'paid'`;
  expect(open?.open).toBe(0);
  const books = side.fake.books(side.accounts.get(club.id)?.id ?? '', 'test');
  expect(await wrongAtStripe(server.sql, club.id, books)).toEqual([]);
  expect(await wrongBooks(server.sql)).toEqual([]);
}

test('Stripe is away for an hour while all renew: each is charged once when it is back', async () => {
  const first = await club.ask('GET', '/payments?limit=1');
  side.fake.away(true);
  await club.advance('P1M');
  await club.advance('PT1H');
  expect(await club.statuses()).toEqual({ succeeded: SUBSCRIBERS, processing: SUBSCRIBERS });
  expect((await club.refund(first.data[0].id)).status).toBe('pending');
  const { data } = await club.ask('GET', '/subscriptions?limit=200');
  const states = new Set(data.map((one: { overdue_state: string }) => one.overdue_state));
  expect([...states]).toEqual(['clear']);
  expect((await club.use('/check', 0)).allowed).toBe(true);
  side.fake.away(false);
  await expectOnce(2 * SUBSCRIBERS);
});

test("Stripe is silent for one account: no other is affected, nor that one's customers", async () => {
  const key = side.accounts.get(club.id)?.testKey ?? '';
  const page = (await club.ask('POST', `/customers/user-0/portal-tokens`, {})).url as string;
  gate.silence(key, true);
  const moved = club.advance('P1M');
  let longestMs = 0;
  const timed = async <T>(task: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await task();
    longestMs = Math.max(longestMs, performance.now() - began);
    return result;
  };
  const use = (path: '/check' | '/track', round: number) => timed(() => club.use(path, round));
  const visit = async (): Promise<void> => {
    expect((await fetch(page)).status).toBe(200);
  };
  const buyAt = async (neighbour: Club, round: number): Promise<void> => {
    const paymentId = await timed(() => neighbour.signUp(round));
    await timed(() => neighbour.use('/track', round));
    const { status } = await timed(() => neighbour.refund(paymentId));
    expect(status).toBe('succeeded');
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const [at, here] = [buyAt(other, round), buyAt(sandbox, round)];
    await Promise.all([use('/track', round), use('/check', round), timed(visit), at, here]);
    // Long enough for the calls that wait to fail, and for the questions of later.
    await Bun.sleep(1000);
  }
  console.log({ longestMs: Math.round(longestMs) });
  expect(longestMs).toBeLessThan(NOTICED_MS);
  expect(server.logged.some((line) => line.includes('it is only probed'))).toBe(true);
  gate.silence(key, false);
  await moved;
  await expectOnce(3 * SUBSCRIBERS);
});
