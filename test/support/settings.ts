import { parseConfig, type Settings } from '../../src/config.ts';

/** The same in every process of a test, so that one reads what another wrote. */
export const TEST_SECRETS_KEY = new Uint8Array(32).fill(7);

/** Without rate limits, unless a test is about them. */
export const TEST_SETTINGS: Settings = {
  baseUrl: 'http://localhost',
  checkoutUrl: 'http://localhost/pay',
  appUrl: 'http://localhost',
  allowLoopbackUrls: true,
  limits: {
    refundsPerOrg: 0,
    refundsPerPayment: 0,
    buyLinks: 0,
    discountCodes: 0,
    portal: 0,
    apiKeys: 0,
    processorKeys: 0,
    unsignedWebhooks: 0,
    logos: 0,
    signIns: 0,
    invitations: 0,
    cardAttempts: 10,
  },
  bounds: parseConfig({}).bounds,
  sandboxSettleMs: 200,
  stripeApiUrl: undefined,
  proxyHops: 0,
  metricsToken: undefined,
  mail: undefined,
  oidc: undefined,
};
