// What may happen to an invoice, and when: the one table that the API, what follows from payments, and dunning go by.
//
//   draft ──finalize──▶ open ──settle──▶ paid ──refund──▶ paid        draft, open, uncollectible ──void──▶ void
//                         └──mark uncollectible──▶ uncollectible ──settle──▶ paid
//
// A payment is live until it has failed: under way, or captured while the invoice has yet to hear of it. So a charge and a void never
// meet: whichever holds the invoice's row first is the one, and the money of a live payment always finds its invoice payable.
import type { InvoiceRecord, InvoiceStatus } from '../records/invoices.ts';

type Transition = {
  readonly from: readonly InvoiceStatus[];
  /** What it is after it; null where only its amounts or its payments change. */
  readonly to: InvoiceStatus | null;
  /** Whether it waits for a live payment to be decided first. */
  readonly alone: boolean;
};

// prettier-ignore
export const INVOICE_TRANSITIONS = {
  finalize:          { from: ['draft'],                          to: 'open',          alone: false },
  /** Somebody has a charge begin. */
  pay:               { from: ['open', 'uncollectible'],          to: null,            alone: true },
  /** Its subscription has one begin: the first, or one of dunning. */
  chase:             { from: ['open', 'uncollectible'],          to: null,            alone: true },
  /** Its live payment was captured. */
  settle:            { from: ['open', 'uncollectible'],          to: 'paid',          alone: false },
  void:              { from: ['draft', 'open', 'uncollectible'], to: 'void',          alone: true },
  markUncollectible: { from: ['open'],                           to: 'uncollectible', alone: false },
  /** Money of the payment that paid it went back, or came back after all. */
  refund:            { from: ['paid'],                           to: null,            alone: false },
} as const satisfies Readonly<Record<string, Transition>>;

export type InvoiceAction = keyof typeof INVOICE_TRANSITIONS;

/** Why not: its status, or a payment that decides first. null: it may. Of an invoice whose row is held. */
export function refusalOf(
  action: InvoiceAction,
  { status }: Pick<InvoiceRecord, 'status'>,
  { isLive }: { readonly isLive: boolean },
): 'status' | 'payment' | null {
  const { from, alone }: Transition = INVOICE_TRANSITIONS[action];
  if (!from.includes(status)) return 'status';
  return alone && isLive ? 'payment' : null;
}
