// One customer with a subscription that sells usage: the real ledger of one node over tables in
// memory, with a clock that the test turns. Charges are answered at once.
import { Ledger } from '../../ledger/ledger.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { NO_ALERTS } from '../../ledger/metering/alert.ts';
import { type Aggregation, balance, type Meter } from '../../ledger/metering/meter.ts';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import type { Storage } from '../../ledger/storage.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type {
  InvoiceDraft,
  Plan,
  PlanAllowance,
  Settlement,
  Subscription,
} from '../../ledger/subscriptions/subscription.ts';
import { timers } from '../../src/platform/clock.ts';
import type { PreviewOutcome } from '../../ledger/subscriptions/preview.ts';
import type { UpcomingInvoice } from '../../ledger/subscriptions/upcoming.ts';
import { ids } from '../../src/platform/ids.ts';
import { carryOut } from '../simulation/carry-out.ts';
import { Database } from '../simulation/database.ts';
import { flush } from '../simulation/flush.ts';
import * as reads from '../simulation/reads.ts';
import * as seats from '../simulation/seats.ts';
import { POLICY } from './subscription-world.ts';

export type Offer = {
  readonly plan: Plan;
  readonly limit: bigint;
  readonly price: UsagePrice;
  readonly reset: 'day' | 'week' | 'month';
};

export type Event = {
  readonly id: string;
  readonly at: number;
  readonly value: bigint;
  readonly member: bigint;
};

const TENANT = { organisationId: ids.next(), mode: 'test' } as const;
const LEASE_MS = 1e12;
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What a command was to do, and what it did. */
export type Done = {
  readonly command: Command;
  readonly preview: PreviewOutcome;
  readonly kind: string;
  /** With those of what was due before it. */
  readonly made: readonly InvoiceDraft[];
  readonly subscription: Subscription;
  readonly isDeclined: boolean;
};

export class SoldWorld {
  now: number;
  readonly done: Done[] = [];
  /** Whether the customer's card is declined. */
  isDeclined = false;
  /** Whether charges have no answer for now, as those of a bank. */
  isSlow = false;
  readonly db: Database;
  readonly meter: Meter;
  readonly #customerId = ids.next();
  readonly #subscriptionId = ids.next();
  readonly #ledger: Ledger;
  readonly #errors: unknown[] = [];

  private constructor(aggregation: Aggregation, now: number, carry: boolean) {
    this.now = now;
    this.meter = { id: ids.next(), ...TENANT, slug: 'calls', aggregation, scale: 0, carry };
    const id = this.#customerId;
    const customer = { id, slot: slotOf(id), ...TENANT, externalId: null, email: null };
    this.db = new Database({ customers: [customer], meters: [this.meter], pool: null });
    const time = (): number => this.now;
    this.#ledger = new Ledger({
      storage: storageOf(this.db),
      ids,
      clock: { now: () => 0, monotonic: () => 0 },
      orgClock: {
        now: time,
        wall: time,
        observe: () => undefined,
        stopped: new Set([TENANT.organisationId]),
        catchUp: () => Promise.resolve(),
      },
      // What is periodic is not needed: time stands still but for the test.
      timers: { after: () => () => undefined, soon: (task) => timers.soon(task) },
      log: { ...SILENT, error: ({ err }) => this.#errors.push(err) },
      peers: null,
      address: null,
      leaseMs: LEASE_MS,
      bounds: { meters: 10, grantsPerMeter: 1000, grants: Infinity, subscriptions: 10 },
      cacheBounds: { actors: 100, bytes: Infinity },
      render: () => '',
      wants: () => false,
      alertsOf: () => [],
      poolOf: () => null,
      onFlush: () => undefined,
      onTopUpsOrdered: () => undefined,
      onTold: () => undefined,
      onPaymentDue: () => Promise.resolve(),
      onSubscriptionDue: async () => {
        await this.do({ kind: 'tick' });
      },
    });
  }

  static async open(aggregation: Aggregation, now: number, carry = false): Promise<SoldWorld> {
    const world = new SoldWorld(aggregation, now, carry);
    await world.#ledger.open();
    return world;
  }

  async start(offer: Offer, trialEnd: number | null): Promise<void> {
    await this.#ledger.subscriptions.start(this.#customerId, {
      id: this.#subscriptionId,
      bundleId: ids.next(),
      plan: offer.plan,
      allowances: [this.#allowance(offer)],
      signup: {
        paymentLinkId: null,
        paymentLinkToken: null,
        clientReferenceId: null,
        externalCustomerId: null,
        metadata: {},
      },
      zone: 'UTC',
      startAt: this.now,
      trialEnd,
      discount: null,
      paid: null,
    });
    await this.#carryOut();
  }

  get subscription(): Subscription {
    const row = this.db.subscriptions.get(this.#subscriptionId);
    if (row === undefined) throw new Error('it has started');
    return row.subscription;
  }

  /** What is done by hand is previewed before. */
  async do(command: Command): Promise<string> {
    const { subscriptions } = this.#ledger;
    const of = [this.#customerId, this.#subscriptionId, command] as const;
    const known = new Set(this.db.invoices.values().map(({ invoice }) => invoice.id));
    const preview = command.kind === 'tick' ? null : await subscriptions.preview(...of);
    const { kind } = await subscriptions.command(...of);
    await this.#carryOut();
    if (preview === null) return kind;
    const { subscription, isDeclined } = this;
    const invoices = this.db.invoices.values().map(({ invoice }) => invoice);
    const made = invoices.filter(({ id }) => !known.has(id));
    this.done.push({ command, preview, kind, made, subscription, isDeclined });
    return kind;
  }

  upcoming(): Promise<UpcomingInvoice | null> {
    return this.#ledger.subscriptions.upcoming(this.#customerId, this.#subscriptionId);
  }

  /** Whether the customer has it then. */
  async change(offer: Offer): Promise<boolean> {
    await this.do({
      kind: 'change',
      plan: offer.plan,
      allowances: [this.#allowance(offer)],
      givenBack: [],
    });
    return this.subscription.plan.priceId === offer.plan.priceId;
  }

  /** All at once, where there are several. */
  async use(events: readonly Event[]): Promise<void> {
    const found = await this.#found();
    const { meter } = this;
    const items = events.map((event) => ({
      customer: found,
      meter,
      request: {
        keyId: event.id,
        formerKeyId: null,
        idempotencyKey: event.id,
        externalId: null,
        value: event.value,
        eventAt: event.at,
        member: meter.aggregation === 'unique' ? event.member : null,
        admission: 'record',
        fingerprint: 7n,
        metadata: null,
        exactReplay: false,
      } as const,
      follows: false,
    }));
    const outcome = await this.#ledger.recordAll(items);
    if (outcome.kind !== 'recorded') throw new Error(`usage was answered ${outcome.kind}`);
  }

  /** Units that are held for a while; returns the reservation. */
  async hold(amount: bigint, expiresInMs: number): Promise<string> {
    const request = { id: ids.next(), amount, fingerprint: null, expiresInMs };
    const outcome = await this.#ledger.reserve(await this.#found(), this.meter, request);
    if (outcome.kind !== 'reserved') throw new Error(`a hold was answered ${outcome.kind}`);
    return outcome.reservation.id;
  }

  /** What the work came to; 0 is as a release. Carries out what it orders, unless `isKilled`. */
  async commit(id: string, value: bigint, { isKilled = false } = {}) {
    const act = { kind: 'commit', value } as const;
    const outcome = await this.#ledger.resolve(await this.#found(), this.meter, { id, act });
    if (isKilled) this.forget();
    else await this.#carryOut();
    return outcome;
  }

  /** What was ordered before is carried out: as after a crash, or when the bank has answered. */
  sweep(): Promise<void> {
    return this.#carryOut();
  }

  /** The balance of the meter. */
  async left(): Promise<bigint | null> {
    const [one] = await this.#ledger.allBalances(await this.#found());
    if (one === undefined) throw new Error('it has a balance');
    return balance(one.snapshot);
  }

  async #found() {
    const found = await this.#ledger.find(TENANT, { id: this.#customerId });
    if (found === null) throw new Error('a customer of the database is found');
    return found;
  }

  /** As a test clock does it: each alarm until then rings. */
  async advance(to: number): Promise<void> {
    for (;;) {
      const { alarms, at } = await this.#ledger.alarms.next(TENANT.organisationId, to);
      if (alarms.length === 0) break;
      this.now = Math.max(this.now, at);
      await this.#ledger.alarms.ring(alarms);
    }
    this.now = to;
    if (this.#errors.length > 0) throw this.#errors[0];
  }

  /** As after a crash: what is in memory is read again. */
  forget(): void {
    this.#ledger.forget(this.#customerId);
  }

  #carryOut(): Promise<void> {
    return carryOut({
      ledger: this.#ledger,
      ask: async (statement) => statement(this.db),
      settlementOf: ({ order: { id: paymentId } }): Settlement | null => {
        if (this.isSlow) return null;
        const of = { paymentId, at: this.now };
        if (!this.isDeclined) return { kind: 'paid', ...of, transactionId: null };
        const why = { code: 'insufficient_funds', message: '', hard: false, policy: POLICY };
        return { kind: 'failed', ...of, ...why };
      },
    });
  }

  #allowance({ limit, price, reset }: Offer): PlanAllowance {
    return {
      meter: this.meter,
      entitlementId: ids.derive('entitlement', price.id),
      priority: 100,
      limit,
      resetInterval: reset,
      resetCount: 1,
      overageAllowed: false,
      price,
      rollover: null,
      boolean: false,
    };
  }
}

/** Every statement is executed at once. */
function storageOf(db: Database): Storage {
  const who = { holder: 'the process', address: null, leaseMs: LEASE_MS };
  const now = 0;
  return {
    flush: async (rows, fence) => flush(db, rows, { fence, began: now, now, leaseMs: LEASE_MS }),
    recover: async (fence) => seats.recover(db, { fence, holder: who.holder }),
    claim: async () => seats.claim(db, who, now),
    survey: async () => seats.survey(db, now),
    takeOver: async (dead, to) => seats.takeOver(db, { dead, to, now }),
    leave: async (fence) => seats.leave(db, fence),
    release: async (fence) => seats.release(db, fence, now),
    mayPass: () => false,
    loadCustomers: async (wanted) => {
      const load = new reads.CustomerLoad(db, wanted);
      for (const query of load.queries) query();
      return load.result();
    },
    identifyCustomers: async (wanted) => reads.identify(db, wanted),
    resolveCustomers: async (keys) => reads.resolve(db, keys),
    loadHistory: async (key, since) => reads.history(db, key, since),
    loadMembers: async ({ accountId }, members) =>
      members.filter((member) => db.members.has(`${accountId} ${member}`)),
    loadAlerts: async () => NO_ALERTS,
    findUsage: async (wanted) => reads.usage(db, wanted),
    findFormerUsage: async () => [],
    usedIds: async (wanted) => wanted.filter((id) => db.byId.has(id)),
    grantExists: async (id) => db.grants.has(id),
    subscriptionExists: async (id) => db.subscriptions.has(id),
    findSubscription: async (id) => db.subscriptions.get(id)?.subscription ?? null,
    findChargeable: async () => null,
    findBack: async () => null,
    loadPayments: async () => [],
    findReservation: async (id) => reads.storedReservation(db, id),
    findRefund: async () => null,
    dueAlarms: async () => [],
    nextAlarms: async (query) => reads.nextAlarms(db, query),
  };
}
