// The pages of payments, drawn: what is left, what is offered to whom.
import { expect, test } from 'bun:test';
import { paymentPage, paymentsPage, refundPage } from '../../src/dashboard/payments.ts';
import { placeAt } from './place.ts';
import { HOSTILE, paymentOf, refundOf } from './samples.ts';

const READER = placeAt({ may: (operation) => /^(?:get|list)/.test(operation) });

test("the dashboard's payment list says where it is empty", () => {
  expect(paymentsPage(placeAt(), { data: [], hasMore: false }).text).toContain(
    'No payments match these filters.',
  );
});

test('the dashboard escapes what a merchant or a buyer wrote on payments', () => {
  const payment = paymentOf({
    customerEmail: HOSTILE,
    clientReferenceId: HOSTILE,
    metadata: { [HOSTILE]: HOSTILE },
    failureCode: 'card_declined',
    failureMessage: HOSTILE,
    paymentMethod: { type: 'card', brand: HOSTILE, last4: HOSTILE },
  });
  const place = placeAt({ query: new URLSearchParams({ customer: HOSTILE }) });
  const pages = [
    paymentsPage(place, { data: [payment], hasMore: true }),
    paymentPage(place, { payment, refunds: [refundOf({ id: HOSTILE })] }),
    refundPage(placeAt({ typed: new URLSearchParams({ amount: HOSTILE }) }), payment),
  ];
  for (const { text } of pages) expect(text).not.toContain('<script>');
});

test("the dashboard's payment page says what is refunded, being refunded and left", () => {
  const payment = paymentOf({
    amountRefunded: '2.00',
    amountRefundPending: '5.00',
    refundableAmount: '5.50',
  });
  const { text } = paymentPage(placeAt(), { payment, refunds: [refundOf()] });
  for (const amount of ['$12.50', '$2.00', '$5.00', '$5.50']) expect(text).toContain(amount);
  expect(refundPage(placeAt(), payment).text).toContain('value="5.50"');
});

const OFFERED: [string, ReturnType<typeof placeAt>, string, boolean][] = [
  ['to who may, while something is left', placeAt(), '0.01', true],
  ['to nobody where nothing is left', placeAt(), '0.00', false],
  ['to nobody who only reads', READER, '12.50', false],
];

test.each(OFFERED)(
  "the dashboard's payment page offers a refund %s",
  (_name, place, refundableAmount, isOffered) => {
    const payment = paymentOf({ refundableAmount });
    const { text } = paymentPage(place, { payment, refunds: [] });
    expect(text.includes('/payments/payment-1/refund')).toBe(isOffered);
  },
);

test("the dashboard's payment page has no refund form where nothing is left", () => {
  const { text } = refundPage(placeAt(), paymentOf({ refundableAmount: '0.00' }));
  expect(text).not.toContain('<form');
});
