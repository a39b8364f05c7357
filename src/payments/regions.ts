// The usual currency of a region. It is only a default: the buyer can choose another one on the
// page.

/** Countries by their currency, where it is one that things are commonly priced in. */
const COUNTRIES: Readonly<Record<string, string>> = {
  AED: 'AE',
  ARS: 'AR',
  AUD: 'AU KI NR TV',
  BRL: 'BR',
  CAD: 'CA',
  CHF: 'CH LI',
  CLP: 'CL',
  CNY: 'CN',
  COP: 'CO',
  CZK: 'CZ',
  DKK: 'DK FO GL',
  EGP: 'EG',
  EUR: 'AD AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MC ME MT NL PT SI SK SM VA XK',
  GBP: 'GB GG IM JE',
  HKD: 'HK',
  HUF: 'HU',
  IDR: 'ID',
  ILS: 'IL PS',
  INR: 'IN BT',
  ISK: 'IS',
  JPY: 'JP',
  KES: 'KE',
  KRW: 'KR',
  KWD: 'KW',
  MXN: 'MX',
  MYR: 'MY',
  NGN: 'NG',
  NOK: 'NO SJ',
  NZD: 'NZ CK NU TK',
  PEN: 'PE',
  PHP: 'PH',
  PKR: 'PK',
  PLN: 'PL',
  QAR: 'QA',
  RON: 'RO',
  SAR: 'SA',
  SEK: 'SE',
  SGD: 'SG',
  THB: 'TH',
  TRY: 'TR',
  TWD: 'TW',
  UAH: 'UA',
  USD: 'US AS EC FM GU MH MP PR PW SV TL UM VG VI',
  VND: 'VN',
  ZAR: 'ZA',
};

const CURRENCY_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(COUNTRIES).flatMap(([currency, countries]) =>
    countries.split(' ').map((country): [string, string] => [country, currency]),
  ),
);

/** What the edges of Cloudflare, CloudFront and Vercel say of where a request comes from. */
const COUNTRY_HEADERS = ['cf-ipcountry', 'cloudfront-viewer-country', 'x-vercel-ip-country'];

/**
 * From the country header of a CDN, else from the language of the browser. null if neither is
 * known.
 */
export function regionalCurrency(headers: Headers): string | null {
  for (const name of COUNTRY_HEADERS) {
    const currency = CURRENCY_OF.get(headers.get(name) ?? '');
    if (currency !== undefined) return currency;
  }
  const region = regionOf(headers.get('accept-language')?.split(/[,;]/, 1)[0]?.trim() ?? '');
  return CURRENCY_OF.get(region ?? '') ?? null;
}

/** The region of a language tag, or the one where most speak it: AT for de-AT, DE for de. */
function regionOf(tag: string): string | undefined {
  try {
    return new Intl.Locale(tag).maximize().region;
  } catch {
    // Not a language tag: `*`, or nonsense.
    return undefined;
  }
}
