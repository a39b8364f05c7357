// Stripe's documented codes, as ours.
import { expect, test } from 'bun:test';
import { DECLINES as KINDS } from '../../../ledger/payments/declines.ts';
import { FAILURE_CODES, REFUND_FAILURES } from '../../../ledger/payments/payment.ts';
import { failureCodeOf, refundFailureOf } from '../../../src/processors/stripe/declines.ts';

/** Stripe's card decline codes (docs.stripe.com/declines/codes), and what each becomes. */
const DECLINES: Readonly<Record<string, string>> = {
  authentication_not_handled: 'authentication_failed',
  authentication_required: 'authentication_required',
  approve_with_id: 'card_declined',
  call_issuer: 'card_declined',
  card_not_supported: 'card_declined',
  card_velocity_exceeded: 'card_declined',
  currency_not_supported: 'card_declined',
  do_not_honor: 'card_declined',
  do_not_try_again: 'card_declined',
  duplicate_transaction: 'card_declined',
  expired_card: 'expired_card',
  fraudulent: 'card_declined',
  generic_decline: 'card_declined',
  highest_risk_level: 'card_declined',
  incorrect_address: 'card_declined',
  incorrect_cvc: 'incorrect_cvc',
  incorrect_number: 'incorrect_number',
  incorrect_pin: 'card_declined',
  incorrect_zip: 'card_declined',
  insufficient_funds: 'insufficient_funds',
  invalid_account: 'card_declined',
  invalid_amount: 'card_declined',
  invalid_cvc: 'incorrect_cvc',
  invalid_expiry_month: 'invalid_expiry',
  invalid_expiry_year: 'invalid_expiry',
  invalid_number: 'incorrect_number',
  invalid_pin: 'card_declined',
  issuer_not_available: 'processing_error',
  lost_card: 'lost_card',
  merchant_blacklist: 'card_declined',
  mobile_device_authentication_required: 'card_declined',
  new_account_information_available: 'card_declined',
  no_action_taken: 'card_declined',
  not_permitted: 'card_declined',
  offline_pin_required: 'card_declined',
  online_or_offline_pin_required: 'card_declined',
  pickup_card: 'stolen_card',
  pin_try_exceeded: 'card_declined',
  previously_declined_do_not_retry: 'card_declined',
  processing_error: 'processing_error',
  reenter_transaction: 'processing_error',
  requested_block_on_incorrect_cvc: 'incorrect_cvc',
  restricted_card: 'card_declined',
  revocation_of_all_authorizations: 'mandate_lost',
  revocation_of_authorization: 'mandate_lost',
  security_violation: 'card_declined',
  service_not_allowed: 'card_declined',
  stolen_card: 'stolen_card',
  stop_payment_order: 'mandate_lost',
  testmode_decline: 'card_declined',
  test_mode_live_card: 'card_declined',
  transaction_not_allowed: 'card_declined',
  try_again_later: 'processing_error',
  withdrawal_count_limit_exceeded: 'card_declined',
};

test.each(Object.entries(DECLINES))('the Stripe decline %s is %s', (declineCode, ours) => {
  const code = failureCodeOf({ code: 'card_declined', declineCode });
  expect<string>(code).toBe(ours);
  expect<readonly string[]>(FAILURE_CODES).toContain(code);
});

/** Stripe itself never tries these again with the same card. */
const NEVER_AGAIN = [
  'authentication_required',
  'incorrect_number',
  'lost_card',
  'pickup_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'stolen_card',
];

test.each(NEVER_AGAIN)('a Stripe instrument declined with %s is not tried again', (declineCode) => {
  expect(KINDS[failureCodeOf({ code: 'card_declined', declineCode })]).toBe('final');
});

/** Codes of errors that have no decline code. */
// prettier-ignore
const ERRORS: Readonly<Record<string, string>> = {
  account_closed:                          'incorrect_iban',
  bank_account_unusable:                   'incorrect_iban',
  card_decline_rate_limit_exceeded:        'card_declined',
  card_declined:                           'card_declined',
  debit_not_authorized:                    'mandate_lost',
  expired_card:                            'expired_card',
  incorrect_cvc:                           'incorrect_cvc',
  incorrect_number:                        'incorrect_number',
  insufficient_funds:                      'insufficient_funds',
  no_account:                              'incorrect_iban',
  payment_intent_authentication_failure:   'authentication_failed',
  payment_intent_mandate_invalid:          'mandate_lost',
  payment_method_provider_decline:         'card_declined',
  processing_error:                        'processing_error',
  setup_intent_authentication_failure:     'authentication_failed',
};

test.each(Object.entries(ERRORS))('the Stripe error %s is %s', (code, ours) => {
  expect<string>(failureCodeOf({ code, declineCode: undefined })).toBe(ours);
});

test.each([
  [undefined, undefined],
  ['toString', 'constructor'],
  ['something_new', 'newer'],
])('an undocumented Stripe answer is a decline: %p, %p', (code, declineCode) => {
  expect(failureCodeOf({ code, declineCode })).toBe('card_declined');
});

// prettier-ignore
const REFUNDS: [string | undefined, string][] = [
  ['charge_for_pending_refund_disputed', 'disputed'],
  ['declined',                           'declined'],
  ['expired_or_canceled_card',           'expired_or_canceled_card'],
  ['insufficient_funds',                 'insufficient_funds'],
  ['lost_or_stolen_card',                'lost_or_stolen_card'],
  ['merchant_request',                   'declined'],
  ['unknown',                            'unknown'],
  [undefined,                            'unknown'],
  ['toString',                           'unknown'],
];

test.each(REFUNDS)('a Stripe refund that fails for %p has failed with %s', (reason, ours) => {
  expect<string>(refundFailureOf(reason)).toBe(ours);
  expect<readonly string[]>(REFUND_FAILURES).toContain(refundFailureOf(reason));
});
