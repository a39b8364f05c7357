// The API of subscriptions: what routes, the portal and alarms may ask, and each answer they may
// get.
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type { Waiting } from '../../ledger/subscriptions/subscription.ts';
import type { Action } from '../../ledger/subscriptions/transitions.ts';
import type { NewInvoiceLine } from '../invoices/issue.ts';
import type { Instrument, Processor } from '../processors/processor.ts';
import type { Changed, InvoiceRecord } from '../records/invoices.ts';
import type { PaymentMethodRecord } from '../records/payment-methods.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { SubscriptionRecord } from '../records/subscriptions.ts';

export type SubscriptionInput = {
  readonly customerId: string;
  readonly productId: string;
  /** null: the product's only recurring price, or the first that was made. */
  readonly priceId: string | null;
  readonly quantity: number;
  /** null: as the price says. */
  readonly trialDays: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** It gives the subscription its id, so that a retry is the same one. */
  readonly idempotencyKey: string | null;
};

export type CreateReply =
  | { readonly kind: 'created'; readonly record: SubscriptionRecord }
  | { readonly kind: 'customer_not_found' | 'product_not_found' | 'price_not_found' }
  /** Archived or unpublished. */
  | { readonly kind: 'not_for_sale' }
  /** More than can be billed or given. */
  | { readonly kind: 'quantity_too_large' }
  /** The processor never charges what a period costs; the message says why. */
  | { readonly kind: 'amount_refused'; readonly message: string }
  /** The customer has as many as it may. */
  | { readonly kind: 'full' };

/** An action of a customer or a merchant. */
export type SubscriptionAction =
  | Extract<
      Command,
      { kind: 'cancel' | 'uncancel' | 'pause' | 'resume' | 'unschedule' | 'end_trial' }
    >
  /** null: as it is. */
  | { readonly kind: 'change'; readonly priceId: string | null; readonly quantity: number | null };

/** An action that may move money at once. */
export type PreviewedAction = Extract<
  SubscriptionAction,
  { kind: 'change' | 'cancel' | 'resume' | 'end_trial' }
>;

/** Which subscription; with `customerId`, only if it is that customer's. */
export type Target = { readonly scope: Tenant; readonly id: string; readonly customerId?: string };

/** A call with an `Idempotency-Key`: its id is that of its first attempt. */
export type Keyed = { readonly requestId: string; readonly isAgain: boolean };

export type SubscriptionActionReply =
  | {
      readonly kind: 'done';
      readonly record: SubscriptionRecord;
      /** What an earlier attempt of the call has begun still waits for its payment. */
      readonly isUndecided?: boolean;
    }
  | { readonly kind: 'not_found' }
  | {
      readonly kind: 'invalid_state';
      readonly legal: readonly Action[];
      /** The change that waits for its payment, where that is why. */
      readonly waiting?: Pick<Waiting, 'kind' | 'since' | 'paymentId'>;
    }
  /** Its payment failed: nothing has changed. */
  | { readonly kind: 'payment_failed'; readonly message: string }
  /** The processor never charges what a period costs then; the message says why. */
  | { readonly kind: 'amount_refused'; readonly message: string }
  | {
      readonly kind:
        | 'price_not_found'
        | 'currency_mismatch'
        | 'not_for_sale'
        | 'quantity_too_large'
        | 'resumes_at_out_of_range';
    };

/** What an action would bill and do if it were done now. */
export type PreviewRecord = {
  readonly currency: string;
  /** None where it makes no invoice. */
  readonly lines: readonly NewInvoiceLine[];
  readonly discountTotal: bigint;
  readonly total: bigint;
  /** What is charged at once. */
  readonly amountDue: bigint;
  /** What comes back as credit for later invoices. */
  readonly credited: bigint;
  /** Whether it takes effect with its payment, and not without. */
  readonly waits: boolean;
  /** As it is then: after that payment, where it waits for one. */
  readonly record: SubscriptionRecord;
  readonly asOf: Date;
};

export type SubscriptionPreviewReply =
  | { readonly kind: 'previewed'; readonly preview: PreviewRecord }
  | Exclude<SubscriptionActionReply, { readonly kind: 'done' | 'payment_failed' }>;

export type MethodReply =
  | { readonly kind: 'saved'; readonly method: PaymentMethodRecord }
  /** The customer must visit `url`, and then returns to `returnUrl`. */
  | {
      readonly kind: 'requires_action';
      readonly url: string;
      readonly processor: Processor;
    }
  | { readonly kind: 'declined'; readonly message: string }
  /** The customer has agreed, and its bank has not: it is saved when it has. */
  | { readonly kind: 'pending' }
  /** The customer has left the page of the processor, or its time is over. */
  | { readonly kind: 'left' }
  /** There is no processor, or no answer came. */
  | { readonly kind: 'unavailable' };

export type PayReply =
  | { readonly kind: 'paid' | 'pending'; readonly invoice: InvoiceRecord }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'invalid_state'; readonly invoice: InvoiceRecord }
  /**
   * Its subscription is being resumed: the new period, whose payment is pending, replaces this one.
   */
  | { readonly kind: 'being_replaced' }
  | { readonly kind: 'payment_failed'; readonly message: string };

export type Subscriptions = {
  create(scope: Tenant, wish: SubscriptionInput): Promise<CreateReply>;
  act(
    target: Target,
    act: SubscriptionAction,
    keyed?: Keyed | null,
  ): Promise<SubscriptionActionReply>;
  /** Nothing is written but what was due by now, which its alarm would write. */
  preview(target: Target, act: PreviewedAction): Promise<SubscriptionPreviewReply>;
  /**
   * Replaces the payment method of all subscriptions of the customer. Unpaid invoices are retried.
   */
  replaceMethod(
    scope: Tenant,
    change: {
      readonly customerId: string;
      /** Idempotency key of this try. */
      readonly key: string;
      /** null for a processor that asks on a page of its own. */
      readonly instrument: Instrument | null;
      readonly returnUrl: string;
    },
  ): Promise<MethodReply>;
  /** The customer has returned. */
  methodReturned(
    scope: Tenant,
    change: { readonly customerId: string; readonly key: string },
  ): Promise<MethodReply>;
  /**
   * The processor hints that a try to replace a payment method is decided: it is saved where the
   * customer does not return, unless a later one was. Any other key is ignored.
   *
   * @throws where the processor does not answer: the hint must come again
   */
  methodHinted(scope: Tenant, key: string): Promise<void>;
  /** `failedBefore`: of a retry, how many payments had failed before its first attempt. */
  payInvoice(
    scope: Tenant,
    invoiceId: string,
    retry: { readonly failedBefore: number | null },
  ): Promise<PayReply>;
  /** The merchant makes it void: dunning of it ends. */
  voidInvoice(scope: Tenant, invoiceId: string): Promise<Changed | 'not_found'>;
  /** A charge is decided. */
  paymentSettled(scope: Tenant, paymentId: string): Promise<void>;
  /** Money of an invoice went back, or has come again. To repeat it changes nothing. */
  usageGivenBack(paymentId: string): Promise<void>;
  /** Executes follow-ups that are due. Returns whether there were any. */
  carryOut(scope: Tenant): Promise<boolean>;
  /** Of one subscription, which something else than a call about it has billed. */
  carryOutOf(subscriptionId: string): Promise<void>;
  /** Runs the alarm of a subscription. */
  due(
    scope: Tenant,
    subscription: { readonly customerId: string; readonly id: string },
  ): Promise<void>;
  close(): Promise<void>;
};
