import type { Settings } from '../../src/config.ts';

/** Without rate limits, unless a test is about them. */
export const TEST_SETTINGS: Settings = {
  baseUrl: 'http://localhost',
  checkoutUrl: 'http://localhost/pay',
  appUrl: 'http://localhost',
  allowLoopbackUrls: true,
  limits: { refundsPerOrg: 0, refundsPerPayment: 0, buyLinks: 0, portal: 0, cardAttempts: 10 },
  sandboxSettleMs: 200,
  proxyHops: 0,
  metricsToken: undefined,
};
