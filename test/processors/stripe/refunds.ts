// Refunds: a reversal while the charge is young, else a refund that the bank may still send back.
import { DAY_S, move } from './balance.ts';
import { type Books, found, given, idOf, newId } from './books.ts';
import { chargeOf } from './charges.ts';
import { refused } from './errors.ts';
import { checkSteps } from './currencies.ts';
import type { Charge, Refund } from './types.ts';

/** A charge that is younger is undone, as if it had not been. */
const REVERSAL_S = DAY_S;

type Asked = {
  readonly charge?: string;
  readonly payment_intent?: string;
  readonly amount?: number;
  readonly metadata?: Refund['metadata'];
  readonly reason?: NonNullable<Refund['reason']>;
};

export function createRefund(books: Books, asked: Asked): Refund {
  const charge = refundable(books, asked);
  const left = charge.amount_captured - refundedOf(charge);
  const amount = asked.amount ?? left;
  if (left === 0) {
    throw refused(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    });
  }
  if (amount > left) {
    throw refused(
      `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
      {
        param: 'amount',
      },
    );
  }
  checkSteps(amount, charge.currency, 'amount');
  const course = courseOf(books, charge);
  const refund: Refund = {
    id: newId('re'),
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: books.now(),
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    ...destinationOf(books, charge, course),
    metadata: asked.metadata ?? {},
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason: asked.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: course === 'settle' ? 'pending' : 'succeeded',
    transfer_reversal: null,
    ...(course === 'settle' ? { pending_reason: 'processing' as const } : {}),
  };
  books.refunds.set(refund.id, refund);
  refund.balance_transaction = move(books, {
    type: isCard(charge) ? 'refund' : 'payment_refund',
    category: 'refund',
    amount: -amount,
    currency: charge.currency,
    source: refund.id,
  }).id;
  count(charge, amount);
  books.emit('refund.created', refund);
  books.emit('charge.refunded', charge);
  return refund;
}

function refundable(books: Books, asked: Asked): Charge {
  const charge =
    asked.charge !== undefined
      ? given(books.charges, asked.charge, 'charge')
      : chargeOf(books, given(books.intents, asked.payment_intent ?? '', 'payment_intent'));
  if (charge === null || charge.status !== 'succeeded' || !charge.captured) {
    throw refused('This PaymentIntent does not have a successful charge to refund.');
  }
  const disputed = [...books.disputes.values()].some(
    (one) => one.charge === charge.id && !one.is_charge_refundable && one.status !== 'won',
  );
  if (disputed) {
    throw refused(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
      code: 'charge_disputed',
    });
  }
  return charge;
}

/** What was given back; what was not captured at all is no part of it. */
function refundedOf(charge: Charge): number {
  return charge.amount_refunded - (charge.amount - charge.amount_captured);
}

function count(charge: Charge, amount: number): void {
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded >= charge.amount;
}

const isCard = (charge: Charge): boolean => charge.payment_method_details?.type === 'card';

type Course = 'succeed' | 'settle' | 'fail_late';

function courseOf(books: Books, charge: Charge): Course {
  const instrument = books.instruments.get(charge.payment_method ?? '');
  return instrument?.type === 'card' ? instrument.refunds : 'succeed';
}

function destinationOf(
  books: Books,
  charge: Charge,
  course: Course,
): Pick<Refund, 'destination_details'> {
  if (!isCard(charge)) return {};
  if (course === 'settle') {
    return { destination_details: { type: 'card', card: { type: 'pending' } } };
  }
  if (course === 'succeed' && books.now() - charge.created < REVERSAL_S) {
    return { destination_details: { type: 'card', card: { type: 'reversal' } } };
  }
  return {
    destination_details: {
      type: 'card',
      card: {
        type: 'refund',
        reference_status: 'pending',
        reference_type: 'acquirer_reference_number',
      },
    },
  };
}

/** The banks have decided: a pending refund succeeds, and one that fails late fails. */
export function settleRefund(books: Books, refund: Refund): void {
  const charge = found(books.charges, idOf(refund.charge), 'charge');
  if (refund.status === 'pending') {
    refund.status = 'succeeded';
    delete refund.pending_reason;
    arrive(refund);
    books.emit('refund.updated', refund);
    return;
  }
  const card = refund.destination_details?.card;
  if (refund.status !== 'succeeded' || card?.reference_status !== 'pending') return;
  if (courseOf(books, charge) === 'fail_late') {
    returnRefund(books, refund, charge);
  } else {
    arrive(refund);
    books.emit('refund.updated', refund);
  }
}

function arrive(refund: Refund): void {
  refund.destination_details = {
    type: 'card',
    card: {
      type: 'refund',
      reference: newId('arn'),
      reference_status: 'available',
      reference_type: 'acquirer_reference_number',
    },
  };
}

/** The buyer's bank sends the money back. */
function returnRefund(books: Books, refund: Refund, charge: Charge): void {
  refund.status = 'failed';
  refund.failure_reason = 'expired_or_canceled_card';
  refund.failure_balance_transaction = move(books, {
    type: isCard(charge) ? 'refund_failure' : 'payment_failure_refund',
    category: 'refund_failure',
    amount: refund.amount,
    currency: refund.currency,
    source: refund.id,
  }).id;
  count(charge, -refund.amount);
  books.emit('refund.failed', refund);
  books.emit('refund.updated', refund);
}
