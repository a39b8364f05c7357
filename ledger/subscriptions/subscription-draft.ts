import { iso } from '../kernel/iso.ts';
import { assert, must } from '../kernel/assert.ts';
import type { LedgerEvent, LedgerEventType } from '../event.ts';
import type { Customer } from '../metering/meter.ts';
import type { Unbilled } from '../metering/span.ts';
import { type BillableSpan, cutBy, joined, quantified } from '../metering/spans.ts';
import { formatMoney } from '../kernel/money.ts';
import type { Ids } from '../ports.ts';
import { externalIdOf } from '../metering/signup.ts';
import {
  type OverdueState,
  nextOverdueAt,
  overdueOf,
  overdueStateAt,
  suspensionOf,
} from './dunning.ts';
import {
  type Billing,
  type BillingAccount,
  type MeterOrder,
  type PlanAllowance,
  type Subscription,
  type SubscriptionEffects,
  type SubscriptionFollowup,
  type SubscriptionOrder,
  amountOf,
  isOver,
  phaseName,
} from './subscription.ts';

/** What a decision on a subscription may know besides its state. */
export type SubscriptionContext = {
  readonly customer: Customer;
  readonly now: number;
  readonly ids: Ids;
  /** In which usage of the customer's meters is sold, as they are now. */
  readonly spans: readonly BillableSpan[];
};

type NewFollowup = SubscriptionFollowup extends infer F
  ? F extends SubscriptionFollowup
    ? Omit<F, 'id' | 'at'>
    : never
  : never;

/**
 * The subscriptions of a customer while a decision changes one of them, and what that writes. Lives
 * inside one decision.
 */
export class SubscriptionDraft {
  readonly context: SubscriptionContext;
  readonly orders: SubscriptionOrder[] = [];
  readonly #before: Billing;
  readonly #first: Subscription | null;
  #subscription: Subscription | null;
  #account: BillingAccount;
  /** Its own, as the orders so far leave them. */
  #spans: readonly BillableSpan[];
  readonly #events: LedgerEvent[] = [];
  readonly followups: (SubscriptionFollowup & { subscriptionId: string })[] = [];

  /**
   * `id`: of the existing subscription, or of the one that `begin` makes. `stored`: as it was when
   * nothing could happen to it any more, of one that is not among the customer's.
   */
  constructor(
    context: SubscriptionContext,
    billing: Billing,
    id: string,
    stored: Subscription | null = null,
  ) {
    this.context = context;
    this.#before = billing;
    this.#first = billing.subscriptions.get(id) ?? stored;
    this.#subscription = this.#first;
    this.#account = billing.account;
    this.#spans = context.spans.filter(({ subscriptionId }) => subscriptionId === id);
  }

  get state(): Subscription {
    return must(this.#subscription, 'a subscription');
  }

  get spans(): readonly BillableSpan[] {
    return this.#spans;
  }

  /** What the customer's subscriptions share. */
  get account(): BillingAccount {
    return this.#account;
  }

  changeAccount(fields: Partial<BillingAccount>): void {
    this.#account = { ...this.#account, ...fields };
  }

  /** Whether follow-ups were written. */
  get owes(): boolean {
    return this.followups.length > 0;
  }

  begin(subscription: Subscription): void {
    assert(this.#subscription === null, 'a subscription starts once');
    this.#subscription = subscription;
  }

  change(fields: Partial<Subscription>): void {
    const next = { ...this.state, ...fields };
    assert(next.periodEnd > next.periodStart, 'a period has a length');
    assert(next.credit >= 0n, 'a credit is owed to the customer, never by it');
    assert(next.status === 'paused' || next.resumesAt === null, 'only what is paused resumes');
    this.#subscription = next;
  }

  /** Orders something of the customer's meters. */
  order(order: MeterOrder): void {
    const { id: subscriptionId, sequence, plan } = this.state;
    this.orders.push({ ...order, subscriptionId, sequence, productId: plan.productId });
  }

  /** Writes a follow-up: one for each `cause`. */
  follow(cause: string, at: number, followup: NewFollowup): void {
    const { ids } = this.context;
    const { id: subscriptionId } = this.state;
    const id = ids.derive(followup.kind, subscriptionId, cause);
    this.followups.push({ ...followup, id, at, subscriptionId });
  }

  /** Writes an event; `data` adds to what all events of a subscription carry. */
  announce(type: LedgerEventType, at: number, data: Readonly<Record<string, unknown>> = {}): void {
    const { customer } = this.context;
    this.write(type, at, {
      ...subscriptionData(this.state),
      externalCustomerId: externalIdOf(this.state, customer),
      customerEmail: customer.email,
      ...data,
    });
  }

  /**
   * Announces the fields that differ from `before`, with their old values. A new plan is named as
   * `plan`, too.
   */
  announceUpdate(before: Subscription, at: number = this.context.now): void {
    const [was, is] = [subscriptionData(before), subscriptionData(this.state)];
    const changed = Object.keys(was).filter((name) => !isSame(was[name], is[name]));
    const previous = Object.fromEntries(changed.map((name) => [name, was[name]]));
    const isPlan = before.plan !== this.state.plan;
    const changes = isPlan ? ['plan', ...changed] : changed;
    this.announce('subscription.updated', at, { changes, previous });
  }

  announceTrialEnd(at: number, outcome: 'converted' | 'expired'): void {
    this.announce('subscription.trial_ended', at, { outcome, trialEndedAt: iso(at) });
  }

  /** Writes an event with only these fields. */
  write(type: LedgerEventType, at: number, data: Readonly<Record<string, unknown>>): void {
    const { ids, customer } = this.context;
    const { id, sequence, eventAt } = this.state;
    const next = { sequence: sequence + 1n, eventAt: Math.max(at, eventAt + 1) };
    this.#events.push({
      id: ids.next(),
      type,
      objectType: 'SUBSCRIPTION',
      objectId: id,
      accountId: customer.id,
      timestamp: next.eventAt,
      sequence: next.sequence,
      data,
    });
    this.change(next);
  }

  /**
   * Closes the spans that run: what was used until `at` can be billed. `goesOn`: whose price is in
   * force after it, too.
   */
  cutSpans(at: number, goesOn: (span: BillableSpan) => boolean = () => false): void {
    if (!this.#spans.some(({ end }) => end === null)) return;
    this.order({ kind: 'cut', at });
    this.closeSpans(at, goesOn);
  }

  /**
   * The same, where another order closes them. What begins at `at` or later is not sold, but what
   * was used or is held in the same millisecond.
   */
  closeSpans(at: number, goesOn: (span: BillableSpan) => boolean = () => false): void {
    const isNow = at === this.context.now;
    const isUsed = ({ start, end, isEmpty }: BillableSpan): boolean =>
      start === at && (end ?? at) === at && !isEmpty;
    this.#spans = this.#spans
      .filter((span) => span.start < at || span.billedAs !== null || (isNow && isUsed(span)))
      .map((span) => (isOpenAt(span, at) ? { ...span, end: at, goesOn: goesOn(span) } : span));
  }

  billSpans(billedAs: string, spans: readonly BillableSpan[]): void {
    const spanIds = spans.map(({ id }) => id);
    const { meter } = must(spans[0], 'a line has a span');
    this.order({ kind: 'bill', meterId: meter.id, line: { billedAs, spanIds } });
    const billed = new Set(spanIds);
    this.#spans = this.#spans.map((span) => (billed.has(span.id) ? { ...span, billedAs } : span));
  }

  /** Nothing of them can change any more. */
  settleSpans(billedAs: readonly string[]): void {
    this.order({ kind: 'settle', billedAs });
    this.#spans = this.#spans.filter((span) => !billedAs.includes(span.billedAs ?? ''));
  }

  /** What is not billed comes to nothing. */
  forgetSpans(): void {
    if (!this.#spans.some(({ billedAs }) => billedAs === null)) return;
    this.order({ kind: 'forget' });
    this.#spans = this.#spans.filter(({ billedAs }) => billedAs !== null);
  }

  /** A span that was cut at `cutAt` is one with the one after it. */
  unbillSpans(what: Unbilled): void {
    if (this.#spans.length === 0) return;
    this.order({ kind: 'unbill', ...what });
    const cut = cutBy(this.#spans, what);
    const following = new Map([...cut].map(([span, next]) => [next, joined(span, next)]));
    const spans = this.#spans
      .filter((span) => !cut.has(span))
      .map((span) =>
        what.undone.includes(span.billedAs ?? '')
          ? { ...span, billedAs: null }
          : (following.get(span) ?? span),
      );
    this.#spans = quantified(spans);
  }

  /**
   * What begins at `since` or later has the prices of these allowances. `isRunning`: only what
   * runs, as where a change was waited for (`repriceSince`).
   */
  repriceSpans(
    since: number,
    allowances: readonly PlanAllowance[],
    { isRunning = false }: { readonly isRunning?: boolean } = {},
  ): void {
    this.#spans = this.#spans.flatMap((span) => {
      const isBefore = span.start < since || span.billedAs !== null;
      if (isBefore || (isRunning && span.end !== null)) return [span];
      const price = allowances.find(({ meter }) => meter.id === span.meter.id)?.price ?? null;
      return price === null ? [] : [{ ...span, price }];
    });
  }

  /** Applies the dunning of the open invoices. Becoming blocked, and unblocked, is announced. */
  reconsider(at: number): void {
    const { overdue, status } = this.state;
    if (status === 'canceled') return;
    const next = overdueStateAt(this.state, at);
    if (next === overdue) return;
    this.becomeOverdue(next, at);
    if (next !== 'blocked' && overdue !== 'blocked') return;
    this.order({ kind: 'suspend', why: suspensionOf(this.state) });
    const isBlocked = next === 'blocked';
    this.write('subscription.blocked', at, {
      subscriptionId: this.state.id,
      stateName: isBlocked ? 'blocked' : 'clear',
      service: 'dunning',
      blockChange: isBlocked,
      blockEntitlement: isBlocked,
      blockBilling: false,
      effectiveDate: iso(at),
      externalCustomerId: externalIdOf(this.state, this.context.customer),
      metadata: this.state.signup.metadata,
    });
  }

  /** The state of a customer is that of its worst subscription. A change of it is a follow-up. */
  becomeOverdue(overdue: OverdueState, at: number): void {
    const from = overdueOf(this.#billing());
    this.change({ overdue });
    const billing = this.#billing();
    const [to, nextAt] = [overdueOf(billing), nextOverdueAt(billing)];
    // The change has no name of its own: the same one may come again at the same time.
    if (from === to) return;
    this.follow(this.context.ids.next(), at, { kind: 'overdue', from, to, nextAt });
  }

  #billing(): Billing {
    const subscriptions = new Map(this.#before.subscriptions);
    subscriptions.set(this.state.id, this.state);
    return { subscriptions, account: this.#account };
  }

  /** The finished effects; null where nothing changed. */
  effects(): SubscriptionEffects | null {
    const subscription = this.state;
    if (subscription === this.#first) return null;
    const subscriptions = new Map(this.#before.subscriptions).set(subscription.id, subscription);
    if (isOver(subscription)) subscriptions.delete(subscription.id);
    const state: Billing = { subscriptions, account: this.#account };
    return {
      kind: 'subscription',
      customer: this.context.customer,
      before: this.#before,
      state,
      subscriptions: [subscription],
      account: this.#account === this.#before.account ? null : this.#account,
      events: this.#events,
      followups: this.followups,
    };
  }
}

/** Contract, Subscription event data. */
function subscriptionData(subscription: Subscription): Record<string, unknown> {
  const { id, bundleId, plan, signup, status, cancelAt } = subscription;
  return {
    subscriptionId: id,
    bundleId,
    planName: plan.planName,
    phaseName: phaseName(subscription),
    priceListName: plan.priceListName,
    productId: plan.productId,
    priceId: plan.priceId,
    amount: formatMoney(amountOf(plan), plan.currency),
    currency: plan.currency,
    quantity: plan.quantity,
    status,
    cancelAtPeriodEnd: status !== 'canceled' && cancelAt !== null,
    cancellationEffectiveAt: iso(cancelAt),
    currentPeriodEnd: iso(subscription.periodEnd),
    resumesAt: iso(subscription.resumesAt),
    keepInvoices: subscription.keepInvoices,
    pendingChange: pendingData(subscription),
    clientReferenceId: signup.clientReferenceId,
    metadata: signup.metadata,
  };
}

/** A change that waits for its payment; of a resume, the terms are the present ones. */
function pendingData({ plan, waiting }: Subscription): Record<string, unknown> | null {
  if (waiting?.isTold !== true) return null;
  const { priceId, quantity } = waiting.kind === 'change' ? waiting.plan : plan;
  const { invoiceId, paymentId, since } = waiting;
  return { priceId, quantity, invoiceId, paymentId, since: iso(since) };
}

/** What an event says of a field: a value, or an object of them. */
function isSame(was: unknown, is: unknown): boolean {
  return was === is || JSON.stringify(was) === JSON.stringify(is);
}

/** It may have closed since, where what ends it is decided late. */
function isOpenAt({ end, billedAs }: BillableSpan, at: number): boolean {
  return end === null || (end > at && billedAs === null);
}
