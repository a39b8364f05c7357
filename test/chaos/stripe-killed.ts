// kill -9 at each step of a charge, a renewal, a refund and a cancellation at Stripe: between our row
// and the call, the call and its answer, and the answer and our row. One charge, one refund and one
// invoice for each intent of a buyer, and the books of both sides are equal.
import { expect } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { type Random, withSeed } from '../support/random.ts';
import { TEST_SECRETS_KEY } from '../support/settings.ts';
import { ask } from '../support/shop.ts';
import {
  closeStripeSide,
  connectStripe,
  openStripeSide,
  stripeAt,
  type StripeSide,
} from '../support/stripe-side.ts';
import { until } from '../support/until.ts';
import { type Killable, startKillable } from './killable.ts';
import { isDone, MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { Persistent } from './persistent.ts';
import { openSteps, type Step, type Steps } from './steps.ts';
import { wrongAtStripe } from './stripe-books.ts';
import { openCheckout, payUntilPaid, refundUntilTaken } from './stripe-buyer.ts';
import { openStripeGate, type StripeGate, type When } from './stripe-gate.ts';
import { createKeys } from './tenant.ts';

const DAY_MS = 86_400_000;
/** After which Stripe has forgotten the keys. */
const FORGOTTEN_MS = 25 * 3_600_000;
/** After it, what has had no answer is asked about. */
const NEXT_QUESTION_MS = 60_000;
const DONE_MS_MAX = 60_000;

type Call = { readonly method: string; readonly path: RegExp; readonly when: When };
type Point = Call | Step;

const call = (method: string, path: RegExp): Call[] => [
  { method, path, when: 'before' },
  { method, path, when: 'after' },
];
const HEARD: Step = {
  name: 'the payment hears of it',
  on: 'update on payments',
  when: 'old.status <> new.status',
};
const ROW: Step = { name: 'the row of a charge', on: 'insert on stripe_charges' };
const ID: Step = {
  name: 'the id of a charge',
  on: 'update on stripe_charges',
  when: 'old.stripe_id is distinct from new.stripe_id',
};
const REFUND_ROW: Step = { name: 'the row of a refund', on: 'insert on stripe_refunds' };
const REFUND_ID: Step = { name: 'the id of a refund', on: 'update on stripe_refunds' };
const REFUNDED: Step = {
  name: 'the refund is heard of',
  on: 'update on refunds',
  when: 'old.status <> new.status',
};
const INVOICE: Step = { name: 'the invoice is issued', on: 'insert on invoices' };
const PAID: Step = {
  name: 'the invoice is paid',
  on: 'update on invoices',
  when: `new.status = 'paid'`,
};
const STEPS = [HEARD, ROW, ID, REFUND_ROW, REFUND_ID, REFUNDED, INVOICE, PAID];

const CHARGE: readonly Point[] = [
  ROW,
  ...call('POST', /\/checkout\/sessions$/),
  ID,
  ...call('POST', /\/capture$/),
  HEARD,
  INVOICE,
];
const CANCEL: readonly Point[] = call('POST', /\/expire$/);
const RENEWAL: readonly Point[] = [
  ROW,
  ...call('POST', /\/payment_intents$/),
  ID,
  ...call('POST', /\/confirm$/),
  HEARD,
  PAID,
];
const REFUND: readonly Point[] = [REFUND_ROW, ...call('POST', /\/refunds$/), REFUND_ID, REFUNDED];

/**
 * Of the two sides of a call, before Stripe has it and before its answer leaves, both are killed at,
 * or the one that the seed draws.
 */
export async function killAtStripe(sides: 'both' | 'one'): Promise<void> {
  const stripe = await openStripeSide();
  const gate = openStripeGate(stripe.fake.url);
  const side = stripeAt(stripe, gate.url);
  const service = await startKillable({
    ...MONEY_ENV,
    STRIPE_API_URL: gate.url,
    SECRETS_KEY: Buffer.from(TEST_SECRETS_KEY).toString('base64'),
  });
  const steps = await openSteps(service.databaseUrl, STEPS);
  try {
    await withSeed((random) =>
      withSql(service.databaseUrl, async (sql) => {
        const world = await World.open({ sql, side, gate, service, steps, random });
        const chosen = (points: readonly Point[]) =>
          sides === 'both' ? points : oneSide(points, random);
        for (const point of chosen(CHARGE)) await world.killAt(point, () => world.buy());
        for (const point of chosen(CANCEL))
          await world.killAt(point, () => world.buy({ declinedFirst: true }));
        await world.settled();
        for (const point of chosen(RENEWAL)) {
          await world.killAt(point, () => world.aDayPasses());
          await world.settled();
        }
        for (const point of chosen(REFUND)) await world.killAt(point, () => world.refund());
        await world.settled();
        expect(await world.wrong()).toEqual([]);
      }),
    );
  } finally {
    await steps.stop();
    await service.stop();
    await gate.stop();
    await closeStripeSide(side);
  }
}

/** Of each call before and after, one. */
function oneSide(points: readonly Point[], random: Random): Point[] {
  const drawnOf = new Map<RegExp, When>();
  return points.filter((point) => {
    if ('on' in point) return true;
    const drawn = drawnOf.get(point.path) ?? random.pick(['before', 'after'] as const);
    drawnOf.set(point.path, drawn);
    return point.when === drawn;
  });
}

type Parts = {
  readonly sql: Sql;
  readonly side: StripeSide;
  readonly gate: StripeGate;
  readonly service: Killable;
  readonly steps: Steps;
  readonly random: Random;
};

class World {
  readonly #parts: Parts;
  readonly #calls: Persistent;
  readonly #organisationId: string;
  readonly #productId: string;
  readonly #running: Promise<unknown>[] = [];
  #bought = 0;
  #days = 0;
  #refunds = 0;

  private constructor(
    parts: Parts,
    made: {
      readonly calls: Persistent;
      readonly organisationId: string;
      readonly productId: string;
    },
  ) {
    this.#parts = parts;
    this.#calls = made.calls;
    this.#organisationId = made.organisationId;
    this.#productId = made.productId;
  }

  static async open(parts: Parts): Promise<World> {
    const { service, sql, side } = parts;
    const { id: organisationId, testKey: key } = await createKeys(service.databaseUrl);
    await connectStripe(sql, side, organisationId);
    const calls = new Persistent({ key, target: service.target });
    const prices = [{ currency: 'USD', amount: '10.00', type: 'recurring', interval: 'day' }];
    const { id: productId } = await calls.once((seller) =>
      ask(seller, 'POST', '/products', { name: 'Daily', prices }),
    );
    return new World(parts, { calls, organisationId, productId });
  }

  /** Kills the service there, while `begin` goes on. Stripe may forget its keys meanwhile. */
  async killAt(point: Point, begin: () => Promise<unknown>): Promise<void> {
    const { gate, steps, service, random } = this.#parts;
    if ('on' in point) {
      const held = await steps.hold(point);
      this.#running.push(begin());
      await held.reached();
      await service.kill();
      await held.end(random.chance(0.5) ? 'rolled back' : 'committed');
    } else {
      const reached = gate.hold(point);
      this.#running.push(begin());
      const held = await reached;
      await service.kill();
      if (random.chance(0.5)) held.pass();
      else held.drop();
    }
    await service.restart();
  }

  /** A signup. */
  async buy({ declinedFirst = false } = {}): Promise<void> {
    const name = `buyer-${(this.#bought += 1)}`;
    const session = await openCheckout(this.#calls, { productId: this.#productId, name });
    await payUntilPaid(this.#calls, this.#parts.side.fake, { session, declinedFirst });
  }

  /** All are charged for another day. By then Stripe has forgotten the keys of the day before. */
  async aDayPasses(): Promise<void> {
    const now = await this.#calls.now();
    this.#days += 1;
    await this.#calls.pass(now + DAY_MS);
  }

  /** Of a payment that has none yet. */
  async refund(): Promise<void> {
    const rows = await this.#parts.sql<{ id: string }[]>`
      select id from payments where status = 'succeeded' order by id offset ${this.#refunds} limit 1`;
    const name = `refund-${(this.#refunds += 1)}`;
    const paymentId = rows[0]!.id;
    await refundUntilTaken(this.#calls, { paymentId, amount: '3.00', name });
  }

  /** All that was begun is carried out; then Stripe forgets all keys. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.splice(0));
    const calls = this.#calls;
    await until(
      'all is decided',
      async () => {
        if (await this.#isDone()) return true;
        await calls.pass((await calls.now()) + NEXT_QUESTION_MS);
        return false;
      },
      DONE_MS_MAX,
    );
    this.#parts.side.fake.advance(FORGOTTEN_MS);
  }

  async #isDone(): Promise<boolean> {
    const { sql } = this.#parts;
    const [row] = await sql<{ pending: number }[]>`
      select count(*)::int as pending from refunds where status = 'pending'`;
    return row?.pending === 0 && (await isDone(sql));
  }

  /** What is wrong, one line each. */
  async wrong(): Promise<string[]> {
    const { sql, side } = this.#parts;
    const account = side.accounts.get(this.#organisationId)?.id ?? '';
    const [counts] = await sql<Record<string, number>[]>`
      select (select count(*) from payments where status in ('succeeded', 'partially_refunded'))::int as charges,
        (select count(*) from invoices where status = 'paid')::int as invoices,
        (select count(distinct (subscription_id, period_start)) from invoices)::int as periods,
        (select count(*) from refunds where status = 'succeeded')::int as refunds`;
    const charges = this.#bought * (1 + this.#days);
    const expected = { charges, invoices: charges, periods: charges, refunds: this.#refunds };
    const isSame = JSON.stringify(counts) === JSON.stringify(expected);
    return [
      ...(isSame ? [] : [`${JSON.stringify(counts)} in place of ${JSON.stringify(expected)}`]),
      ...(await wrongAtStripe(sql, this.#organisationId, side.fake.books(account, 'test'))),
      ...(await wrongBooks(sql)),
    ];
  }
}
