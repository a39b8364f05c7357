// What the portal of a customer can show. Pure data; nothing here knows a record.
import type { FieldError } from '../fields.ts';
import type { Method } from '../instrument.ts';

/** What every page of the portal says. */
export type Frame = {
  readonly merchant: string;
  readonly isTest: boolean;
  /** The path of the portal's first page; the others are below it. */
  readonly base: string;
  /** In which the days are named. */
  readonly timeZone: string;
};

export type PortalView = Frame & {
  readonly customer: { readonly name: string | null; readonly email: string | null };
  readonly notice: Notice | null;
  readonly subscriptions: readonly SubscriptionView[];
  readonly usage: readonly UsageView[];
  /** Newest first. */
  readonly invoices: readonly InvoiceView[];
  readonly method: MethodView | null;
  /** Whether there is a processor that takes another one here. */
  readonly canReplaceMethod: boolean;
};

/** What the customer has just done. */
export const NOTICES = [
  'canceled',
  'cancel_scheduled',
  'uncanceled',
  'paused',
  'resumed',
  'resuming',
  'method_replaced',
] as const;
export type Notice = (typeof NOTICES)[number];

export const ACTIONS = ['cancel', 'uncancel', 'pause', 'resume'] as const;
export type Action = (typeof ACTIONS)[number];

export type SubscriptionView = {
  readonly id: string;
  readonly plan: string;
  readonly status: 'active' | 'paused' | 'canceled';
  readonly overdue: 'clear' | 'warning' | 'blocked';
  readonly price: PriceView;
  readonly periodEnd: Date;
  /** Set while it lasts. */
  readonly trialEnd: Date | null;
  /** When a scheduled cancellation takes effect. */
  readonly cancelAt: Date | null;
  readonly endedAt: Date | null;
  readonly resumesAt: Date | null;
  readonly keepsInvoices: boolean;
  /** Whether to resume it now begins a new period, which is charged. */
  readonly resumeIsCharged: boolean;
  /** What may be done with it now. */
  readonly actions: readonly Action[];
};

/** Of one period, all units together. The amount is in the currency's smallest coin. */
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
  /** null: without one. */
  readonly limit: bigint | null;
  /** A feature that one has, and does not use up. */
  readonly isBoolean: boolean;
  readonly resetsAt: Date | null;
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
  /** The last month in which a card is good. */
  readonly expiry: { readonly month: number; readonly year: number } | null;
};

/** What will happen, before it does. */
export type ActionView = Frame & {
  readonly action: Action;
  readonly subscription: SubscriptionView;
  readonly method: MethodView | null;
  /** The days on which a pause may end, as a date field counts them. */
  readonly resumeDays: { readonly first: string; readonly last: string };
  readonly entered: Entered;
  readonly errors: readonly FieldError[];
  /** Why it could not be done. */
  readonly refusal: string | null;
};

/** What comes back when the form is shown again. */
export type Entered = {
  readonly mode: 'at_period_end' | 'immediate';
  readonly resumesAt: string;
  readonly keepInvoices: boolean;
};

export type ReplaceView = Frame & {
  /** Names this showing of the form. */
  readonly attempt: string;
  readonly method: MethodView | null;
  readonly entered: Method;
  readonly errors: readonly FieldError[];
  readonly refusal: string | null;
};

export type RefusedView = 'unauthorized' | 'rate_limited' | 'not_found';
