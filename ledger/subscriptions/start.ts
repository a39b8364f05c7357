import { boundary } from '../kernel/calendar.ts';
import { assert } from '../kernel/assert.ts';
import { billPeriod } from './bills.ts';
import { announceSignup } from './invoicing.ts';
import { recurringLine } from './proration.ts';
import { catchUp } from './renewal.ts';
import {
  type Billing,
  type Plan,
  type PlanAllowance,
  type SignupPayment,
  type Subscription,
  amountOf,
} from './subscription.ts';
import type { Discount } from '../payments/pricing.ts';
import type { SignupContext } from '../metering/signup.ts';
import { cycleOf } from './pending-payment.ts';
import { SubscriptionDraft, type SubscriptionContext } from './subscription-draft.ts';

export type NewSubscription = {
  /** Derived from its cause, so it starts once. */
  readonly id: string;
  readonly bundleId: string;
  readonly plan: Plan;
  readonly allowances: readonly PlanAllowance[];
  readonly signup: SignupContext;
  /** IANA, of its periods. */
  readonly zone: string;
  readonly startAt: number;
  /** null: no trial. */
  readonly trialEnd: number | null;
  /** For the first period that is billed, where that is after a trial. */
  readonly discount: Discount | null;
  /** What was paid on the hosted page; null where the first period is still to be billed. */
  readonly paid: SignupPayment | null;
};

/** Starts a subscription: its first period, or its trial, and its allowances. */
export function decideStart(
  context: SubscriptionContext,
  billing: Billing,
  wanted: NewSubscription,
): SubscriptionDraft {
  const { startAt, trialEnd, plan, paid } = wanted;
  assert(trialEnd === null || trialEnd > startAt, 'a trial has a length');
  const draft = new SubscriptionDraft(context, billing, wanted.id);
  const cycle = cycleOf(plan, trialEnd ?? startAt, wanted.zone);
  const subscription: Subscription = {
    id: wanted.id,
    bundleId: wanted.bundleId,
    plan,
    signup: wanted.signup,
    createdAt: startAt,
    cycle,
    periodIndex: trialEnd === null ? 0 : -1,
    periodStart: startAt,
    periodEnd: trialEnd ?? boundary(cycle, 1),
    periodPrice: paid?.amount ?? (trialEnd === null ? amountOf(plan) : 0n),
    givenBack: [],
    pauses: [],
    status: 'active',
    trialEnd,
    cancelAt: null,
    canceledAt: null,
    endedAt: null,
    pausedAt: null,
    resumesAt: null,
    keepInvoices: false,
    open: [],
    waiting: null,
    credit: 0n,
    discount: wanted.discount,
    usage: [],
    overdue: 'clear',
    sequence: 0n,
    eventAt: 0,
  };
  draft.begin(subscription);
  draft.announce('subscription.created', startAt);
  const { allowances } = wanted;
  draft.order({ kind: 'start', allowances, cycle, at: startAt, charges: trialEnd === null });
  if (paid !== null) announceSignup(draft, paid, startAt);
  else if (trialEnd === null) {
    billPeriod(draft, {
      reason: 'subscription_create',
      lines: [recurringLine(plan)],
      periodStart: subscription.periodStart,
      periodEnd: subscription.periodEnd,
      at: startAt,
    });
  }
  // A late start may have more due.
  catchUp(draft);
  return draft;
}
