// An invoice of a subscription: what a merchant, a bank and time do to it, at once or in a row. A
// reference says what may become of it.
import { expect } from 'bun:test';
import { must, unreachable } from '../../../ledger/kernel/assert.ts';
import { decideDebit } from '../../support/bank.ts';
import type { TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { made, openPortal, type Portal, subscribe } from '../portal/customer.ts';
import {
  type Action,
  DECIDED,
  explain,
  type Reference,
  type Seen,
  type Situation,
  startOf,
} from './subscribed-reference.ts';

/** The test decides what a bank says. */
export const NEVER_MS = 10 * 366 * 86_400_000;

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
    const may = startOf(situation);
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
    const may = explain(this.#may, met, seen);
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
   * No outbox task is open any more, and its subscription does nothing by itself for a second: a
   * failure may be of the moment before the clock moved, and its retry of the moment after. Each
   * charge that has begun is at its bank, which may decide it.
   */
  async heard(): Promise<void> {
    const { sql } = this.#server;
    await until('everybody has heard', async () => {
      await Promise.all(this.#asked.splice(0));
      const { json } = await this.#server.call('GET', '/test-clock');
      const soon = new Date(Date.parse(json.now) + 1000);
      const due = await sql`
        select from alarms where subject_id = ${this.#subscription} and due_at <= ${soon}`;
      const open = await sql`
        select id from followups union all
        select id from payments p where status = 'processing'
          and not exists (select from sandbox_charges c where c.key = p.id::text)`;
      return due.length === 0 && open.length === 0;
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
