// The test cards and accounts: Stripe's documented ones, and those that only our sandbox has.
import type { ErrorBody } from './types.ts';

export type Decline = Pick<ErrorBody, 'code' | 'decline_code'> & { readonly message: string };

/** How a charge ends: `true`, or with a decline. */
type Ending = true | Decline;

export type Course = {
  /** What the buyer's bank asks for before a charge, with the buyer there. */
  readonly challenge: 'never' | 'always';
  /** With the buyer there, and after a challenge that was passed. */
  readonly present: Ending;
  /** Without the buyer; `asks`: the bank wants the buyer. */
  readonly absent: Ending | 'asks';
  /** When it is only saved. */
  readonly setup: Ending;
  readonly refunds: 'succeed' | 'settle' | 'fail_late';
  /** What each call that charges it without the buyer loses. */
  readonly loses: 'request' | 'answer' | null;
  /** Opened as soon as it is charged. */
  readonly disputes: 'fraudulent' | 'product_not_received' | null;
};

export type Card = Course & {
  readonly type: 'card';
  readonly number: string;
  readonly brand: string;
  readonly month: number;
  readonly year: number;
};
export type Debit = {
  readonly type: 'debit';
  readonly iban: string;
  /** What it comes to once it has settled. */
  readonly settles: Ending;
};
export type Instrument = Card | Debit;

function decline(decline_code: string, message = 'Your card was declined.'): Decline {
  return { code: 'card_declined', decline_code, message };
}
const GENERIC = decline('generic_decline');
const INSUFFICIENT = decline('insufficient_funds', 'Your card has insufficient funds.');
const EXPIRED: Decline = { code: 'expired_card', message: 'Your card has expired.' };
const WRONG_CVC: Decline = {
  code: 'incorrect_cvc',
  message: "Your card's security code is incorrect.",
};
const PROCESSING: Decline = {
  code: 'processing_error',
  message: 'An error occurred while processing your card. Try again in a little bit.',
};
const WRONG_NUMBER: Decline = {
  code: 'incorrect_number',
  message: 'Your card number is incorrect.',
};
/** A number that no test card has. */
const REAL_CARD = decline(
  'test_mode_live_card',
  'Your card was declined. Your request was in test mode, but used a non test card.',
);
export const ASKS_BUYER: Decline = {
  code: 'authentication_required',
  decline_code: 'authentication_required',
  message: 'Your card was declined. This transaction requires authentication.',
};

const GOOD: Course = {
  challenge: 'never',
  present: true,
  absent: true,
  setup: true,
  refunds: 'succeed',
  loses: null,
  disputes: null,
};
const never = (because: Decline): Course => ({
  ...GOOD,
  present: because,
  absent: because,
  setup: because,
});

// prettier-ignore
const CARDS: Readonly<Record<string, Course>> = {
  '4242424242424242': GOOD,
  '4000056655665556': GOOD,
  '5555555555554444': GOOD,
  '378282246310005':  GOOD,
  '4000000000000002': never(GENERIC),
  '4000000000009995': never(INSUFFICIENT),
  '4000000000009987': never(decline('lost_card')),
  '4000000000009979': never(decline('stolen_card')),
  '4000000000000069': never(EXPIRED),
  '4000000000000127': never(WRONG_CVC),
  '4000000000000119': never(PROCESSING),
  '4242424242424241': never(WRONG_NUMBER),
  '4000000000006975': never(decline('card_velocity_exceeded', 'Your card was declined for making repeated attempts too frequently or exceeding its amount limit.')),
  // Asks each time with the buyer there; not once it is saved.
  '4000002500003155': { ...GOOD, challenge: 'always' },
  // Asks each time, so off session it is declined.
  '4000002760003184': { ...GOOD, challenge: 'always', absent: 'asks' },
  '4000008260003178': { ...GOOD, challenge: 'always', present: INSUFFICIENT, absent: INSUFFICIENT },
  '4000008400001629': { ...never(GENERIC), challenge: 'always' },
  '4000000000000341': { ...GOOD, absent: GENERIC },
  '4000000000007726': { ...GOOD, refunds: 'settle' },
  '4000000000005126': { ...GOOD, refunds: 'fail_late' },
  '4000000000000259': { ...GOOD, disputes: 'fraudulent' },
  '4000000000002685': { ...GOOD, disputes: 'product_not_received' },
  // Not Stripe's, but our sandbox's.
  '4000000000009235': { ...GOOD, absent: INSUFFICIENT },
  '4000000000001000': { ...GOOD, loses: 'answer' },
  '4000000000001018': { ...GOOD, loses: 'request' },
};

// prettier-ignore
const ACCOUNTS: Readonly<Record<string, Debit['settles']>> = {
  DE89370400440532013000: true,
  AT611904300234573201:   true,
  DE62370400440532013001: { code: 'insufficient_funds', message: "The customer's account has insufficient funds to cover this payment." },
  AT861904300235473202:   { code: 'payment_intent_payment_attempt_failed', message: 'The payment failed.' },
};

export type Typed =
  | { readonly number: string; readonly expiry: string; readonly cvc: string }
  | { readonly iban: string };

/** What was typed, or why the page does not take it: then nothing is attempted. */
export function instrumentOf(typed: Typed, nowMs: number): Instrument | string {
  return 'iban' in typed ? debitOf(typed.iban) : cardOf(typed, nowMs);
}

function debitOf(typed: string): Debit | string {
  const iban = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  const settles = ACCOUNTS[iban];
  return settles === undefined ? 'Your IBAN is invalid.' : { type: 'debit', iban, settles };
}

function cardOf(typed: Exclude<Typed, { iban: string }>, nowMs: number): Card | string {
  const number = typed.number.replaceAll(/[\s-]/g, '');
  if (!/^\d{12,19}$/.test(number)) return 'Your card number is invalid.';
  const [, month, year] =
    /^(0?[1-9]|1[0-2])\s*\/\s*(?:20)?(\d{2})$/.exec(typed.expiry.trim()) ?? [];
  if (month === undefined || year === undefined) {
    return "Your card's expiration date is incomplete.";
  }
  const expiry = { month: Number(month), year: 2000 + Number(year) };
  if (isOver(expiry, nowMs)) return "Your card's expiration date is in the past.";
  if (!/^\d{3,4}$/.test(typed.cvc.trim())) return "Your card's security code is incomplete.";
  return { type: 'card', number, brand: brandOf(number), ...expiry, ...courseOf(number) };
}

/** The same, but each charge of it is declined for this reason. */
export function declining(instrument: Instrument, because: Decline): Instrument {
  return instrument.type === 'debit'
    ? { ...instrument, settles: because }
    : { ...instrument, present: because, absent: because, setup: because };
}

/** How a card ends today: also one that has expired since it was saved. */
export function absentEnding(card: Card, nowMs: number): Course['absent'] {
  return isOver(card, nowMs) ? EXPIRED : card.absent;
}

function courseOf(number: string): Course {
  return CARDS[number] ?? never(passesLuhn(number) ? REAL_CARD : WRONG_NUMBER);
}

function isOver({ month, year }: { month: number; year: number }, nowMs: number): boolean {
  return Date.UTC(year, month) <= nowMs;
}

function brandOf(number: string): string {
  if (number.startsWith('3')) return 'amex';
  return number.startsWith('5') || number.startsWith('2') ? 'mastercard' : 'visa';
}

function passesLuhn(number: string): boolean {
  const sum = number
    .split('')
    .reverse()
    .reduce((total, digit, index) => {
      const doubled = index % 2 === 1 ? Number(digit) * 2 : Number(digit);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return sum % 10 === 0;
}
