// The objects of samples: constant, so that a receiver's test can compare.

export const SAMPLE = {
  customerId: '01976c2e-5f00-7a10-8000-000000000001',
  productId: '01976c2e-5f00-7a10-8000-000000000002',
  checkoutId: '01976c2e-5f00-7a10-8000-000000000003',
  invoiceId: '01976c2e-5f00-7a10-8000-000000000004',
  transactionId: '01976c2e-5f00-7a10-8000-000000000005',
  refundId: '01976c2e-5f00-7a10-8000-000000000006',
  disputeId: '01976c2e-5f00-7a10-8000-00000000000e',
  paymentId: '01976c2e-5f00-7a10-8000-00000000000f',
  subscriptionId: '01976c2e-5f00-7a10-8000-000000000007',
  priceId: '01976c2e-5f00-7a10-8000-00000000000c',
  formerPriceId: '01976c2e-5f00-7a10-8000-00000000000d',
  bundleId: '01976c2e-5f00-7a10-8000-000000000008',
  meterId: '01976c2e-5f00-7a10-8000-000000000009',
  grantId: '01976c2e-5f00-7a10-8000-00000000000a',
  keyId: '01976c2e-5f00-7a10-8000-00000000000b',
  alertId: '01976c2e-5f00-7a10-8000-00000000000f',
  externalCustomerId: 'user-1',
  email: 'ada@example.com',
  periodStart: '2026-11-01T00:00:00.000Z',
  periodEnd: '2026-12-01T00:00:00.000Z',
} as const;

export const SAMPLE_ECHO = {
  externalCustomerId: SAMPLE.externalCustomerId,
  metadata: { plan: 'pro' },
};

export const ROUND_TRIP = {
  paymentLinkId: SAMPLE.checkoutId,
  paymentLinkToken: 'cs_sample',
  productId: SAMPLE.productId,
  customerEmail: SAMPLE.email,
  ...SAMPLE_ECHO,
  clientReferenceId: 'order-17',
};
