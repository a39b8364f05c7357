// The API of subscriptions: what routes, the portal and alarms may ask, and each answer they may get.
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type { Action } from '../../ledger/subscriptions/transitions.ts';
import type { Instrument } from '../processors/processor.ts';
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
  /** The customer has as many as it may. */
  | { readonly kind: 'full' };

/** What a customer or a merchant may do with one. */
export type SubscriptionAction =
  | Extract<Command, { kind: 'cancel' | 'uncancel' | 'pause' | 'resume' | 'end_trial' }>
  /** null: as it is. */
  | { readonly kind: 'change'; readonly priceId: string | null; readonly quantity: number | null };

/** Whose it must be; a customer's own where `customerId` is given. */
export type Target = { readonly scope: Tenant; readonly id: string; readonly customerId?: string };

export type SubscriptionActionReply =
  | { readonly kind: 'done'; readonly record: SubscriptionRecord }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'invalid_state'; readonly legal: readonly Action[] }
  /** It was to be paid first, and was not: it is as it was. */
  | { readonly kind: 'payment_failed'; readonly message: string }
  | {
      readonly kind:
        | 'price_not_found'
        | 'currency_mismatch'
        | 'not_for_sale'
        | 'quantity_too_large'
        | 'resumes_at_out_of_range';
    };

export type MethodReply =
  | { readonly kind: 'saved'; readonly method: PaymentMethodRecord }
  /** The customer has to go there first, and is back at `returnUrl` then. */
  | { readonly kind: 'requires_action'; readonly url: string }
  | { readonly kind: 'declined'; readonly message: string }
  /** Nothing could take it, or no answer came. */
  | { readonly kind: 'unavailable' };

export type PayReply =
  | { readonly kind: 'paid' | 'pending'; readonly invoice: InvoiceRecord }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'invalid_state'; readonly invoice: InvoiceRecord }
  /** Its subscription is being resumed: the period that waits for its payment comes in the place of this one's. */
  | { readonly kind: 'being_replaced' }
  | { readonly kind: 'payment_failed'; readonly message: string };

export type Subscriptions = {
  create(scope: Tenant, wish: SubscriptionInput): Promise<CreateReply>;
  act(target: Target, act: SubscriptionAction): Promise<SubscriptionActionReply>;
  /** Another card or account for all of the customer's subscriptions; what is unpaid is tried at once. */
  replaceMethod(
    scope: Tenant,
    change: {
      readonly customerId: string;
      /** Names this try: the same again is the same. */
      readonly key: string;
      readonly instrument: Instrument;
      readonly returnUrl: string;
    },
  ): Promise<MethodReply>;
  /** The customer is back from where it had to go. */
  methodReturned(
    scope: Tenant,
    change: { readonly customerId: string; readonly key: string },
  ): Promise<MethodReply>;
  payInvoice(scope: Tenant, invoiceId: string): Promise<PayReply>;
  /** The merchant does not want it paid: it is not chased any more. */
  voidInvoice(scope: Tenant, invoiceId: string): Promise<Changed | 'not_found'>;
  /** A charge is decided. */
  paymentSettled(scope: Tenant, paymentId: string): Promise<void>;
  /** Carries out what is owed and not done yet; whether there was anything. */
  carryOut(scope: Tenant): Promise<boolean>;
  /** An alarm. */
  due(
    scope: Tenant,
    subscription: { readonly customerId: string; readonly id: string },
  ): Promise<void>;
  close(): Promise<void>;
};
