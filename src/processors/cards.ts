// The test cards and test accounts of the sandbox, each with the result of its charges and refunds.
// Numbers are the same as Stripe's where Stripe has one.
import type { FailureCode } from '../../ledger/payments/payment.ts';
import type { Expiry, Instrument, Method } from './processor.ts';

export type ChargeCourse =
  | 'succeeds'
  | 'declines'
  /** Only with the buyer present; later charges are declined. */
  | 'succeeds_at_first'
  /** Pending, then decided one way or the other. */
  | 'settles'
  | 'bounces'
  /** The bank asks the buyer to confirm, and may still decline. */
  | 'challenges'
  | 'challenges_then_declines'
  /** The processor fails before anything is done. */
  | 'errors'
  /** The answer is lost: the charge was made, or never arrived. */
  | 'loses_the_answer'
  | 'loses_the_request';

export type RefundCourse = 'succeed' | 'settle' | 'fail_late';

/** How a dispute ends. It is opened with the charge. */
export type DisputeCourse = 'won' | 'lost';

export type Failure = Extract<
  FailureCode,
  | 'card_declined'
  | 'insufficient_funds'
  | 'lost_card'
  | 'stolen_card'
  | 'expired_card'
  | 'invalid_expiry'
  | 'incorrect_cvc'
  | 'incorrect_number'
  | 'incorrect_iban'
  | 'authentication_failed'
  | 'authentication_required'
  | 'mandate_lost'
>;

/** The message for the buyer. It does not say why: the card may be stolen. */
export const MESSAGES: Readonly<Record<Failure, string>> = {
  card_declined: 'The card was declined.',
  insufficient_funds: 'There is not enough money for this payment.',
  lost_card: 'The card was declined.',
  stolen_card: 'The card was declined.',
  expired_card: 'The card has expired.',
  invalid_expiry: 'The expiry date is not a month and a year, such as 12/34.',
  incorrect_cvc: 'The security code is not right.',
  incorrect_number:
    'This is not a test card. Payments are in test mode: use 4242 4242 4242 4242, for example.',
  incorrect_iban:
    'This is not a test account. Payments are in test mode: use DE89 3704 0044 0532 0130 00, for example.',
  authentication_failed: 'Your bank did not confirm the payment.',
  authentication_required: 'Your bank wants to ask you before it pays.',
  mandate_lost: 'This payment method may not be charged any more.',
};

export type Behaviour = {
  /** null for an unknown card: it could be a real one, so nothing of it is kept. */
  readonly method: Method | null;
  readonly expiry: Expiry | null;
  readonly charge: ChargeCourse;
  /** What is said where it is declined, now or later. */
  readonly failure: Failure | null;
  readonly refunds: RefundCourse;
  /** null where it is not disputed. */
  readonly dispute: DisputeCourse | null;
};

type Row = readonly [
  number: string,
  brand: string | null,
  charge: ChargeCourse,
  failure: Failure | null,
  refunds: RefundCourse,
  dispute?: DisputeCourse,
];

// prettier-ignore
const CARDS: readonly Row[] = [
  ['4242424242424242', 'visa',       'succeeds',                 null,                 'succeed'],
  ['5555555555554444', 'mastercard', 'succeeds',                 null,                 'succeed'],
  ['378282246310005',  'amex',       'succeeds',                 null,                 'succeed'],
  ['4000000000000002', 'visa',       'declines',                 'card_declined',      'succeed'],
  ['4000000000009995', 'visa',       'declines',                 'insufficient_funds', 'succeed'],
  ['4000000000009987', 'visa',       'declines',                 'lost_card',          'succeed'],
  ['4000000000009979', 'visa',       'declines',                 'stolen_card',        'succeed'],
  ['4000000000000069', 'visa',       'declines',                 'expired_card',       'succeed'],
  ['4000000000000127', 'visa',       'declines',                 'incorrect_cvc',      'succeed'],
  ['4000000000000119', 'visa',       'errors',                   null,                 'succeed'],
  ['4000002760003184', 'visa',       'challenges',               null,                 'succeed'],
  ['4000008400001629', 'visa',       'challenges_then_declines', 'card_declined',      'succeed'],
  ['4000000000000341', 'visa',       'succeeds_at_first',        'card_declined',      'succeed'],
  ['4000000000009235', 'visa',       'succeeds_at_first',        'insufficient_funds', 'succeed'],
  ['4000002500003155', 'visa',       'succeeds_at_first',        'authentication_required', 'succeed'],
  ['4000000000007726', 'visa',       'succeeds',                 null,                 'settle'],
  ['4000000000005126', 'visa',       'succeeds',                 null,                 'fail_late'],
  ['4000000000000259', 'visa',       'succeeds',                 null,                 'succeed', 'lost'],
  ['4000000000002685', 'visa',       'succeeds',                 null,                 'succeed', 'won'],
  ['4000000000001000', 'visa',       'loses_the_answer',         null,                 'succeed'],
  ['4000000000001018', 'visa',       'loses_the_request',        null,                 'succeed'],
];

// prettier-ignore
const ACCOUNTS: readonly Row[] = [
  ['DE89370400440532013000', null,   'settles',                  null,                 'succeed'],
  ['DE62370400440532013001', null,   'bounces',                  'insufficient_funds', 'succeed'],
];

const CARD_OF = new Map(CARDS.map((row) => [row[0], row]));
const ACCOUNT_OF = new Map(ACCOUNTS.map((row) => [row[0], row]));

const EXPIRY = /^(0?[1-9]|1[0-2])\s*\/\s*(?:20)?(\d{2})$/;
const CVC = /^\d{3,4}$/;

/** The result of a charge to a typed instrument. `now` decides whether a card has expired. */
export function behaviourOf(instrument: Instrument, now: number): Behaviour {
  if (instrument.type === 'bank_debit') {
    const account = ACCOUNT_OF.get(instrument.iban.replaceAll(/[\s-]/g, '').toUpperCase());
    return account === undefined ? refused('incorrect_iban') : ofRow('bank_debit', account, null);
  }
  const card = CARD_OF.get(instrument.number.replaceAll(/[\s-]/g, ''));
  if (card === undefined) return refused('incorrect_number');
  const expiry = expiryOf(instrument.expiry);
  const known = ofRow('card', card, expiry);
  const failure = failureOf(instrument.cvc, expiry, now);
  return failure === null ? known : { ...known, charge: 'declines', failure };
}

/** The result where nothing is charged: no money settles later or gets lost. */
export function verificationOf(charge: ChargeCourse): ChargeCourse {
  return charge === 'settles' || charge === 'bounces' || charge === 'loses_the_request'
    ? 'succeeds'
    : charge;
}

/** The result of later charges, without the buyer: the bank has asked before. */
export function offSessionOf(charge: ChargeCourse): ChargeCourse {
  if (charge === 'challenges') return 'succeeds';
  return charge === 'succeeds_at_first' ? 'declines' : charge;
}

function expiryOf(typed: string): Expiry | null {
  const [, month, year] = EXPIRY.exec(typed.trim()) ?? [];
  if (month === undefined || year === undefined) return null;
  return { month: Number(month), year: 2000 + Number(year) };
}

/** It is good until its month is over. */
export function isExpired({ month, year }: Expiry, now: number): boolean {
  // Months count from 0 here, so that this is the first moment of the next one.
  return Date.UTC(year, month) <= now;
}

function failureOf(cvc: string, expiry: Expiry | null, now: number): Failure | null {
  if (expiry === null) return 'invalid_expiry';
  if (isExpired(expiry, now)) return 'expired_card';
  return CVC.test(cvc.trim()) ? null : 'incorrect_cvc';
}

function ofRow(
  type: Method['type'],
  [number, brand, charge, failure, refunds, dispute]: Row,
  expiry: Expiry | null,
): Behaviour {
  const method = { type, brand, last4: number.slice(-4) };
  return { method, expiry, charge, failure, refunds, dispute: dispute ?? null };
}

function refused(failure: Failure): Behaviour {
  const nothing = { method: null, expiry: null, refunds: 'succeed', dispute: null } as const;
  return { ...nothing, charge: 'declines', failure };
}
