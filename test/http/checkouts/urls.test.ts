import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { framersOf, paidUrl, redirectUrlIssue } from '../../../src/payments/urls.ts';

const ID = '0199a000-0000-7000-8000-000000000000';
const TOKEN = 'T'.repeat(43);
const OURS = `status=paid&payment_link_id=${ID}`;

// prettier-ignore
test.each([
  // success_url                                          goes to
  ['https://a.example',                                   `https://a.example/?${OURS}`],
  ['https://a.example/done',                              `https://a.example/done?${OURS}`],
  ['https://a.example/done?',                             `https://a.example/done?${OURS}`],
  ['https://a.example/done?a=%20b+c&d',                   `https://a.example/done?a=%20b+c&d&${OURS}`],
  ['https://a.example/done?status=new',                   `https://a.example/done?status=new&${OURS}`],
  ['https://a.example/#/app?x=1',                         `https://a.example/?${OURS}#/app?x=1`],
  ['https://a.example/?t={CHECKOUT_TOKEN}',               `https://a.example/?t=${TOKEN}&${OURS}`],
  ['https://a.example/{CHECKOUT_TOKEN}/{CHECKOUT_TOKEN}', `https://a.example/${TOKEN}/${TOKEN}?${OURS}`],
  ['https://a.example/#{CHECKOUT_TOKEN}',                 `https://a.example/?${OURS}#${TOKEN}`],
  ['https://a.example/{OTHER}',                           `https://a.example/%7BOTHER%7D?${OURS}`],
  ['https://bücher.example/ü?ü=ü',                        `https://xn--bcher-kva.example/%C3%BC?%C3%BC=%C3%BC&${OURS}`],
  ['http://localhost:5173/',                              `http://localhost:5173/?${OURS}`],
])("the success_url %s gets the checkout's id added", (successUrl, goesTo) => {
  expect(redirectUrlIssue(successUrl, { loopback: true })).toBeNull();
  expect(paidUrl(successUrl, { id: ID, token: TOKEN })).toBe(goesTo);
});

test('every accepted success_url leads to an https address that fits a header', () => {
  const parts = fc.constantFrom(
    'https:',
    'http:',
    'javascript:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '?',
    '#',
    '&',
    '=',
    '\n',
    '\t',
    ' ',
    'localhost',
    'a.example',
    '{CHECKOUT_TOKEN}',
    '%',
    'ü',
    '[::1]',
    '*',
    ';',
    ',',
    "'self'",
    '\u0000',
    '"',
    '<script>',
  );
  const text = fc.array(parts, { maxLength: 12 }).map((some) => some.join(''));
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        text.map((rest) => `https://a.example/${rest}`),
      ),
      (successUrl) => {
        if (redirectUrlIssue(successUrl, { loopback: false }) !== null) return;
        const url = paidUrl(successUrl, { id: ID, token: TOKEN });
        expect(url).toMatch(/^https:\/\/[^/@]+\/[\x21-\x7E]*$/);
        expect(url).toContain(OURS);
        // One source in the policy, with nothing but the host that it names.
        const [framer] = framersOf({ successUrl, cancelUrl: null, token: TOKEN });
        expect(framer).toMatch(/^https:\/\/(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d+)?$/);
      },
    ),
    { numRuns: 2000 },
  );
});
