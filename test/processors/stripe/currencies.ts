// The currencies that Stripe charges, and the bounds of an amount.
import { invalid } from './errors.ts';

// As Stripe lists them where it refuses one that it does not know.
const CURRENCIES = new Set(
  (
    'usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp ' +
    'byn bzd cad cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip ' +
    'gmd gnf gtq gyd hkd hnl htg huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt ' +
    'lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr ' +
    'nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd ' +
    'std szl thb tjs tnd top try ttd twd tzs uah ugx uyu uzs vnd vuv wst xaf xcd xof xpf yer zar zmw'
  ).split(' '),
);

/** The least that can be charged, in the smallest unit; what is not here has no documented one. */
const LEAST: Readonly<Record<string, number>> = {
  usd: 50,
  aed: 200,
  aud: 50,
  bgn: 100,
  brl: 50,
  cad: 50,
  chf: 50,
  czk: 1500,
  dkk: 250,
  eur: 50,
  gbp: 30,
  hkd: 400,
  huf: 17_500,
  inr: 50,
  jpy: 50,
  mxn: 1000,
  myr: 200,
  nok: 300,
  nzd: 50,
  pln: 200,
  ron: 200,
  sek: 300,
  sgd: 50,
  thb: 1000,
};

const MOST = 99_999_999;
/** Where an amount may have more than eight digits. */
const MOST_OF: Readonly<Record<string, number>> = {
  cop: 9_999_999_999,
  huf: 9_999_999_999,
  idr: 999_999_999_999,
  inr: 999_999_999,
  jpy: 9_999_999_999,
  lbp: 9_999_999_999,
};

const THREE_DECIMALS = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd']);
/** Without decimals, but written with two. */
const WRITTEN_WITH_TWO = new Set(['isk', 'ugx']);

export function checkCurrency(currency: string, param: string): string {
  const lower = currency.toLowerCase();
  if (!CURRENCIES.has(lower)) {
    throw invalid(`Invalid currency: ${lower}. Stripe supports: ${[...CURRENCIES].join(', ')}`, {
      param,
    });
  }
  return lower;
}

export function checkAmount(amount: number, currency: string, param: string): void {
  if (amount < (LEAST[currency] ?? 1)) {
    throw invalid(`Amount must be at least ${LEAST[currency] ?? 1} ${currency}`, {
      code: 'amount_too_small',
      param,
    });
  }
  if (amount > (MOST_OF[currency] ?? MOST)) {
    throw invalid(`Amount must be no more than ${MOST_OF[currency] ?? MOST} ${currency}`, {
      code: 'amount_too_large',
      param,
    });
  }
  checkSteps(amount, currency, param);
}

/** The last digits that a currency cannot have must be 0. */
export function checkSteps(amount: number, currency: string, param: string): void {
  const step = THREE_DECIMALS.has(currency) ? 10 : WRITTEN_WITH_TWO.has(currency) ? 100 : 1;
  if (amount % step !== 0) {
    throw invalid(`Invalid amount: ${currency} amounts must be a multiple of ${step}`, { param });
  }
}
