import { assert } from '../kernel/assert.ts';
import type { Cycle } from '../kernel/calendar.ts';
import type { LedgerEvent } from '../event.ts';
import type { Customer, Meter } from '../metering/meter.ts';
import type { PaymentMethod } from '../payments/payment.ts';
import { type Discount, discountOn } from '../payments/pricing.ts';
import type { AllowanceTerms } from '../metering/plan-allowance.ts';
import type { BilledSpans } from '../metering/plan-spans.ts';
import type { SignupContext } from '../metering/signup.ts';
import type { Unbilled } from '../metering/span.ts';
import type { Forgiven } from './forgiven.ts';
import type { RatedTier } from './rating.ts';
import {
  type Dunning,
  type DunningPolicy,
  type OverdueState,
  type UnpaidEnd,
  nextDunningAt,
} from './dunning.ts';

/**
 * One subscription: its data, and the questions about it.
 *
 *     (none) ──start──▶ active ◀──pause · resume──▶ paused
 *                          └──────── cancel · time · dunning ────────▶ canceled      final
 *
 * How it works: it lives in its customer's actor, beside the meters that it gives allowances of, so
 * one decision writes both. At the end of a period the next one begins and an invoice becomes open;
 * the charge comes back as an answer (`invoicing.ts`). Unpaid invoices are in dunning
 * (`dunning.ts`).
 * What holds: a scheduled cancellation is a time, not a state. A trial is a period before the
 * first. Overdue follows from the open invoices. A new signup is a new subscription.
 * What it does not do: decide. `start.ts`, `commands.ts`, `renewal.ts` and `invoicing.ts` do. Times
 * are milliseconds, amounts bigints in the smallest coin.
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
  /** What the whole current period costs the customer: the price of the plan, less a discount. */
  readonly periodPrice: bigint;
  /** What had been given back of it when the plan last changed: its credit has that taken off. */
  readonly givenBack: readonly GivenBack[];
  readonly status: SubscriptionStatus;
  readonly trialEnd: number | null;
  /** When a scheduled cancellation takes effect. */
  readonly cancelAt: number | null;
  readonly canceledAt: number | null;
  readonly endedAt: number | null;
  readonly pausedAt: number | null;
  readonly resumesAt: number | null;
  readonly keepInvoices: boolean;
  /** Its pauses that are over, oldest first. */
  readonly pauses: readonly Pause[];
  /** Unpaid invoices, oldest first. */
  readonly open: readonly OpenInvoice[];
  /** A change that takes effect when it is paid; null for none. */
  readonly waiting: Waiting | null;
  /** Credit of the customer, used by the next invoices. */
  readonly credit: bigint;
  /** Of its signup with a trial: taken off the first period that is billed, whatever that costs. */
  readonly discount: Discount | null;
  /** Usage that was billed, until what late events change of it is billed, too. */
  readonly usage: readonly BilledUsage[];
  readonly overdue: OverdueState;
  readonly sequence: bigint;
  readonly eventAt: number;
};

/** A pause that is over (`pauses.ts`). */
export type Pause = {
  readonly start: number;
  /** When it was no longer paused. */
  readonly end: number;
  /**
   * When the period began with which it resumed; absent where the period went on. A resume may be
   * paid later than it begins: its own period is not paused, and the one before it is until then.
   */
  readonly begins?: number;
};

/**
 * What was given back of the time that an invoice is for, or may still be: refunded, being
 * refunded, disputed, charged back.
 */
export type GivenBack = {
  readonly invoiceId: string;
  readonly amount: bigint;
  /** The time that it is for. */
  readonly start: number;
  readonly end: number;
};

export type OpenInvoice = {
  readonly invoiceId: string;
  readonly amount: bigint;
  /** What the customer's credit took off it. */
  readonly credit: bigint;
  readonly transactionType: 'SUBSCRIPTION_START' | 'RECURRING';
  /** The number of tries. */
  readonly attempt: number;
  /** The charge under way; null between tries. */
  readonly paymentId: string | null;
  /** Whether it is retried as soon as that charge fails: the payment method has changed since. */
  readonly again: boolean;
  readonly retryAt: number | null;
  /** null until its first failure. */
  readonly dunning: Dunning | null;
  /**
   * What was left at the end: charged once for each time that it is asked for, then left open. It
   * is known on while it has used credit, which returns where the merchant makes it void.
   */
  readonly isFinal?: boolean;
  /** Made void after its charge was refused, and before that was heard of. */
  readonly isVoid?: true;
  /** Of a change that was taken back while its charge was under way: what it takes goes back. */
  readonly isForgone?: true;
};

/** An invoice that may be charged, and its subscription as it is stored. */
export type Chargeable = {
  readonly invoiceId: string;
  readonly amount: bigint;
  /** The number of the last payment of it; 0 without one. */
  readonly attempts: number;
  readonly subscription: Subscription;
};

/**
 * What was billed for spans of one usage price together, rounded once
 * (docs/spec/usage-prices.md#billing).
 */
export type BilledUsage = {
  /** What its spans are `billedAs`. Derived from the price and its first invoice. */
  readonly id: string;
  readonly priceId: string;
  readonly featureKey: string;
  readonly periodStart: number;
  readonly periodEnd: number;
  /** On which invoices: first the usage, then more of the same periods, and adjustments. */
  readonly parts: readonly {
    readonly invoiceId: string;
    /** Scaled, signed. */
    readonly quantity: bigint;
    /** In the smallest coin, signed. */
    readonly amount: bigint;
    /** The merchant has made that invoice void: nobody owes this, and nobody has paid it. */
    readonly waived?: true;
    /** What of it went back to the customer, by now. */
    readonly back?: bigint;
  }[];
  /** Lowest first. */
  readonly forgiven?: readonly Forgiven[];
};

/** A resume after the paid period, or another plan. */
export type Beginning = { readonly since: number } & (
  | { readonly kind: 'resume' }
  | {
      readonly kind: 'change';
      readonly plan: Plan;
      readonly allowances: readonly PlanAllowance[];
      /** Whether the intervals of the plans differ: then a new period begins. */
      readonly restarts: boolean;
      /** What its credit has taken off; absent for nothing. */
      readonly givenBack?: readonly GivenBack[];
    }
);

/** A change that has to be paid: it begins with its payment. */
export type Waiting = Beginning & {
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly amount: bigint;
  /** The credit that it uses. It returns if the charge is refused. */
  readonly credit: bigint;
  /** Whether events say that it waits: its charge had no answer at once. */
  readonly isTold?: true;
};

/** What a plan gives of a meter. */
export type PlanAllowance = AllowanceTerms & {
  readonly meter: Meter;
  readonly entitlementId: string;
};

/** What a customer is billed: its subscriptions that have not ended, and what they share. */
export type Billing = {
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  readonly account: BillingAccount;
};

/** Of a customer, across its subscriptions. */
export type BillingAccount = {
  /** What ended subscriptions left of their credit, by currency, in the smallest coin. */
  readonly credit: Readonly<Record<string, bigint>>;
  readonly spendCap: SpendCap | null;
};

/** The most that unbilled usage may come to (docs/spec/usage-prices.md#spend-cap). */
export type SpendCap = {
  /** In the smallest coin. */
  readonly amount: bigint;
  readonly currency: string;
  /** The periods (subscription and start) in which it was announced that it is reached. */
  readonly announced: readonly { readonly subscriptionId: string; readonly periodStart: number }[];
};

export const NO_ACCOUNT: BillingAccount = { credit: {}, spendCap: null };
export const NO_BILLING: Billing = { subscriptions: new Map(), account: NO_ACCOUNT };

/** Orders to the customer's meters, executed in the same unit. */
export type MeterOrder =
  | {
      readonly kind: 'start';
      readonly allowances: readonly PlanAllowance[];
      readonly cycle: Cycle;
      /** When they start. */
      readonly at: number;
      /** Whether usage beyond them is charged: not in a trial. */
      readonly charges: boolean;
    }
  /** What the product gives from `since` on, if that has changed. */
  | {
      readonly kind: 'refresh';
      readonly allowances: readonly PlanAllowance[];
      readonly cycle: Cycle;
      readonly since: number;
      readonly charges: boolean;
    }
  | { readonly kind: 'withdraw'; readonly how: 'expired' | 'voided'; readonly at: number }
  | { readonly kind: 'expire_at'; readonly at: number | null }
  | { readonly kind: 'suspend'; readonly why: 'paused' | 'blocked' | null }
  /**
   * The allowances of another plan. Usage of the old ones in this period counts against the new
   * ones.
   */
  | {
      readonly kind: 'replace';
      readonly allowances: readonly PlanAllowance[];
      readonly cycle: Cycle;
      readonly since: number;
      readonly charges: boolean;
    }
  | { readonly kind: 'restart'; readonly cycle: Cycle }
  /** The trial is over: usage beyond the allowances is charged from `at` on. */
  | { readonly kind: 'charge'; readonly at: number }
  /** Closes the spans that run: what was used until `at` is billed. */
  | { readonly kind: 'cut'; readonly at: number }
  /** No event of them can come any more. */
  | { readonly kind: 'settle'; readonly billedAs: readonly string[] }
  /** What one line bills. An order of one meter, as an invoice may have hundreds of lines. */
  | { readonly kind: 'bill'; readonly meterId: string; readonly line: BilledSpans }
  /** Its closed spans that were not billed come to nothing. */
  | { readonly kind: 'forget' }
  /** The change at `cutAt` was not paid: its lines are as if they had not been billed. */
  | ({ readonly kind: 'unbill' } & Unbilled);

export type SubscriptionOrder = MeterOrder & {
  readonly subscriptionId: string;
  /**
   * Sequence of the last event before it. Two changes of plan never share it, even within a
   * millisecond.
   */
  readonly sequence: bigint;
  readonly productId: string;
};

export type InvoiceLineDraft =
  | UsageLineDraft
  | {
      readonly type: 'recurring' | 'proration' | 'credit';
      readonly description: string;
      readonly quantity: number;
      /** A credit that is used is negative; one that is left for later invoices is positive. */
      readonly unitAmount: bigint;
      /** The time that it is for, where that is not the invoice's. A credit is for none. */
      readonly period?: { readonly start: number; readonly end: number };
    };

/** Usage of one price in one stretch of time, or what has changed since it was billed. */
export type UsageLineDraft = {
  readonly type: 'usage' | 'usage_adjustment';
  readonly description: string;
  readonly featureKey: string;
  readonly usagePriceId: string;
  /** The id of the `BilledUsage`. */
  readonly usageId: string;
  /** Scaled by `scale`; of an adjustment, the signed change. */
  readonly quantity: bigint;
  readonly scale: number;
  /** In the smallest coin; of an adjustment, the signed change. */
  readonly amount: bigint;
  /** What was billed of it before: with `amount`, what all of it costs. */
  readonly billed: bigint;
  /** Of the whole quantity, with what was billed before. */
  readonly tiers: readonly RatedTier[];
  readonly periodStart: number;
  readonly periodEnd: number;
};

export type InvoiceDraft = {
  readonly id: string;
  readonly reason: BillingReason;
  /** Of the plan whose periods it bills: of the new one, where it bills a change. */
  readonly productId: string;
  readonly currency: string;
  readonly lines: readonly InvoiceLineDraft[];
  /** What a discount takes off its lines; absent where none does. */
  readonly discount?: bigint;
  readonly periodStart: number;
  readonly periodEnd: number;
  /** A draft: the merchant finalizes it, nothing is charged. */
  readonly isDraft: boolean;
};

export type BillingReason =
  | 'subscription_create'
  | 'subscription_cycle'
  | 'subscription_update'
  | 'subscription_resume'
  /** What an ended subscription still owes. */
  | 'usage';

/**
 * A task that follows from a decision: a row of the same flush, executed after it. Amounts are
 * bigints until they are written.
 */
export type SubscriptionFollowup = { readonly id: string; readonly at: number } & (
  | {
      readonly kind: 'bill';
      readonly invoice: InvoiceDraft;
      /** null where nothing is to be charged. */
      readonly payment: PaymentOrder | null;
    }
  | { readonly kind: 'collect'; readonly payment: PaymentOrder }
  | { readonly kind: 'void'; readonly invoiceId: string }
  /** Where its charge has no answer by then, events say that the change waits. */
  | { readonly kind: 'pending'; readonly invoiceId: string; readonly paymentId: string }
  /** Nobody wants this charge any more: it is canceled if the processor lets go of it. */
  | { readonly kind: 'let_go'; readonly paymentId: string }
  /** It was captured all the same: all of it is refunded. */
  | { readonly kind: 'give_back'; readonly paymentId: string; readonly invoiceId: string }
  | {
      readonly kind: 'overdue';
      readonly from: OverdueState;
      readonly to: OverdueState;
      /** When time alone changes it next. */
      readonly nextAt: number | null;
    }
  /** It ended because it was not paid. */
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

/** The result of a charge, or that there is no payment method to charge. */
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
      /** A retry cannot succeed. */
      readonly hard: boolean;
      readonly policy: DunningPolicy;
    }
);

/** The payment of a signup. */
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
  /** null where it did not change. */
  readonly account: BillingAccount | null;
  readonly events: readonly LedgerEvent[];
  readonly followups: readonly (SubscriptionFollowup & { readonly subscriptionId: string })[];
};

export function amountOf({ unitAmount, quantity }: Plan): bigint {
  return unitAmount * BigInt(quantity);
}

/** What its discount takes off a whole period of a plan. */
export function discountOf({ discount }: Pick<Subscription, 'discount'>, plan: Plan): bigint {
  if (discount === null) return 0n;
  const off = discountOn(amountOf(plan), plan.currency, discount);
  assert(off !== 'currency_conflict', 'a discount is taken in its own currency');
  return off;
}

/** The contract's name for its phase (after Kill Bill). */
export function phaseName(subscription: Subscription): string {
  return `${subscription.plan.planName}-${isTrial(subscription) ? 'trial' : 'evergreen'}`;
}

export function isTrial({ periodIndex }: Subscription): boolean {
  return periodIndex < 0;
}

/**
 * Whether a resume begins a new period: after the paid period, or if a period began during the
 * pause and was never paid: it has a draft, or an invoice that was charged in vain. To resume in
 * that one would be free. If it is blocked past its end, the new period begins when the debt is
 * paid.
 */
export function resumeRestarts(subscription: Subscription, at: number): boolean {
  const { periodEnd, periodPrice, plan, overdue } = subscription;
  if (at >= periodEnd) return overdue !== 'blocked';
  return beganPaused(subscription) && periodPrice === 0n && amountOf(plan) > 0n;
}

/** Whether the period that runs began during the pause. */
export function beganPaused({ periodStart, pausedAt }: Subscription): boolean {
  return pausedAt !== null && periodStart > pausedAt;
}

/** When time alone next changes something; Infinity for never. */
export function subscriptionDue(subscription: Subscription): number {
  const { status, cancelAt, resumesAt, waiting } = subscription;
  // A pending payment comes first. After its answer, time goes on from where it stood.
  if (status === 'canceled' || waiting !== null) return Infinity;
  const periodEnd = renews(subscription) ? subscription.periodEnd : Infinity;
  const ends = Math.min(cancelAt ?? Infinity, resumesAt ?? Infinity, periodEnd);
  return Math.min(ends, nextDunningAt(subscription));
}

/**
 * Whether nothing more happens by itself. A charge that was under way at the end still gets its
 * answer.
 */
export function isOver({ status, open }: Subscription): boolean {
  return status === 'canceled' && open.every(isLeft);
}

/** Nobody chases what an ended subscription left. */
function isLeft({ isFinal, paymentId }: OpenInvoice): boolean {
  return isFinal === true && paymentId === null;
}

/**
 * Whether a new period begins at the end of this one. Not while it is paused without invoices, and
 * not while it is blocked: blocked time is not billed. Paid after its period, a new one begins
 * then.
 */
export function renews({ status, keepInvoices, overdue }: Subscription): boolean {
  if (overdue === 'blocked') return false;
  return status === 'active' || (status === 'paused' && keepInvoices);
}
