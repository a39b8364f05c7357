// All combinations of pay, void, finalise, settle and refund: for every state of an invoice and
// every action, the answer is that of the model, and in the end money and invoice agree.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { ids } from '../../../src/platform/ids.ts';
import { markUncollectible } from '../../../src/invoices/changes.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { openPortal, type Portal } from '../portal/customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
beforeAll(async () => {
  // The test decides when a debit settles.
  server = await startServer({ alone: true, settings: { sandboxSettleMs: 3_600_000 } });
  portal = await openPortal(server, { email: 'ada@example.com' });
  const { text } = await portal.get('payment-method');
  const attempt = /name="attempt" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const iban = { attempt, payment_method: 'bank_debit', iban: 'DE89370400440532013000' };
  expect((await portal.submit('payment-method', iban)).status).toBe(303);
});
afterAll(() => server.stop());

type Status = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
/** The true state, which the invoice may not have heard of yet. */
type Model = {
  status: Status;
  payment: 'none' | 'under way' | 'captured' | 'failed';
  attempt: number;
  refunded: boolean;
};
type Action = 'pay' | 'void' | 'finalize' | 'refund' | 'capture' | 'fail' | 'give up';

/** The expected answer; null where no HTTP call is made. */
const MODEL: Record<Action, (model: Model) => number | null> = {
  pay(model) {
    const { status, payment } = model;
    if (status === 'paid') return 200;
    if (status === 'draft' || status === 'void') return 409;
    if (payment === 'none' || payment === 'failed') {
      model.payment = 'under way';
      model.attempt += 1;
    }
    return 202;
  },
  void(model) {
    if (model.status === 'void') return 200;
    if (model.status === 'paid') return 409;
    if (model.payment === 'under way' || model.payment === 'captured') return 409;
    model.status = 'void';
    return 200;
  },
  finalize(model) {
    if (model.status === 'draft') model.status = 'open';
    return model.status === 'open' ? 200 : 409;
  },
  refund(model) {
    if (model.payment !== 'captured' || model.refunded) return 400;
    model.refunded = true;
    return 200;
  },
  capture(model) {
    if (model.payment === 'under way') model.payment = 'captured';
    return null;
  },
  fail(model) {
    if (model.payment === 'under way') model.payment = 'failed';
    return null;
  },
  'give up'(model) {
    if (model.status === 'open') model.status = 'uncollectible';
    return null;
  },
};

class Life {
  readonly id: string;
  readonly model: Model;
  /** Closed: the invoice hears nothing of its payments. */
  #gate: Awaited<ReturnType<typeof server.sql.reserve>> | null = null;
  readonly #asked: Promise<unknown>[] = [];

  constructor(id: string, status: Status) {
    this.id = id;
    this.model = { status, payment: 'none', attempt: 0, refunded: false };
  }

  static async begin({ draft }: { draft: boolean }): Promise<Life> {
    const lines = [{ description: 'Hours', unit_amount: '20.00' }];
    const bill = { customer_id: portal.customer, currency: 'USD', lines, draft };
    const { json } = await server.call('POST', '/invoices', { body: bill });
    return new Life(json.id, json.status);
  }

  get paymentId(): string {
    return ids.derive('invoice-payment', this.id, String(Math.max(1, this.model.attempt)));
  }

  async closeGate(): Promise<void> {
    this.#gate = await server.sql.reserve();
    await this.#gate`select pg_advisory_lock(hashtextextended(${this.paymentId}, 0))`;
  }

  async openGate(): Promise<void> {
    const gate = this.#gate;
    this.#gate = null;
    if (gate === null) return;
    await gate`select pg_advisory_unlock_all()`;
    gate.release();
    await this.heard();
  }

  /** No outbox task is open any more. */
  async heard(): Promise<void> {
    await Promise.all(this.#asked);
    await until('everybody has heard', async () => {
      const owed = await server.sql`select 1 from followups where payment_id = ${this.paymentId}`;
      return owed.length === 0;
    });
    const { model } = this;
    if (model.payment === 'captured') model.status = 'paid';
  }

  async act(action: Action): Promise<void> {
    const wasUnderWay = this.model.payment === 'under way';
    const before = this.paymentId;
    const expected = MODEL[action](this.model);
    if (action === 'give up') {
      const scope = { organisationId: server.organisation.id, mode: 'test' } as const;
      const at = { id: this.id, now: Date.now() };
      await server.sql.begin((sql) => markUncollectible(sql, scope, at));
    } else if (action === 'capture' || action === 'fail') {
      if (wasUnderWay) await this.#decide(action === 'capture' ? 'succeeded' : 'failed');
    } else if (action !== 'refund') {
      const reply = await server.call('POST', `/invoices/${this.id}/${action}`);
      expect([action, reply.status]).toEqual([action, expected!]);
    } else if (this.model.payment !== 'none') {
      const reply = await server.call('POST', `/payments/${before}/refund`);
      expect([action, reply.status]).toEqual([action, expected!]);
    }
    if (this.#gate === null) await this.heard();
  }

  /** The bank decides now. */
  async #decide(to: 'succeeded' | 'failed'): Promise<void> {
    const { paymentId: id } = this;
    const next = to === 'failed' ? 'declined' : to;
    await server.sql`
      update sandbox_charges set next_at = now() - interval '1 s', next_status = ${next},
        failure_code = 'card_declined', failure_message = 'no' where key = ${id}`;
    this.#asked.push(server.payments.refresh(id));
    await until(`it is ${to}`, async () => {
      const { json } = await server.call('GET', `/payments/${id}`);
      return json.status === to;
    });
  }

  async agree(): Promise<void> {
    const { model } = this;
    const { json } = await server.call('GET', `/invoices/${this.id}`);
    expect([json.status, json.attempts, json.amount_refunded]).toEqual([
      model.status,
      model.attempt,
      model.refunded && model.status === 'paid' ? '20.00' : '0.00',
    ]);
  }
}

type Situation = readonly [
  what: string,
  isDraft: boolean,
  steps: readonly Action[],
  gated: Action[],
];

// prettier-ignore
const SITUATIONS: readonly Situation[] = [
  // what draft steps that are heard of and then steps that are not
  ['a draft',                                 true,   [],                          []],
  ['open',                                    false,  [],                          []],
  ['given up',                                false,  ['give up'],                 []],
  ['void',                                    false,  ['void'],                    []],
  ['a charge under way',                      false,  ['pay'],                     []],
  ['a charge under way, then given up',       false,  ['pay', 'give up'],          []],
  ['a charge that failed',                    false,  ['pay', 'fail'],             []],
  ['one that failed, yet to be told',         false,  ['pay'],                     ['fail']],
  ['captured, yet to be told',                false,  ['pay'],                     ['capture']],
  ['captured and refunded, yet to be told',   false,  ['pay'],                     ['capture', 'refund']],
  ['paid',                                    false,  ['pay', 'capture'],          []],
  ['paid and refunded, yet to be told',       false,  ['pay', 'capture'],          ['refund']],
  ['paid and refunded',                       false,  ['pay', 'capture', 'refund'], []],
];
const ACTIONS = Object.keys(MODEL) as Action[];

test.each(SITUATIONS)(
  'every two actions on an invoice at once have one of their serial outcomes: %s',
  async (_what, draft, steps, gated) => {
    for (const action of ACTIONS) {
      const life = await Life.begin({ draft });
      for (const step of steps) await life.act(step);
      if (gated.length > 0) await life.closeGate();
      for (const step of gated) await life.act(step);
      await life.act(action);
      // A second payment, which began behind the gate.
      await life.openGate();
      await life.heard();
      await life.agree();
      // Until nothing is pending.
      await life.act('capture');
      await life.agree();
    }
    expect(await audit(server.sql)).toEqual([]);
  },
);

test('actions on an invoice at once log no error', () => {
  const wrong = server.logged.filter((line) => /"level":"(?:warn|error)"/.test(line));
  // A machine that stands still for a second is not what is tried here.
  expect(wrong.filter((line) => !line.includes('Redis does not answer'))).toEqual([]);
});
