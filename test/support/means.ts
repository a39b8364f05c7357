// How a buyer pays.

/** Test cards and accounts by their effect (docs/spec/payments.md#the-sandbox). */
export const NUMBERS = {
  good: '4242424242424242',
  declined: '4000000000000002',
  insufficient: '4000000000009995',
  error: '4000000000000119',
  challenge: '4000002760003184',
  challengeDeclined: '4000008400001629',
  renewalFails: '4000000000000341',
  refundPends: '4000000000007726',
  refundFailsLate: '4000000000005126',
  disputedLost: '4000000000000259',
  disputedWon: '4000000000002685',
  answerLost: '4000000000001000',
  requestLost: '4000000000001018',
  iban: 'DE89370400440532013000',
  ibanFails: 'DE62370400440532013001',
} as const;
export type Means = keyof typeof NUMBERS;
