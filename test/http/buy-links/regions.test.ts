import { expect, test } from 'bun:test';
import { regionalCurrency } from '../../../src/payments/regions.ts';

// prettier-ignore
test.each([
  // headers                                                       currency
  [{},                                                             null],
  [{ 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' },               'EUR'],
  [{ 'accept-language': 'en-GB' },                                 'GBP'],
  [{ 'accept-language': 'ja' },                                    'JPY'],
  [{ 'accept-language': 'zh-Hant-TW' },                            'TWD'],
  [{ 'accept-language': '*' },                                     null],
  [{ 'accept-language': 'no language;q=2' },                       null],
  [{ 'accept-language': 'en-GB', 'cf-ipcountry': 'CH' },           'CHF'],
  [{ 'accept-language': 'en-GB', 'cf-ipcountry': 'XX' },           'GBP'],
  [{ 'x-vercel-ip-country': 'MX' },                                'MXN'],
  [{ 'cloudfront-viewer-country': 'constructor' },                 null],
])('the currency for the headers %p is %p', (headers, currency) => {
  expect(regionalCurrency(new Headers(headers as Record<string, string>))).toBe(currency);
});
