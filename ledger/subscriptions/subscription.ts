import type { Cycle } from '../kernel/calendar.ts';
import type { LedgerEvent } from '../event.ts';
import type { Customer, Meter } from '../metering/meter.ts';
import type { PaymentMethod } from '../payments/payment.ts';
import type { AllowanceTerms } from '../metering/plan-allowance.ts';
import type { SignupContext } from '../metering/signup.ts';
import {
  type Dunning,
  type DunningPolicy,
  type OverdueState,
  type UnpaidEnd,
  nextDunningAt,
} from './dunning.ts';

/**
 * One subscription: what a customer pays for again and again, and what that gives.
 *
 *     (none) ──start──▶ active ◀──pause · resume──▶ paused
 *                          └──────── cancel · time · dunning ────────▶ canceled      final: a new signup is a new subscription
 *
 * It lives in its customer's actor, beside the meters that it gives an allowance of: one decision writes both. A cancellation that is
 * scheduled is a time, not a state; a trial is a period before the first; overdue is what its open invoices make it (decisions 7).
 *
 * Period first, money then: at the end of a period the next one begins and an invoice becomes open. What is charged for it comes back
 * as an answer (`invoicing.ts`), and what does not come is chased for as long as the organisation's policy says.
 *
 * Here are the shape and the questions; `start.ts`, `commands.ts`, `renewal.ts` and `invoicing.ts` decide. Times are
 * milliseconds, amounts bigints in the currency's smallest coin.
 */
export type SubscriptionStatus = 'active' | 'paused' | 'canceled';

export type ExpiryReason = 'cancellation_effective' | 'immediate' | 'trial_expired' | UnpaidEnd;

/** What is sold. Replaced as a whole by a change of plan. */
export type Plan = {
  readonly productId: string;
  readonly priceId: string;
  readonly planName: string;
  readonly priceListName: string;
  readonly unitAmount: bigint;
  readonly currency: string;
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly intervalCount: number;
  readonly quantity: number;
};

export type Subscription = {
  readonly id: string;
  readonly bundleId: string;
  readonly plan: Plan;
  readonly signup: SignupContext;
  readonly createdAt: number;
  /** Where the periods count from. Period n runs from boundary n to boundary n + 1. */
  readonly cycle: Cycle;
  /** Of the current period; -1 in a trial. */
  readonly periodIndex: number;
  readonly periodStart: number;
  readonly periodEnd: number;
  /** What a whole one of the current period costs the customer: less than the plan's price where a discount came off it. */
  readonly periodPrice: bigint;
  readonly status: SubscriptionStatus;
  readonly trialEnd: number | null;
  /** When a scheduled cancellation takes effect. */
  readonly cancelAt: number | null;
  readonly canceledAt: number | null;
  readonly endedAt: number | null;
  readonly pausedAt: number | null;
  readonly resumesAt: number | null;
  readonly keepInvoices: boolean;
  /** Unpaid invoices, oldest first. */
  readonly open: readonly OpenInvoice[];
  /** Something that begins when it is paid; null where nothing waits. */
  readonly waiting: Waiting | null;
  /** What is owed to the customer, and comes off the next invoices. */
  readonly credit: bigint;
  readonly overdue: OverdueState;
  readonly sequence: bigint;
  readonly eventAt: number;
};

export type OpenInvoice = {
  readonly invoiceId: string;
  readonly amount: bigint;
  /** What the customer's credit took off it. */
  readonly credit: bigint;
  readonly transactionType: 'SUBSCRIPTION_START' | 'RECURRING';
  /** How often it was tried. */
  readonly attempt: number;
  /** The charge under way; null between tries. */
  readonly paymentId: string | null;
  /** Whether it is tried again as soon as that fails: there is another card since. */
  readonly again: boolean;
  readonly retryAt: number | null;
  /** Since its first failure. */
  readonly dunning: Dunning | null;
};

/** A resume after the paid period, or another plan. */
export type Beginning = { readonly since: number } & (
  | { readonly kind: 'resume' }
  | {
      readonly kind: 'change';
      readonly plan: Plan;
      readonly allowances: readonly PlanAllowance[];
      /** Whether the plan's intervals differ: then a new period begins with it. */
      readonly restarts: boolean;
    }
);

/** One that costs something: begins with its payment, and not without. */
export type Waiting = Beginning & {
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly amount: bigint;
  /** What of it the customer's credit covers: it comes back with a refusal. */
  readonly credit: bigint;
};

/** What a plan gives of a meter. */
export type PlanAllowance = AllowanceTerms & {
  readonly meter: Meter;
  readonly entitlementId: string;
};

/** All subscriptions of a customer that have not ended. */
export type Billing = { readonly subscriptions: ReadonlyMap<string, Subscription> };

export const NO_BILLING: Billing = { subscriptions: new Map() };

/** What the meters of the customer are to do, in the same unit. */
export type MeterOrder =
  | {
      readonly kind: 'start';
      readonly allowances: readonly PlanAllowance[];
      readonly cycle: Cycle;
      /** From when on they are given. */
      readonly at: number;
    }
  /** What the product gives now, where that is not what it gave. */
  | {
      readonly kind: 'refresh';
      readonly allowances: readonly PlanAllowance[];
      readonly cycle: Cycle;
    }
  | { readonly kind: 'withdraw'; readonly how: 'expired' | 'voided' }
  | { readonly kind: 'expire_at'; readonly at: number | null }
  | { readonly kind: 'suspend'; readonly why: 'paused' | 'blocked' | null }
  /** Another plan's allowances instead: what was used of the old ones in this period counts against the new. */
  | {
      readonly kind: 'replace';
      readonly allowances: readonly PlanAllowance[];
      readonly cycle: Cycle;
    }
  | { readonly kind: 'restart'; readonly cycle: Cycle };

export type SubscriptionOrder = MeterOrder & {
  readonly subscriptionId: string;
  /** Of the last event before it: no two changes of plan share it, though they be of one millisecond. */
  readonly sequence: bigint;
  readonly productId: string;
};

export type InvoiceLineDraft = {
  readonly type: 'recurring' | 'proration' | 'credit';
  readonly description: string;
  readonly quantity: number;
  readonly unitAmount: bigint;
};

export type InvoiceDraft = {
  readonly id: string;
  readonly reason: BillingReason;
  readonly currency: string;
  readonly lines: readonly InvoiceLineDraft[];
  readonly periodStart: number;
  readonly periodEnd: number;
  /** Left for the merchant to finalise: nothing is charged. */
  readonly isDraft: boolean;
};

export type BillingReason =
  | 'subscription_create'
  | 'subscription_cycle'
  | 'subscription_update'
  | 'subscription_resume';

/** What others must still do; a row of the same flush, carried out after it. Amounts are bigints until they are written. */
export type SubscriptionFollowup = { readonly id: string; readonly at: number } & (
  | {
      readonly kind: 'bill';
      readonly invoice: InvoiceDraft;
      /** null where nothing is to be charged. */
      readonly payment: PaymentOrder | null;
    }
  | { readonly kind: 'collect'; readonly payment: PaymentOrder }
  | { readonly kind: 'void'; readonly invoiceId: string }
  | {
      readonly kind: 'overdue';
      readonly from: OverdueState;
      readonly to: OverdueState;
      /** When time alone changes it next. */
      readonly nextAt: number | null;
    }
  /** It is over because it was not paid. */
  | { readonly kind: 'ended' }
);

export type PaymentOrder = {
  readonly id: string;
  readonly invoiceId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly attempt: number;
  readonly transactionType: 'SUBSCRIPTION_START' | 'RECURRING';
};

/** What became of a charge, or that there is nothing to charge. */
export type Settlement = {
  readonly paymentId: string;
  readonly at: number;
} & (
  | { readonly kind: 'paid'; readonly transactionId: string | null }
  | { readonly kind: 'no_method'; readonly policy: DunningPolicy }
  | {
      readonly kind: 'failed' | 'errored';
      readonly code: string;
      readonly message: string;
      /** No later try can succeed. */
      readonly hard: boolean;
      readonly policy: DunningPolicy;
    }
);

/** What the payment of a signup was. */
export type SignupPayment = {
  readonly paymentId: string;
  readonly amount: bigint;
  readonly customerEmail: string | null;
  readonly invoiceId: string | null;
  readonly method: PaymentMethod | null;
};

/** Everything that one decision on a customer's subscriptions wants written. */
export type SubscriptionEffects = {
  readonly kind: 'subscription';
  readonly customer: Customer;
  readonly before: Billing;
  readonly state: Billing;
  readonly subscriptions: readonly Subscription[];
  readonly events: readonly LedgerEvent[];
  readonly followups: readonly (SubscriptionFollowup & { readonly subscriptionId: string })[];
};

export function amountOf({ unitAmount, quantity }: Plan): bigint {
  return unitAmount * BigInt(quantity);
}

/** The contract's name of where it stands (research: Kill Bill's phases). */
export function phaseName(subscription: Subscription): string {
  return `${subscription.plan.planName}-${isTrial(subscription) ? 'trial' : 'evergreen'}`;
}

export function isTrial({ periodIndex }: Subscription): boolean {
  return periodIndex < 0;
}

/**
 * Whether to resume then begins a new period: after the one that was paid, or where one began while it was paused and there is but a
 * draft of it. To resume in that would be free. Where it is blocked past its end, the new one begins when what is owed is paid.
 */
export function resumeRestarts(subscription: Subscription, at: number): boolean {
  const { periodStart, periodEnd, periodPrice, pausedAt, plan, overdue } = subscription;
  if (at >= periodEnd) return overdue !== 'blocked';
  const beganPaused = pausedAt !== null && periodStart > pausedAt;
  return beganPaused && periodPrice === 0n && amountOf(plan) > 0n;
}

/** When time alone next changes something; Infinity for never. */
export function subscriptionDue(subscription: Subscription): number {
  const { status, cancelAt, resumesAt, waiting } = subscription;
  // A payment under way decides first: its answer comes, and then time goes on where it stood.
  if (status === 'canceled' || waiting !== null) return Infinity;
  const periodEnd = renews(subscription) ? subscription.periodEnd : Infinity;
  const ends = Math.min(cancelAt ?? Infinity, resumesAt ?? Infinity, periodEnd);
  return Math.min(ends, nextDunningAt(subscription));
}

/** Whether nothing can happen to it any more: a charge that was under way when it ended still comes back. */
export function isOver({ status, open }: Subscription): boolean {
  return status === 'canceled' && open.length === 0;
}

/**
 * Whether the end of its period begins another one: not while it is paused without invoices, and not while it is blocked, because nobody
 * is billed for what cannot be used. Paid after its period, a new one begins then.
 */
export function renews({ status, keepInvoices, overdue }: Subscription): boolean {
  if (overdue === 'blocked') return false;
  return status === 'active' || (status === 'paused' && keepInvoices);
}
