// Amounts as Stripe writes them, in every currency that it takes.
//
// Ours are in the minor unit of ISO 4217. Stripe's are too, but for the currencies below. What
// Stripe cannot express is refused and never rounded.
import { exponentOf, formatMoney, isCurrency } from '../../../ledger/kernel/money.ts';

/** The currencies of its list that ISO 4217 still has. */
const TAKEN = new Set(
  (
    'USD AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC ' +
    'CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS ' +
    'KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR ' +
    'PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TND TOP TRY TTD TWD TZS UAH ' +
    'UGX UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW'
  ).split(' '),
);

/** The decimals with which Stripe writes a currency, where those are not ISO's. */
const WRITTEN_WITH: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };

/** What an amount of Stripe's must be a multiple of, where that is not 1. */
const STEPS: Readonly<Record<string, bigint>> = {
  ISK: 100n,
  UGX: 100n,
  BHD: 10n,
  JOD: 10n,
  KWD: 10n,
  OMR: 10n,
  TND: 10n,
};

/** How many digits an amount of Stripe's may have, where those are not 8. */
const DIGITS: Readonly<Record<string, number>> = {
  COP: 10,
  HUF: 10,
  IDR: 12,
  INR: 9,
  JPY: 10,
  LBP: 10,
};
const DIGITS_OF_ALL = 8;

/**
 * The least that Stripe charges, in the smallest coin of ours. It documents them by the currency
 * that the money is paid out in, which we do not know; so one that is not here has none.
 */
const LEAST: Readonly<Record<string, bigint>> = {
  AED: 200n,
  AUD: 50n,
  BGN: 100n,
  BRL: 50n,
  CAD: 50n,
  CHF: 50n,
  CZK: 1500n,
  DKK: 250n,
  EUR: 50n,
  GBP: 30n,
  HKD: 400n,
  HUF: 17_500n,
  INR: 50n,
  JPY: 50n,
  MXN: 1000n,
  MYR: 200n,
  NOK: 300n,
  NZD: 50n,
  PLN: 200n,
  RON: 200n,
  SEK: 300n,
  SGD: 50n,
  THB: 1000n,
  USD: 50n,
};

export type StripeAmount =
  | { readonly kind: 'amount'; readonly units: number }
  /** Stripe has no such amount; the message names it. */
  | { readonly kind: 'refused'; readonly message: string };

/** An amount in the smallest coin of the currency, as Stripe writes it. */
export function stripeAmount(amount: bigint, currency: string): StripeAmount {
  if (!TAKEN.has(currency)) return refused(`Stripe takes no payments in ${currency}.`);
  const units = inStripesUnit(amount, currency);
  const step = STEPS[currency] ?? 1n;
  const shown = `${formatMoney(amount, currency)} ${currency}`;
  if (units === null || units % step !== 0n) {
    const least = formatMoney(leastOf(currency, step), currency);
    return refused(`Stripe cannot take ${shown}: only multiples of ${least} ${currency}.`);
  }
  if (String(units).length > (DIGITS[currency] ?? DIGITS_OF_ALL)) {
    return refused(`Stripe cannot take as much as ${shown} at once.`);
  }
  return { kind: 'amount', units: Number(units) };
}

/** Why Stripe never charges an amount; a refund may be less than the least charge. */
export function chargeRefusal(amount: bigint, currency: string): string | null {
  const written = stripeAmount(amount, currency);
  if (written.kind === 'refused') return written.message;
  return amount < (LEAST[currency] ?? 1n) ? tooLittle(amount, currency) : null;
}

export function tooLittle(amount: bigint, currency: string): string {
  return `Stripe does not take as little as ${formatMoney(amount, currency)} ${currency}.`;
}

/**
 * An amount of Stripe's in the smallest coin of the currency. What is not a whole number of those
 * is rounded up: it may be the worth of another currency.
 */
export function amountOf(units: number, currency: string): bigint {
  const more = shiftOf(currency);
  if (more <= 0) return BigInt(units) * 10n ** BigInt(-more);
  const divisor = 10n ** BigInt(more);
  return (BigInt(units) + divisor - 1n) / divisor;
}

/** null where Stripe has fewer decimals than the amount. */
function inStripesUnit(amount: bigint, currency: string): bigint | null {
  const more = shiftOf(currency);
  if (more >= 0) return amount * 10n ** BigInt(more);
  const divisor = 10n ** BigInt(-more);
  return amount % divisor === 0n ? amount / divisor : null;
}

/** The smallest amount of ours that Stripe can express. */
function leastOf(currency: string, step: bigint): bigint {
  const more = shiftOf(currency);
  return more >= 0 ? step / 10n ** BigInt(more) : step * 10n ** BigInt(-more);
}

/** The decimals that Stripe writes and we do not. */
function shiftOf(currency: string): number {
  const ours = exponentOf(currency);
  return (WRITTEN_WITH[currency] ?? ours) - ours;
}

function refused(message: string): StripeAmount {
  return { kind: 'refused', message };
}

/**
 * An amount as Stripe writes it, in the smallest coin of the currency; null where it is no whole
 * number of coins, or the currency is none of ours.
 */
export function amountFromStripe(units: bigint, code: string): bigint | null {
  const currency = code.toUpperCase();
  if (!isCurrency(currency)) return null;
  const more = shiftOf(currency);
  if (more <= 0) return units * 10n ** BigInt(-more);
  const divisor = 10n ** BigInt(more);
  return units % divisor === 0n ? units / divisor : null;
}
