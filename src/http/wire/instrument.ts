// A payment instrument as a buyer types it. It is validated before any processor is called.
import type { FieldError } from '../../pages/checkout/view.ts';
import type { Instrument } from '../../processors/processor.ts';

type Read =
  | { readonly ok: true; readonly instrument: Instrument }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

export type Typed = {
  readonly card_number?: string;
  readonly card_expiry?: string;
  readonly card_cvc?: string;
  readonly iban?: string;
};

export function readInstrument(type: Instrument['type'], typed: Typed, now: number): Read {
  return type === 'card' ? readCard(typed, now) : readAccount(typed);
}

function readCard({ card_number = '', card_expiry = '', card_cvc = '' }: Typed, now: number): Read {
  const errors: FieldError[] = [];
  const number = card_number.replaceAll(/[\s-]/g, '');
  if (!/^\d{12,19}$/.test(number)) {
    errors.push({
      field: 'card_number',
      message: 'Enter the number of your card, 12 to 19 digits.',
    });
  } else if (!hasCheckDigit(number)) {
    errors.push({
      field: 'card_number',
      message: 'Check the number of your card: a digit is wrong.',
    });
  }
  const expiry = readExpiry(card_expiry);
  if (expiry === null) {
    errors.push({
      field: 'card_expiry',
      message: 'Enter the expiry date as month and year, MM / YY.',
    });
  } else if (isPast(expiry, now)) {
    errors.push({ field: 'card_expiry', message: 'This expiry date is past. Use another card.' });
  }
  const cvc = card_cvc.trim();
  if (!/^\d{3,4}$/.test(cvc)) {
    errors.push({ field: 'card_cvc', message: 'Enter the security code, 3 or 4 digits.' });
  }
  if (errors.length > 0 || expiry === null) return { ok: false, errors };
  const { month, year } = expiry;
  const mmyy = `${String(month).padStart(2, '0')}/${String(year % 100).padStart(2, '0')}`;
  return { ok: true, instrument: { type: 'card', number, expiry: mmyy, cvc } };
}

/** The Luhn check: every second digit from the right counts double. */
function hasCheckDigit(number: string): boolean {
  let sum = 0;
  for (const [index, digit] of Array.from(number).toReversed().entries()) {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

type Expiry = { readonly month: number; readonly year: number };

const EXPIRY = /^(\d{1,2})\s*[/.-]\s*(\d{2}|\d{4})$|^(\d{2})\s*(\d{2}|\d{4})$/;

function readExpiry(text: string): Expiry | null {
  const match = EXPIRY.exec(text.trim());
  if (match === null) return null;
  const month = Number(match[1] ?? match[3]);
  const year = Number(match[2] ?? match[4]);
  if (month < 1 || month > 12) return null;
  return { month, year: year < 100 ? 2000 + year : year };
}

/** A card is valid to the end of its month in the time zone where that ends last. */
function isPast({ month, year }: Expiry, now: number): boolean {
  const HALF_DAY_MS = 12 * 60 * 60 * 1000;
  return Date.UTC(year, month) + HALF_DAY_MS <= now;
}

function readAccount({ iban: typed = '' }: Typed): Read {
  const iban = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban)) {
    return wrongIban('Enter an IBAN, such as DE89 3704 0044 0532 0130 00.');
  }
  if (!hasCheckDigits(iban)) return wrongIban('Check the IBAN: a character is wrong.');
  return { ok: true, instrument: { type: 'bank_debit', iban } };
}

function wrongIban(message: string): Read {
  return { ok: false, errors: [{ field: 'iban', message }] };
}

/**
 * ISO 7064: with its first four characters moved to the end and letters read as 10 to 35, an IBAN
 * leaves 1 when divided by 97.
 */
function hasCheckDigits(iban: string): boolean {
  const moved = iban.slice(4) + iban.slice(0, 4);
  const digits = moved.replaceAll(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
}
