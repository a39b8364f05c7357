// Random histories of charges, renewals and refunds, by two processes, with calls and answers lost
// at any moment: one charge and one refund for each key, and the adapter's last word is what
// Stripe's books say. CHAOS_SEED repeats one that failed.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import type { ChargeResult, Processor } from '../../../src/processors/processor.ts';
import { type Random, withSeed } from '../../support/random.ts';
import type { How } from './faults.ts';
import { type Adapter, openAdapter, PAGE_MS } from './rig.ts';

const STEPS = 40;
const DAY_MS = 24 * 60 * 60_000;
const CURRENCY = 'EUR';
const TYPED = [
  '4242424242424242',
  '4242424242424242',
  '4000000000000341',
  '4000000000000002',
  '4000000000009995',
  '4000002500003155',
  '4000002760003184',
  '4000000000007726',
  '4000000000005126',
  'DE89370400440532013000',
  'DE62370400440532013001',
];
const LOSSES: How[] = [
  'lose_request',
  'lose_answer',
  'lose_answer',
  'error_500',
  'error_500_after',
  'rate_limit',
  'lock_timeout',
];

/** Of any call, or of one that moves money. */
const LOST = ['', '', '/confirm', '/capture', '/refunds'];

type Kind = ChargeResult['kind'];
type Known = {
  readonly key: string;
  readonly amount: bigint;
  url: string | null;
  /** What can never change. */
  final: Kind | null;
  /** Sent after its instrument was forgotten. */
  readonly isTooLate: boolean;
};

let adapter: Adapter;
let processes: readonly Processor[];
class History {
  readonly charges = new Map<string, Known>();
  readonly refunds = new Map<string, { readonly chargeKey: string; readonly amount: bigint }>();
  readonly saved = new Set<string>();
  readonly forgotten = new Set<string>();
  readonly random: Random;
  #planned = 0;

  constructor(random: Random) {
    this.random = random;
  }

  async step(): Promise<void> {
    if (this.random.chance(0.4)) this.#lose();
    const known = [...this.charges.values()];
    const of = known.length > 0 ? this.random.pick(known) : null;
    const dice = this.random.integer(0, 15);
    if (of === null || dice <= 1) return this.charge();
    if (dice === 2 || dice > 13) return this.chargeSaved();
    if (dice <= 5) return this.#pay(of);
    if (dice <= 7) return this.#tell(of, 'confirm', (one) => one.confirmCharge(of.key));
    if (dice === 8) return this.#tell(of, 'cancel', (one) => one.cancelCharge(of.key));
    if (dice === 9) return this.#tell(of, 'find', (one) => one.findCharge(of.key));
    if (dice === 10) return this.#refund(of);
    if (dice === 11) return this.#again();
    if (dice === 12) return this.#forget();
    return this.#wait();
  }

  #lose(): void {
    const method = this.random.chance(0.7) ? 'POST' : 'GET';
    const path = this.random.pick(LOST);
    adapter.fake.next({ method, path: new RegExp(`${path}$`) }, this.random.pick(LOSSES));
    this.#planned += 1;
  }

  #process(): Processor {
    return this.random.pick(processes);
  }

  /** A charge with its buyer, now and then by both processes at once. */
  async charge(again: Known | null = null): Promise<void> {
    const save = this.random.chance(0.5);
    const isFree = again === null && save && this.random.chance(0.3);
    const amount = isFree ? 0n : BigInt(this.random.integer(50, 100_000));
    const of = again ?? this.#known(amount, false);
    const request = { key: of.key, amount: of.amount, currency: CURRENCY, instrument: null };
    const send = (one: Processor) =>
      one.charge({ ...request, save: of.amount === 0n || save, returnUrl: 'https://shop.example' });
    await this.#send(of, send);
  }

  async chargeSaved(): Promise<void> {
    const names = [...this.saved];
    if (names.length === 0) return;
    const saved = this.random.pick(names);
    const of = this.#known(BigInt(this.random.integer(50, 100_000)), this.forgotten.has(saved));
    const { key, amount } = of;
    const send = (one: Processor) => one.chargeSaved({ key, amount, currency: CURRENCY, saved });
    await this.#send(of, send);
    // As the engine does: what is not known is sent again under its key.
    if (this.random.chance(0.5)) await this.#tell(of, 'charge', send);
  }

  /** Once, by both processes at once, or while it is given up. */
  async #send(of: Known, send: (one: Processor) => Promise<ChargeResult>): Promise<void> {
    const senders = this.random.chance(0.2) ? processes : [this.#process()];
    const sent = senders.map((one) => this.#tell(of, 'charge', () => send(one)));
    if (this.random.chance(0.15)) {
      sent.push(this.#tell(of, 'cancel', (one) => one.cancelCharge(of.key)));
    }
    await Promise.all(sent);
  }

  #known(amount: bigint, isTooLate: boolean): Known {
    const of: Known = { key: ids.next(), amount, url: null, final: null, isTooLate };
    this.charges.set(of.key, of);
    return of;
  }

  async #pay({ url }: Known): Promise<void> {
    if (url === null) return;
    const options = { fails3ds: this.random.chance(0.3) };
    await adapter.fake.buyer.pays(url, this.random.pick(TYPED), options);
  }

  async #refund({ key: chargeKey, amount: charged }: Known): Promise<void> {
    const key = ids.next();
    const amount = BigInt(this.random.integer(1, Number(charged) + 1));
    this.refunds.set(key, { chargeKey, amount });
    await this.#process().refund({ key, chargeKey, amount, currency: CURRENCY });
  }

  async #again(): Promise<void> {
    const all = [...this.refunds];
    if (all.length === 0) return;
    const [key, { chargeKey, amount }] = this.random.pick(all);
    await this.#process().refund({ key, chargeKey, amount, currency: CURRENCY });
  }

  async #forget(): Promise<void> {
    const names = [...this.saved];
    if (names.length === 0 || this.random.chance(0.6)) return;
    const name = this.random.pick(names);
    const { kind } = await this.#process().forget(name);
    if (kind === 'forgotten') this.forgotten.add(name);
  }

  #wait(): void {
    if (this.random.chance(0.5)) adapter.fake.settle();
    else adapter.fake.advance(this.random.pick([60_000, PAGE_MS, DAY_MS + 60_000]));
  }

  async #tell(
    of: Known,
    call: string,
    ask: (one: Processor) => Promise<ChargeResult>,
  ): Promise<void> {
    this.heard(of, call, await ask(this.#process()));
  }

  heard(of: Known, call: string, result: ChargeResult): void {
    const { kind } = result;
    if (kind === 'unknown') return;
    if (of.final !== null) {
      expect(`${call} ${of.key} ${kind}`).toBe(`${call} ${of.key} ${of.final}`);
    }
    if (kind === 'requires_action') of.url = result.url;
    if ((kind === 'succeeded' || kind === 'pending') && result.saved !== null) {
      this.saved.add(result.saved);
    }
    const isFinal =
      kind === 'succeeded' ||
      kind === 'declined' ||
      (kind === 'not_attempted' && (call === 'cancel' || call === 'charge'));
    if (isFinal) of.final = kind;
  }

  /** Every charge and refund comes to its end. */
  async end(): Promise<void> {
    await drain(this.#planned);
    const [one] = processes as [Processor];
    for (const of of this.charges.values()) {
      adapter.fake.settle();
      let result = await one.findCharge(of.key);
      this.heard(of, 'find', result);
      if (result.kind === 'requires_confirmation') result = await one.confirmCharge(of.key);
      if (result.kind === 'requires_action' || result.kind === 'not_attempted') {
        result = await one.cancelCharge(of.key);
        this.heard(of, 'cancel', result);
      }
      this.heard(of, 'find', result);
      expect(['succeeded', 'declined', 'not_attempted']).toContain(result.kind);
      of.final = result.kind;
      if (of.isTooLate) expect(result.kind).not.toBe('succeeded');
    }
    for (const [key, { chargeKey, amount }] of this.refunds) {
      const found = await one.findRefund(key);
      if (found.kind !== 'not_attempted') continue;
      await one.refund({ key, chargeKey, amount, currency: CURRENCY });
    }
    adapter.fake.settle();
  }

  async agrees(): Promise<void> {
    const books = adapter.fake.books(adapter.account.id, 'test');
    const [, other] = processes as [Processor, Processor];
    for (const { key, amount, final } of this.charges.values()) {
      const found = await other.findCharge(key);
      expect([key, found.kind]).toEqual([key, final!]);
      const intents = books.intents.filter(({ metadata }) => metadata['key'] === key);
      const paid = intents.filter(({ status }) => status === 'succeeded');
      const charged = final === 'succeeded' && amount > 0n ? [Number(amount)] : [];
      expect([key, paid.map((intent) => intent.amount_received)]).toEqual([key, charged]);
      // Nothing is left that could still be charged.
      const open = intents.filter(
        ({ status, id }) =>
          ['processing', 'requires_capture', 'requires_action'].includes(status) &&
          'reference' in found &&
          id === found.reference,
      );
      expect(open).toEqual([]);
      const pages = books.sessions.filter(({ metadata }) => metadata?.['key'] === key);
      const kept = await adapter.sql<{ id: string }[]>`
        select stripe_id as id from stripe_charges where key = ${key}`;
      const known = pages.filter(({ id }) => kept.some((row) => row.id === id));
      expect(known.filter(({ status }) => status === 'open')).toEqual([]);
    }
    for (const [key, { amount }] of this.refunds) {
      const found = await other.findRefund(key);
      const made = books.refunds.filter(({ metadata }) => metadata?.['key'] === key);
      const back = made.filter(({ status }) => status === 'succeeded');
      const given = found.kind === 'succeeded' ? [Number(amount)] : [];
      expect([key, back.map((refund) => refund.amount)]).toEqual([key, given]);
      expect(made.length).toBeLessThanOrEqual(1);
      expect(['succeeded', 'declined', 'not_attempted']).toContain(found.kind);
    }
    for (const charge of books.charges) {
      expect(charge.amount_refunded).toBeLessThanOrEqual(charge.amount);
    }
  }

  /**
   * Stripe has forgotten the keys, and all is sent again. A refund that Stripe failed with a 500,
   * which it repeats for a day, is made now.
   */
  async repeat(): Promise<void> {
    adapter.fake.advance(DAY_MS + 60_000);
    for (const of of this.charges.values()) await this.charge(of);
    for (const [key, { chargeKey, amount }] of this.refunds) {
      await this.#process().refund({ key, chargeKey, amount, currency: CURRENCY });
    }
    adapter.fake.settle();
  }
}

/** Takes what is planned and was not met. */
async function drain(planned: number): Promise<void> {
  for (let left = planned; left > 0; left -= 1) {
    for (const path of LOST) {
      for (const method of ['GET', 'POST']) {
        await fetch(`${adapter.fake.url}/v1/nothing${path}`, { method }).catch(() => null);
      }
    }
  }
}

export function endAsBooksSay(histories: number): void {
  beforeAll(async () => {
    adapter = await openAdapter();
    processes = [adapter.open(), adapter.open()];
  });
  afterAll(() => adapter.close());

  test(`${histories} random histories with lost calls end as Stripe's books say`, async () => {
    await withSeed(async (random) => {
      for (let nth = 0; nth < histories; nth += 1) {
        const history = new History(random);
        for (let step = 0; step < STEPS; step += 1) await history.step();
        await history.end();
        await history.agrees();
        await history.repeat();
        await history.agrees();
      }
    });
  }, 120_000);
}
