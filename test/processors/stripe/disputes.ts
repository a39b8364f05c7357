// Disputes: the buyer's bank takes the money back, and the merchant may win it again.
import type Stripe from 'stripe';
import { DAY_S, DISPUTE_FEE, move } from './balance.ts';
import { type Books, found, newId } from './books.ts';
import { chargeOf } from './charges.ts';
import type { Charge, Dispute, Intent } from './types.ts';

export type DisputeOptions = {
  readonly reason?: string;
  /** Less than the charge, where only a part is disputed. */
  readonly amount?: number;
  /** The bank only asks: no money moves yet. */
  readonly isInquiry?: boolean;
};

export function openDispute(books: Books, intentId: string, options: DisputeOptions = {}): Dispute {
  const intent = found(books.intents, intentId, 'payment_intent');
  const charge = chargeOf(books, intent);
  if (charge === null || !charge.captured) throw new Error(`${intentId} has no money to dispute`);
  const { isInquiry = false } = options;
  const dispute: Dispute = {
    id: newId('du'),
    object: 'dispute',
    amount: options.amount ?? charge.amount_captured,
    balance_transactions: [],
    charge: charge.id,
    created: books.now(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: NO_EVIDENCE,
    evidence_details: {
      due_by: books.now() + 7 * DAY_S,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: null,
    is_charge_refundable: isInquiry,
    livemode: books.livemode,
    metadata: {},
    network_reason_code: '10',
    payment_intent: intentId,
    reason: options.reason ?? 'fraudulent',
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
  };
  books.disputes.set(dispute.id, dispute);
  charge.disputed = true;
  books.emit('charge.dispute.created', dispute);
  if (!isInquiry) withdraw(books, dispute);
  // A debit's bank takes it back for good: the merchant has no say.
  if (charge.payment_method_details?.type !== 'card') closeDispute(books, dispute.id, 'lost');
  return dispute;
}

/** The bank of some test cards disputes what was charged at once. */
export function disputeByCard(books: Books, intent: Intent): void {
  const method = books.instruments.get(methodOf(chargeOf(books, intent)));
  if (method?.type === 'card' && method.disputes !== null) {
    openDispute(books, intent.id, { reason: method.disputes });
  }
}

const methodOf = (charge: Charge | null): string => charge?.payment_method ?? '';

/** `returned`: what of a lost one comes back, where it was won in part. */
export function closeDispute(books: Books, id: string, how: 'won' | 'lost', returned = 0): void {
  const dispute = found(books.disputes, id, 'dispute');
  const { status } = dispute;
  if (status === how) return;
  if (status === 'won' || status === 'lost' || status === 'warning_closed') {
    throw new Error(`the dispute is ${status} already`);
  }
  const isInquiry = dispute.balance_transactions.length === 0;
  if (isInquiry && how === 'won') {
    dispute.status = 'warning_closed';
  } else {
    if (isInquiry) withdraw(books, dispute);
    dispute.status = how;
    if (how === 'won') reinstate(books, dispute, dispute.amount);
    else if (returned > 0) reinstate(books, dispute, returned);
  }
  books.emit('charge.dispute.closed', dispute);
}

function withdraw(books: Books, dispute: Dispute): void {
  dispute.is_charge_refundable = false;
  addMove(books, dispute, 'dispute', -dispute.amount, DISPUTE_FEE);
  books.emit('charge.dispute.funds_withdrawn', dispute);
}

function reinstate(books: Books, dispute: Dispute, amount: number): void {
  addMove(books, dispute, 'dispute_reversal', amount, 0);
  books.emit('charge.dispute.funds_reinstated', dispute);
}

function addMove(
  books: Books,
  dispute: Dispute,
  category: string,
  amount: number,
  fee: number,
): void {
  const transaction = move(books, {
    type: 'adjustment',
    category,
    amount,
    currency: dispute.currency,
    fee,
    source: dispute.id,
    description: `Chargeback ${amount < 0 ? 'withdrawal' : 'reversal'}`,
  });
  dispute.balance_transactions.push(transaction);
}

const NO_EVIDENCE: Stripe.Dispute.Evidence = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};
