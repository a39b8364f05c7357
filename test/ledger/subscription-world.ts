// One customer's subscription without a database: decisions are applied at once, their orders are
// kept, and every state is written to its row and read back.
//
// Holds: what is written is what is read again, and what the meters are told to do they can do.
import type { DunningPolicy } from '../../ledger/subscriptions/dunning.ts';
import { unreachable } from '../../ledger/kernel/assert.ts';
import { decideStart, type NewSubscription } from '../../ledger/subscriptions/start.ts';
import { type Command, decideCommand } from '../../ledger/subscriptions/commands.ts';
import { type Collected, decideCollect } from '../../ledger/subscriptions/collecting.ts';
import type { SubscriptionDraft } from '../../ledger/subscriptions/subscription-draft.ts';
import type {
  Billing,
  MeterOrder,
  PaymentOrder,
  Plan,
  Subscription,
  SubscriptionEffects,
} from '../../ledger/subscriptions/subscription.ts';
import {
  NO_ACCOUNT,
  NO_BILLING,
  subscriptionDue,
} from '../../ledger/subscriptions/subscription.ts';
import type { SubscriptionRow as Flushed } from '../../ledger/storage.ts';
import { type SubscriptionRow, subscriptionOf } from '../../ledger/store/subscription-row.ts';
import type { LedgerEvent } from '../../ledger/event.ts';
import { toJson } from '../../ledger/store/json.ts';
import { SUBSCRIPTION_COLUMNS } from '../../ledger/store/subscription-columns.ts';
import { DAY, T0, readableIds } from './world.ts';

export const POLICY: DunningPolicy = {
  retryDays: [1, 3, 7, 13, 20],
  blockAfterDays: 14,
  expireAfterDays: 21,
};

export const MONTHLY: Plan = {
  productId: 'product',
  priceId: 'monthly',
  planName: 'pro-monthly',
  priceListName: 'DEFAULT',
  unitAmount: 3000n,
  currency: 'USD',
  interval: 'month',
  intervalCount: 1,
  quantity: 1,
};
export const DEARER: Plan = { ...MONTHLY, priceId: 'team', planName: 'team', unitAmount: 9000n };
export const CHEAPER: Plan = { ...MONTHLY, priceId: 'basic', planName: 'basic', unitAmount: 1000n };
export const YEARLY: Plan = {
  ...MONTHLY,
  priceId: 'yearly',
  planName: 'pro-yearly',
  unitAmount: 30_000n,
  interval: 'year',
};

export type StartFields = Partial<NewSubscription> & {
  readonly trialDays?: number;
  /** What earlier subscriptions of the customer have left, in USD. */
  readonly credit?: bigint;
};
export type Followup = SubscriptionEffects['followups'][number];

/** The meters' view of it: the orders are executed one by one, as `plan-allowance.ts` does. */
type Allowances = {
  readonly held: boolean;
  readonly suspended: 'paused' | 'blocked' | null;
  readonly expiresAt: number | null;
  readonly anchor: number;
};

const NONE: Allowances = { held: false, suspended: null, expiresAt: null, anchor: 0 };

/** The outcome of a command. */
export type Decided = {
  readonly kind: string;
  readonly legal: readonly string[];
  readonly events: readonly LedgerEvent[];
  readonly orders: readonly MeterOrder[];
  readonly followups: readonly Followup[];
};

type Failure = {
  readonly kind?: 'failed' | 'errored';
  readonly code?: string;
  readonly hard?: boolean;
};

export class SubscriptionWorld {
  now = T0;
  billing: Billing = NO_BILLING;
  /** As last written. */
  last: Subscription | null = null;
  /** By subscription. */
  readonly #allowances = new Map<string, Allowances>();
  readonly ids = readableIds();
  readonly customer = {
    id: 'customer',
    slot: 7,
    organisationId: 'organisation',
    mode: 'test',
    externalId: 'u_42',
    email: 'a@example.com',
  } as const;
  readonly events: LedgerEvent[] = [];
  readonly followups: Followup[] = [];

  /** A manual one by default. */
  start({ trialDays, credit = 0n, ...fields }: StartFields = {}): Decided {
    if (credit > 0n) {
      this.billing = { ...this.billing, account: { ...NO_ACCOUNT, credit: { USD: credit } } };
    }
    const draft = decideStart(this.context, this.billing, {
      id: 'sub',
      bundleId: 'bundle',
      plan: MONTHLY,
      allowances: [],
      signup: {
        paymentLinkId: null,
        paymentLinkToken: null,
        clientReferenceId: 'ref',
        externalCustomerId: null,
        metadata: { seat: 'a' },
      },
      zone: 'UTC',
      startAt: this.now,
      trialEnd: trialDays === undefined ? null : this.now + trialDays * DAY,
      discount: null,
      paid: null,
      ...fields,
    });
    return { kind: 'started', legal: [], ...this.#take(draft) };
  }

  do(command: Command, id = 'sub'): Decided {
    const before = { events: this.events.length, followups: this.followups.length };
    const orders: MeterOrder[] = [];
    for (;;) {
      const decided = decideCommand(this.context, this.billing, { id, command });
      if (decided.draft !== null) orders.push(...this.#take(decided.draft).orders);
      const { outcome } = decided;
      if (outcome === null) continue;
      return {
        kind: outcome.kind,
        legal: outcome.kind === 'invalid_state' ? outcome.legal : [],
        events: this.events.slice(before.events),
        orders,
        followups: this.followups.slice(before.followups),
      };
    }
  }

  /** An invoice is asked for that is stored as unpaid, `attempts` times charged in vain. */
  collect(
    { invoiceId, amount }: { readonly invoiceId: string; readonly amount: bigint },
    attempts = 0,
  ): Decided {
    const before = { events: this.events.length, followups: this.followups.length };
    const orders: MeterOrder[] = [];
    let kind: Collected;
    for (;;) {
      const invoice = { invoiceId, amount, attempts, subscription: this.state };
      const { outcome, draft } = decideCollect(this.context, this.billing, invoice);
      if (draft !== null) orders.push(...this.#take(draft).orders);
      kind = outcome;
      if (outcome !== 'due_first') break;
      const { due } = this;
      orders.push(...this.do({ kind: 'tick' }).orders);
      if (this.due === due) throw new Error('what is due first is never done');
    }
    const [events, followups] = [
      this.events.slice(before.events),
      this.followups.slice(before.followups),
    ];
    return { kind, legal: [], events, orders, followups };
  }

  get context() {
    const { customer, now, ids } = this;
    return { customer, now, ids, spans: [] };
  }

  get allowances(): Allowances {
    return this.#allowances.get('sub') ?? NONE;
  }

  get state(): Subscription {
    if (this.last === null) throw new Error('nothing was started');
    return this.last;
  }

  /** When time alone changes something next. */
  get due(): number {
    const live = this.billing.subscriptions.get('sub');
    return live === undefined ? Infinity : subscriptionDue(live);
  }

  /** Every due time on the way is an alarm of its own. */
  goTo(at: number, each: (decided: Decided) => void = () => undefined): void {
    for (let due = this.due; due <= at; due = this.due) {
      if (due < this.now) throw new Error('due in the past');
      this.now = due;
      each(this.do({ kind: 'tick' }));
      if (this.due === due) throw new Error('an alarm that changes nothing rings for ever');
    }
    this.now = at;
  }

  wait(ms: number): void {
    this.goTo(this.now + ms);
  }

  /** The pending charge of an invoice or of a pending payment. */
  get charge(): string {
    const { open, waiting } = this.state;
    const id = waiting?.paymentId ?? open.find(({ paymentId }) => paymentId !== null)?.paymentId;
    if (!id) throw new Error('no charge is under way');
    return id;
  }

  paid(paymentId = this.charge): Decided {
    const transactionId = `capture of ${paymentId}`;
    const settlement = { kind: 'paid', paymentId, at: this.now, transactionId } as const;
    return this.do({ kind: 'settle', settlement });
  }

  failed(failure: Failure = {}, paymentId = this.charge): Decided {
    const settlement = {
      kind: 'failed',
      paymentId,
      at: this.now,
      code: 'card_declined',
      message: 'no',
      hard: false,
      policy: POLICY,
      ...failure,
    } as const;
    return this.do({ kind: 'settle', settlement });
  }

  noMethod(paymentId = this.charge, id = 'sub'): Decided {
    const settlement = { kind: 'no_method', paymentId, at: this.now, policy: POLICY } as const;
    return this.do({ kind: 'settle', settlement }, id);
  }

  #take(draft: SubscriptionDraft) {
    const effects = draft.effects();
    const { orders } = draft;
    if (effects === null) {
      if (orders.length > 0) throw new Error('orders without a change');
      return { events: [], orders, followups: [] };
    }
    this.#write(effects);
    for (const order of orders) {
      const before = this.#allowances.get(order.subscriptionId) ?? NONE;
      this.#allowances.set(order.subscriptionId, obeyed(before, order));
    }
    return { events: effects.events, orders, followups: effects.followups };
  }

  #write(effects: SubscriptionEffects): void {
    const subscriptions = new Map(this.billing.subscriptions);
    for (const subscription of effects.subscriptions) {
      const written = { customer: this.customer, subscription };
      const row = read(written);
      this.last = subscriptionOf(row);
      if (row.live) subscriptions.set(subscription.id, this.last);
      else subscriptions.delete(subscription.id);
    }
    this.billing = { subscriptions, account: effects.state.account };
    if (this.billing.subscriptions.size !== effects.state.subscriptions.size) {
      throw new Error('what is live in memory is not what is live on disk');
    }
    this.events.push(...effects.events);
    this.followups.push(...effects.followups);
  }
}

function obeyed(before: Allowances, order: MeterOrder): Allowances {
  const { held } = before;
  if (held === (order.kind === 'start')) throw new Error(`${order.kind} after the wrong order`);
  switch (order.kind) {
    case 'start':
      return { held: true, suspended: null, expiresAt: null, anchor: order.cycle.anchor };
    case 'withdraw':
      return { ...before, held: false };
    case 'expire_at':
      return { ...before, expiresAt: order.at };
    case 'suspend':
      return { ...before, suspended: order.why };
    case 'refresh':
    case 'charge':
    case 'cut':
    case 'bill':
    case 'settle':
    case 'forget':
    case 'unbill':
      return before;
    case 'replace':
      return { ...before, anchor: order.cycle.anchor };
    case 'restart':
      return { ...before, suspended: null, anchor: order.cycle.anchor };
    default:
      return unreachable(order);
  }
}

/**
 * The row as the driver returns it: times are dates, bigints are bigints, documents went through
 * JSON.
 */
function read(written: Flushed): SubscriptionRow {
  const entries = Object.entries(SUBSCRIPTION_COLUMNS).map(([name, { type, of }]) => {
    const value = of(written);
    if (type === 'time') return [name, value === null ? null : new Date(Number(value))];
    return [name, type === 'exact_json' ? toJson(value) : value];
  });
  const sent = { sent_external_customer_id: null, sent_percent_off: null, sent_amount_off: null };
  return { ...Object.fromEntries(entries), ...sent } as SubscriptionRow;
}

/** The `type` of each, without the shared prefix. */
export const told = (events: readonly LedgerEvent[]): string[] =>
  events.map(({ type }) => type.replace('subscription.', ''));

/** What these order to charge, in order. */
export function chargesOf(followups: readonly Followup[]): readonly PaymentOrder[] {
  return followups.flatMap((followup) => {
    const order = followup.kind === 'bill' || followup.kind === 'collect' ? followup.payment : null;
    return order === null ? [] : [order];
  });
}
