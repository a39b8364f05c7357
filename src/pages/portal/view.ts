// The views of the customer portal. Pure data, independent of the records.
import type { Brand } from '../brand.ts';
import type { FieldError } from '../fields.ts';
import type { SoldUsage } from '../sold-usage.ts';
import type { Method } from '../instrument.ts';

/** What every page of the portal needs. */
export type Frame = {
  readonly merchant: string;
  readonly brand: Brand;
  readonly isTest: boolean;
  /** The portal's first page; null where the link opens another one alone. */
  readonly home: string | null;
  /** The path that all pages are below, the first one too. */
  readonly base: string;
  /** The time zone of its dates. */
  readonly timeZone: string;
};

/** Lists that go on behind a page: parameters of the address. */
export type List = 'subscriptions' | 'usage' | 'topups' | 'invoices';

export type PortalView = Frame & {
  readonly customer: { readonly name: string | null; readonly email: string | null };
  readonly notice: Notice | null;
  readonly subscriptions: readonly SubscriptionView[];
  readonly usage: readonly UsageView[];
  readonly topUps: readonly TopUpView[];
  readonly upcoming: readonly UpcomingView[];
  /** Newest first. */
  readonly invoices: readonly InvoiceView[];
  readonly method: MethodView | null;
  /** What the next page of each list begins behind; null: there is none. */
  readonly next: { readonly [list in List]: string | null };
  /** Whether there is a processor that can replace it. */
  readonly canReplaceMethod: boolean;
};

/** The action that was just done. */
export const NOTICES = [
  'canceled',
  'cancel_scheduled',
  'uncanceled',
  'unscheduled',
  'paused',
  'resumed',
  'resuming',
  'method_replaced',
  'method_pending',
  'topup_on',
  'topup_off',
] as const;
export type Notice = (typeof NOTICES)[number];

export const ACTIONS = ['cancel', 'uncancel', 'unschedule', 'pause', 'resume'] as const;
export type Action = (typeof ACTIONS)[number];

export type SubscriptionView = {
  readonly id: string;
  readonly plan: string;
  readonly status: 'active' | 'paused' | 'canceled';
  readonly overdue: 'clear' | 'warning' | 'blocked';
  readonly price: PriceView;
  /** What usage costs beside it. */
  readonly sold: readonly SoldUsage[];
  readonly periodEnd: Date;
  /** Set during the trial. */
  readonly trialEnd: Date | null;
  /** When a scheduled cancellation takes effect. */
  readonly cancelAt: Date | null;
  readonly endedAt: Date | null;
  readonly resumesAt: Date | null;
  /** What waits for its payment: the price that it changes to, and since when. */
  readonly pending: { readonly price: PriceView; readonly since: Date } | null;
  readonly keepsInvoices: boolean;
  /** Whether a resume now begins a new, charged period. */
  readonly resumeIsCharged: boolean;
  /** The actions allowed now. */
  readonly actions: readonly Action[];
};

/**
 * The price of one period, for the whole quantity. The amount is in the currency's smallest unit.
 */
export type PriceView = {
  readonly amount: bigint;
  readonly currency: string;
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly intervalCount: number;
  readonly quantity: number;
};

/** Quantities are scaled integers. */
export type UsageView = {
  readonly name: string;
  readonly unit: string | null;
  readonly scale: number;
  readonly consumed: bigint;
  /** null: unlimited. */
  readonly limit: bigint | null;
  /** A feature without quantities: a customer has it or not. */
  readonly isBoolean: boolean;
  /**
   * What pays beyond the limit: a usage price, or the pool of credits of this name. null: nothing.
   */
  readonly beyond:
    | { readonly kind: 'price' }
    | { readonly kind: 'pool'; readonly name: string }
    | null;
  readonly resetsAt: Date | null;
};

/** What is bought by itself whenever little is left. Quantities are scaled integers. */
export type TopUpView = {
  readonly featureKey: string;
  readonly name: string;
  readonly unit: string | null;
  readonly scale: number;
  readonly enabled: boolean;
  readonly threshold: bigint;
  readonly amount: bigint;
  /** What one costs; null where that is not known any more. */
  readonly price: { readonly amount: bigint; readonly currency: string } | null;
  readonly limit: { readonly count: number; readonly interval: 'day' | 'week' | 'month' } | null;
  readonly status: 'armed' | 'charging' | 'suspended';
  readonly reason: 'declined' | 'authentication_required' | 'no_payment_method' | 'limit' | null;
  readonly nextAttemptAt: Date | null;
};

/** The next invoice of a subscription. */
export type UpcomingView = {
  readonly plan: string;
  /** When it is made. */
  readonly at: Date;
  readonly lines: readonly {
    readonly name: string;
    readonly kind: 'usage' | 'correction' | 'other';
    /** A decimal. */
    readonly quantity: string;
    readonly amount: bigint;
  }[];
  readonly total: bigint;
  readonly currency: string;
};

export type InvoiceView = {
  readonly id: string;
  readonly number: string;
  readonly status: 'open' | 'paid' | 'void' | 'uncollectible';
  readonly total: bigint;
  readonly currency: string;
  readonly issuedAt: Date | null;
};

export type MethodView = {
  readonly type: Method;
  readonly brand: string | null;
  readonly last4: string;
  /** The last month in which the card is valid. */
  readonly expiry: { readonly month: number; readonly year: number } | null;
};

/** The preview of an action. */
export type ActionView = Frame & {
  readonly action: Action;
  readonly subscription: SubscriptionView;
  readonly method: MethodView | null;
  /** The days on which a pause may end, as text of a date field. */
  readonly resumeDays: { readonly first: string; readonly last: string };
  readonly entered: Entered;
  readonly errors: readonly FieldError[];
  /** Why it was refused. */
  readonly refusal: string | null;
};

/** The entered values that the form shows again. */
export type Entered = {
  readonly mode: 'at_period_end' | 'immediate';
  readonly resumesAt: string;
  readonly keepInvoices: boolean;
};

export type ReplaceView = Frame & {
  /** Identifies this rendering of the form. */
  readonly attempt: string;
  readonly method: MethodView | null;
  /** In place of the form. */
  readonly notice: Notice | null;
  readonly entered: Method;
  /** Whose page asks for it; null where ours does. */
  readonly owner: string | null;
  /** A try that the customer has begun on another's page, and may go on with. */
  readonly unfinished: { readonly owner: string; readonly url: string } | null;
  readonly errors: readonly FieldError[];
  readonly refusal: string | null;
};

export type RefusedView =
  | 'unauthorized'
  | 'forbidden'
  | 'rate_limited'
  | 'downloading'
  | 'not_found';
