// The one table of what may happen to an invoice. The API, payments and dunning follow it.
//
//     draft ──finalize──▶ open ──settle──▶ paid ──refund, lost dispute──▶ paid
//                         └──mark uncollectible──▶ uncollectible ──settle──▶ paid
//     draft, open, uncollectible ──void──▶ void
//
// A payment is live until it has failed: it is under way, or captured and the invoice has not heard
// of it. So a charge and a void never meet: the one that holds the invoice's row first wins, and
// the money of a live payment always finds its invoice payable.
import type { InvoiceRecord, InvoiceStatus } from '../records/invoices.ts';

type Transition = {
  readonly from: readonly InvoiceStatus[];
  /** The status after it; null where only amounts or payments change. */
  readonly to: InvoiceStatus | null;
  /** Whether a live payment must be decided first. */
  readonly alone: boolean;
};

// prettier-ignore
export const INVOICE_TRANSITIONS = {
  finalize:          { from: ['draft'],                          to: 'open',          alone: false },
  /** The merchant or the buyer starts a charge. */
  pay:               { from: ['open', 'uncollectible'],          to: null,            alone: true },
  /** Its subscription starts a charge: the first, or one of dunning. */
  chase:             { from: ['open', 'uncollectible'],          to: null,            alone: true },
  /** Its live payment was captured. */
  settle:            { from: ['open', 'uncollectible'],          to: 'paid',          alone: false },
  void:              { from: ['draft', 'open', 'uncollectible'], to: 'void',          alone: true },
  markUncollectible: { from: ['open'],                           to: 'uncollectible', alone: false },
  /** Its payment was refunded or charged back, or that was taken back after all. */
  refund:            { from: ['paid'],                           to: null,            alone: false },
} as const satisfies Readonly<Record<string, Transition>>;

export type InvoiceAction = keyof typeof INVOICE_TRANSITIONS;

/** Why not: the status, or a live payment. null: it may. The invoice's row must be locked. */
export function refusalOf(
  action: InvoiceAction,
  { status }: Pick<InvoiceRecord, 'status'>,
  { isLive }: { readonly isLive: boolean },
): 'status' | 'payment' | null {
  const { from, alone }: Transition = INVOICE_TRANSITIONS[action];
  if (!from.includes(status)) return 'status';
  return alone && isLive ? 'payment' : null;
}
