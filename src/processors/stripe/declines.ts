// Stripe's codes of refused charges and refunds, as ours.
import type { FailureCode, RefundFailure } from '../../../ledger/payments/payment.ts';

// Where Stripe names no reason that we have, it is `card_declined`.
// prettier-ignore
const CODES: Readonly<Record<string, FailureCode>> = {
  insufficient_funds: 'insufficient_funds',
  expired_card: 'expired_card',
  invalid_expiry_month: 'invalid_expiry',
  invalid_expiry_year: 'invalid_expiry',
  incorrect_cvc: 'incorrect_cvc',
  invalid_cvc: 'incorrect_cvc',
  requested_block_on_incorrect_cvc: 'incorrect_cvc',
  incorrect_number: 'incorrect_number',
  invalid_number: 'incorrect_number',

  // The bank may answer otherwise in a moment.
  issuer_not_available: 'processing_error',
  processing_error: 'processing_error',
  reenter_transaction: 'processing_error',
  try_again_later: 'processing_error',

  // Never tried again by Stripe either.
  lost_card: 'lost_card',
  // Reported as lost or stolen: the bank wants it back.
  pickup_card: 'stolen_card',
  stolen_card: 'stolen_card',
  authentication_required: 'authentication_required',
  revocation_of_all_authorizations: 'mandate_lost',
  revocation_of_authorization: 'mandate_lost',
  stop_payment_order: 'mandate_lost',

  // The buyer was asked, and did not confirm.
  authentication_failure: 'authentication_failed',
  authentication_not_handled: 'authentication_failed',
  payment_intent_authentication_failure: 'authentication_failed',
  setup_intent_authentication_failure: 'authentication_failed',

  // Bank debits.
  account_closed: 'incorrect_iban',
  account_number_invalid: 'incorrect_iban',
  bank_account_unusable: 'incorrect_iban',
  no_account: 'incorrect_iban',
  billing_invalid_mandate: 'mandate_lost',
  debit_not_authorized: 'mandate_lost',
  india_recurring_payment_mandate_canceled: 'mandate_lost',
  payment_intent_mandate_invalid: 'mandate_lost',
  setup_intent_mandate_invalid: 'mandate_lost',
};

/**
 * Why a charge was declined. `declineCode` is the bank's reason as Stripe names it, `code` that of
 * Stripe's error.
 */
export function failureCodeOf({
  code,
  declineCode,
}: {
  readonly code: string | undefined;
  readonly declineCode: string | undefined;
}): FailureCode {
  return codeOf(declineCode) ?? codeOf(code) ?? 'card_declined';
}

function codeOf(name: string | undefined): FailureCode | undefined {
  return name !== undefined && Object.hasOwn(CODES, name) ? CODES[name] : undefined;
}

const REFUND_FAILURES: Readonly<Record<string, RefundFailure>> = {
  charge_for_pending_refund_disputed: 'disputed',
  declined: 'declined',
  expired_or_canceled_card: 'expired_or_canceled_card',
  insufficient_funds: 'insufficient_funds',
  lost_or_stolen_card: 'lost_or_stolen_card',
  merchant_request: 'declined',
};

/** Why a refund failed. */
export function refundFailureOf(reason: string | undefined): RefundFailure {
  const isKnown = reason !== undefined && Object.hasOwn(REFUND_FAILURES, reason);
  return (isKnown ? REFUND_FAILURES[reason] : undefined) ?? 'unknown';
}
