// The page of a processor, as forms may lead to it.
import { expect, test } from 'bun:test';
import { isAt } from '../../src/http/processor-page.ts';

// prettier-ignore
const ADDRESSES: [string, boolean][] = [
  ['https://checkout.stripe.com/c/pay/cs_1',         true],
  ['https://checkout.stripe.com:8443/c/pay/cs_1',    false],
  ['http://checkout.stripe.com/c/pay/cs_1',          false],
  ['https://checkout.stripe.com.evil.example/c/pay', false],
  // An account may show it at a domain of its own.
  ['https://pay.shop.example/c/pay/cs_1',            false],
  ['/c/pay/cs_1',                                    false],
];

test.each(ADDRESSES)("a processor page at %s is on Stripe's own origin: %p", (url, isDirect) => {
  expect(isAt(url, { owner: 'Stripe', origin: 'https://checkout.stripe.com' })).toBe(isDirect);
});
