// An invoice of a subscription: what a merchant, a bank and time do to it, at once or in a row. A
// reference says what may become of it.
import { expect } from 'bun:test';
import { must, unreachable } from '../../../ledger/kernel/assert.ts';
import { decideDebit } from '../../support/bank.ts';
import { orders } from '../../support/orders.ts';
import type { TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { made, openPortal, type Portal, subscribe } from '../portal/customer.ts';

export const ACTIONS = [
  'pay',
  'void',
  'finalize',
  'capture',
  'fail',
  'refund',
  'method',
  'cancel',
  'day',
] as const;
export type Action = (typeof ACTIONS)[number];

export const SITUATIONS = ['under way', 'declined', 'draft', 'left open'] as const;
export type Situation = (typeof SITUATIONS)[number];

/** Days after the first failure (decisions 7). */
const RETRY_DAYS = [1, 3, 7, 13, 20];
/** The test decides what a bank says. */
export const NEVER_MS = 10 * 366 * 86_400_000;

/** What a reader of the API can tell. */
type Seen = {
  readonly status: 'draft' | 'open' | 'paid' | 'void';
  readonly isUnderWay: boolean;
  /** Payments that were begun. */
  readonly charges: number;
  readonly isRefunded: boolean;
  readonly hasEnded: boolean;
};

type Reference = Seen & {
  readonly day: number;
  /** Whether its subscription retries it. */
  readonly isChased: boolean;
  /** The method has changed while a charge was under way. */
  readonly again: boolean;
  readonly failedOn: number | null;
  readonly retryOn: number | null;
};

const STARTS: Readonly<Record<Situation, Partial<Reference>>> = {
  'under way': { isUnderWay: true, charges: 1, isChased: true },
  declined: { charges: 1, isChased: true, failedOn: 0, retryOn: 1 },
  draft: { status: 'draft' },
  'left open': { hasEnded: true },
};

const START: Reference = {
  status: 'open',
  isUnderWay: false,
  charges: 0,
  isRefunded: false,
  hasEnded: false,
  day: 0,
  isChased: false,
  again: false,
  failedOn: null,
  retryOn: null,
};

/** The bank decides a debit once. */
const DECIDED = 0;

/** The answer, null where there is nothing to ask, and what it leaves. */
type Done = readonly [answer: number | null, after: Reference];

const begun = (one: Reference): Reference => ({
  ...one,
  isUnderWay: true,
  charges: one.charges + 1,
  isChased: one.isChased || !one.hasEnded,
  again: false,
  retryOn: null,
});

const RULES: Readonly<Record<Action, (one: Reference) => Done>> = {
  pay(one) {
    if (one.status === 'paid') return [200, one];
    if (one.status !== 'open') return [409, one];
    return [202, one.isUnderWay ? one : begun(one)];
  },
  void(one) {
    if (one.status === 'paid' || one.isUnderWay) return [409, one];
    return [200, { ...one, status: 'void', isChased: false }];
  },
  finalize(one) {
    if (one.status === 'draft') return [200, { ...one, status: 'open' }];
    return [one.status === 'open' ? 200 : 409, one];
  },
  capture(one) {
    if (!one.isUnderWay) return [null, one];
    return [DECIDED, { ...one, isUnderWay: false, isChased: false, status: 'paid' }];
  },
  fail(one) {
    if (!one.isUnderWay) return [null, one];
    const idle = { ...one, isUnderWay: false };
    // What was under way at the end is void; what was left open stays so.
    if (one.hasEnded) {
      return [DECIDED, one.isChased ? { ...idle, isChased: false, status: 'void' } : idle];
    }
    const failedOn = one.failedOn ?? one.day;
    if (one.again) return [DECIDED, begun({ ...idle, failedOn })];
    const retryOn = RETRY_DAYS.map((days) => failedOn + days).find((day) => day > one.day) ?? null;
    return [DECIDED, { ...idle, failedOn, retryOn }];
  },
  refund(one) {
    if (one.status !== 'paid') return [null, one];
    return [one.isRefunded ? 400 : 200, { ...one, isRefunded: true }];
  },
  method(one) {
    if (!one.isChased || one.hasEnded) return [303, one];
    return [303, one.isUnderWay ? { ...one, again: true } : begun(one)];
  },
  cancel(one) {
    if (one.hasEnded) return [200, one];
    const ended = { ...one, hasEnded: true, again: false, retryOn: null };
    const isGivenUp = one.isChased && !one.isUnderWay;
    return [200, isGivenUp ? { ...ended, isChased: false, status: 'void' } : ended];
  },
  day(one) {
    const later = { ...one, day: one.day + 1 };
    const isDue = one.retryOn !== null && one.retryOn <= later.day && !one.hasEnded;
    return [200, isDue && one.isChased ? begun(later) : later];
  },
};

export class SubscribedLife {
  readonly #server: TestServer;
  readonly #portal: Portal;
  readonly #subscription: string;
  readonly id: string;
  /** What it may be: what cannot be told apart yet. */
  #may: readonly Reference[];
  readonly #asked: Promise<unknown>[] = [];

  private constructor(
    server: TestServer,
    {
      portal,
      subscription,
      id,
      may,
    }: { portal: Portal; subscription: string; id: string; may: Reference },
  ) {
    this.#server = server;
    this.#portal = portal;
    this.#subscription = subscription;
    this.id = id;
    this.#may = [may];
  }

  static async begin(server: TestServer, situation: Situation): Promise<SubscribedLife> {
    const portal = await openPortal(server, { email: 'ada@example.com' });
    expect(await saveDebit(portal)).toBe(303);
    const { id: subscription } = await subscribe(server, portal.customer);
    const path = `/invoices?subscription_id=${subscription}`;
    const newest = async (): Promise<string> =>
      (await server.call('GET', path)).json.data.at(0).id as string;
    const may = { ...START, ...STARTS[situation] };
    const life = (id: string) => new SubscribedLife(server, { portal, subscription, id, may });
    const first = life(await newest());
    const act = (action: string, body: object = {}) =>
      server.call('POST', `/subscriptions/${subscription}/${action}`, { body });
    switch (situation) {
      case 'under way':
        return first;
      case 'declined':
        await first.#decide('fail');
        // Its subscription hears of it a moment later, and counts the days from then.
        await first.heard();
        return first;
      case 'draft':
      case 'left open': {
        await first.#decide('capture');
        expect((await act('pause', { keep_invoices: true })).status).toBe(200);
        await server.call('POST', '/test-clock', { body: { advance: 'P1M' } });
        const draft = life(await newest());
        if (situation === 'draft') return draft;
        expect((await act('cancel', { mode: 'immediate' })).status).toBe(200);
        expect((await server.call('POST', `/invoices/${draft.id}/finalize`)).status).toBe(200);
        return draft;
      }
      default:
        return unreachable(situation);
    }
  }

  /** These happen at once. */
  async meet(actions: readonly Action[]): Promise<void> {
    const answers = await Promise.all(actions.map((action) => this.#act(action)));
    await this.heard();
    const seen = await this.#look();
    const met = new Map(actions.map((action, index) => [action, answers[index]!]));
    const may = this.#may.flatMap((before) =>
      [...orders(actions)].flatMap((order) => {
        let one = before;
        for (const action of order) {
          if (isTooLate(met, action)) continue;
          const [answer, after] = RULES[action](one);
          if (!isAnswer(met, action, answer)) return [];
          one = after;
        }
        const isSeen = (Object.keys(seen) as (keyof Seen)[]).every((key) => one[key] === seen[key]);
        return isSeen ? [one] : [];
      }),
    );
    if (may.length === 0) {
      const what = { actions, answers, seen, before: this.#may };
      throw new Error(`no order of them explains it: ${JSON.stringify(what)}`);
    }
    this.#may = may;
  }

  /** The payment that is under way: its bank decides. What follows may have to wait for a gate. */
  async #decide(how: 'capture' | 'fail'): Promise<number | null> {
    const { sql, payments } = this.#server;
    const [payment] = await sql<{ id: string }[]>`
      select id from payments where invoice_id = ${this.id} and status = 'processing'`;
    if (payment === undefined) return null;
    if (!(await decideDebit(this.#server, payment.id, how))) return null;
    await until(`it is decided: ${how}`, async () => {
      const [row] =
        await sql`select from payments where id = ${payment.id} and status = 'processing'`;
      if (row !== undefined) this.#asked.push(payments.refresh(payment.id));
      return row === undefined;
    });
    return DECIDED;
  }

  async #act(action: Action): Promise<number | null> {
    const server = this.#server;
    const post = async (path: string, body: object = {}): Promise<number> =>
      (await server.call('POST', path, { body })).status;
    switch (action) {
      case 'pay':
      case 'void':
      case 'finalize':
        return (await server.call('POST', `/invoices/${this.id}/${action}`)).status;
      case 'capture':
      case 'fail':
        return this.#decide(action);
      case 'refund': {
        const [paid] = await server.sql<{ id: string }[]>`
          select id from payments where invoice_id = ${this.id} and paid_at is not null`;
        return paid === undefined ? null : post(`/payments/${paid.id}/refund`);
      }
      case 'method':
        return saveDebit(this.#portal);
      case 'cancel':
        return post(`/subscriptions/${this.#subscription}/cancel`, { mode: 'immediate' });
      case 'day':
        return post('/test-clock', { advance: 'P1D' });
      default:
        return unreachable(action);
    }
  }

  /**
   * No outbox task is open any more, and its subscription does nothing by itself for a second: a failure
   * may be of the moment before the clock moved, and its retry of the moment after.
   */
  async heard(): Promise<void> {
    const { sql } = this.#server;
    await until('everybody has heard', async () => {
      await Promise.all(this.#asked.splice(0));
      const { json } = await this.#server.call('GET', '/test-clock');
      const soon = new Date(Date.parse(json.now) + 1000);
      const due = await sql`
        select from alarms where subject_id = ${this.#subscription} and due_at <= ${soon}`;
      return due.length === 0 && (await sql`select from followups`).length === 0;
    });
  }

  async #look(): Promise<Seen> {
    const [row] = await this.#server.sql<Seen[]>`
      select i.status, i.amount_refunded > 0 as "isRefunded", s.status = 'canceled' as "hasEnded", p.charges::int,
        p.open > 0 as "isUnderWay"
      from invoices i join subscriptions s on s.id = i.subscription_id cross join lateral (
        select count(*) as charges, count(*) filter (where status = 'processing') as open from payments where invoice_id = i.id
      ) p where i.id = ${this.id}`;
    return must(row, 'the invoice');
  }

  /** Each payment is announced once, and is known as one of its subscription. */
  async finish(): Promise<void> {
    if ((await this.#look()).isUnderWay) await this.meet(['capture']);
    const { sql } = this.#server;
    const payments = await sql<{ id: string; status: string; subscription: string }[]>`
      select id, status, subscription_id as subscription from payments where invoice_id = ${this.id}`;
    const events = await sql<{ type: string }[]>`
      select type from events where object_id = ${this.#subscription} and data ->> 'invoiceId' = ${this.id}
        and type in ('payment.succeeded', 'payment.failed')`;
    const isFailed = ({ status }: { status: string }): boolean => status === 'failed';
    const count = (type: string): number => events.filter((event) => event.type === type).length;
    expect(new Set(payments.map(({ subscription }) => subscription)).size).toBeLessThan(2);
    expect([count('payment.failed'), count('payment.succeeded')]).toEqual([
      payments.filter(isFailed).length,
      payments.filter((payment) => !isFailed(payment)).length,
    ]);
    const [row] = await sql`select from subscriptions where id = ${this.#subscription} and live`;
    if (row !== undefined) await this.#act('cancel');
    await this.heard();
  }
}

/** The bank had said the other of that debit: it says nothing of a charge that begins then. */
function isTooLate(met: ReadonlyMap<Action, number | null>, action: Action): boolean {
  const other = action === 'capture' ? 'fail' : 'capture';
  const isBank = action === 'capture' || action === 'fail';
  return isBank && met.get(action) === null && met.get(other) === DECIDED;
}

/** A charge that is decided while the caller waits is told at once. */
function isAnswer(
  met: ReadonlyMap<Action, number | null>,
  action: Action,
  expected: number | null,
): boolean {
  const answer = met.get(action);
  if (answer === expected) return true;
  if (action !== 'pay' || expected !== 202) return false;
  if (answer === 200) return met.has('capture');
  if (answer === 402) return met.has('fail');
  return answer === 409 && met.has('fail') && met.has('cancel');
}

export async function saveDebit(portal: Portal): Promise<number> {
  const { text } = await portal.get('payment-method');
  const attempt = must(/name="attempt" value="([^"]+)"/.exec(text)?.[1], 'an attempt');
  const iban = 'DE89370400440532013000';
  return (await portal.submit('payment-method', { attempt, payment_method: 'bank_debit', iban }))
    .status;
}

/** An invoice that is open, of a customer whose card fails to be charged, or who has none. */
export async function openInvoice(server: TestServer, customer: string): Promise<string> {
  const product = await made(server, '/products', {
    name: 'Atlas Pro',
    prices: [{ amount: '12', currency: 'EUR', type: 'recurring', interval: 'month' }],
  });
  const body = { customer_id: customer, product_id: product.id };
  const { id } = await made(server, '/subscriptions', body);
  return (await server.call('GET', `/invoices?subscription_id=${id}`)).json.data[0].id;
}
