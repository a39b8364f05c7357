import { expect, test } from 'bun:test';
import { BOUNDS, type Bounds } from '../../src/platform/bounds.ts';
import { ConfigError, parseConfig } from '../../src/config.ts';

const SECRET = 'x'.repeat(32);
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const NO_SMTP = 'SMTP_URL must be a URL such as smtps://user:password@host:465, or smtp://host:587';
const NO_SENDER = 'MAIL_FROM must be an address, or a name and one: Example <billing@example.com>';
const NO_REDIS =
  'REDIS_URL must be a URL such as redis://user:password@host:port/name, or several of them for a cluster, with commas between';

// prettier-ignore
test.each([
  // variable               value                          what is said, '' for accepted
  ['PORT',                  '0',                           'PORT must be a whole number from 1 to 65535, not "0"'],
  ['PORT',                  '65536',                       'PORT must be a whole number from 1 to 65535, not "65536"'],
  ['PORT',                  '3e3',                         'PORT must be a whole number from 1 to 65535, not "3e3"'],
  ['PORT',                  ' 8080 ',                      ''],
  ['PORT',                  '',                            ''],
  ['DATABASE_URL',          'postgres://u:p@db:5432/t',    ''],
  ['DATABASE_URL',          'postgresql://db/t',           ''],
  ['DATABASE_URL',          'mysql://u:hidden@db/t',       'DATABASE_URL must be a URL such as postgres://user:password@host:port/name'],
  ['DATABASE_URL',          'db:5432',                     'DATABASE_URL must be a URL such as postgres://user:password@host:port/name'],
  ['DATABASE_URL',          'postgres://u:a,b@db/t',       ''],
  ['DATABASE_URL',          'postgres://db-1,db-2/t',      'DATABASE_URL must be a URL such as postgres://user:password@host:port/name'],
  ['REDIS_URL',             'rediss://:p@cache:6380/1',    ''],
  ['REDIS_URL',             'http://cache',                NO_REDIS],
  ['REDIS_URL',             'redis://a:1,redis://b:2',     ''],
  ['REDIS_URL',             'redis://a:1,b:2',             NO_REDIS],
  ['REDIS_URL',             'redis://a:1,',                NO_REDIS],
  ['BASE_URL',              'https://pay.example.com/x/',  ''],
  ['BASE_URL',              'pay.example.com',             'BASE_URL must be an http or https URL'],
  ['BASE_URL',              'https://u:p@example.com',     'BASE_URL must not contain a user or a password'],
  ['CHECKOUT_URL',          'https://example.com/?a=1',    'CHECKOUT_URL must not contain a query or a fragment'],
  ['APP_URL',               'https://example.com/#a',      'APP_URL must not contain a query or a fragment'],
  ['LOG_LEVEL',             'WARN',                        ''],
  ['LOG_LEVEL',             'loud',                        'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud"'],
  ['ALLOW_LOOPBACK_URLS',   'off',                         ''],
  ['ALLOW_LOOPBACK_URLS',   'maybe',                       'ALLOW_LOOPBACK_URLS must be true or false, not "maybe"'],
  ['NODE_ADDRESS',          'node-1:4000',                 'NODE_SECRET must be set where NODE_ADDRESS is'],
  ['NODE_SECRET',           'short, but nobody uses it',   ''],
  ['SECRETS_KEY',           SECRETS_KEY,                   ''],
  ['SECRETS_KEY',           'hidden',                      'SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` makes'],
  ['SECRETS_KEY',           SECRETS_KEY.slice(4),          'SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` makes'],
  ['SECRETS_KEY',           'hidden-hidden-hidden-hidden-hidden-hidden-hid=', 'SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` makes'],
  ['REUSE_PORT',            'sometimes',                   'REUSE_PORT must be true or false, not "sometimes"'],
  ['METRICS_PORT',          '9464',                        ''],
  ['METRICS_PORT',          '0',                           'METRICS_PORT must be a whole number from 1 to 65535, not "0"'],
  ['METRICS_TOKEN',         'operators-only-0123',         ''],
  ['METRICS_TOKEN',         'hidden',                      'METRICS_TOKEN must have 16 to 512 characters, letters, digits and . _ ~ + / = -'],
  ['METRICS_TOKEN',         'hidden hidden hidden',        'METRICS_TOKEN must have 16 to 512 characters, letters, digits and . _ ~ + / = -'],
  ['LEASE_MS',              '999',                         'LEASE_MS must be a whole number from 1000 to 60000, not "999"'],
  ['ACTOR_CACHE_MIB',       '15',                          'ACTOR_CACHE_MIB must be a whole number from 16 to 1000000, not "15"'],
  ['ACTOR_CACHE_MAX',       '0',                           'ACTOR_CACHE_MAX must be a whole number from 1 to 10000000, not "0"'],
  ['RETENTION_KEYS_DAYS',   '30',                          'RETENTION_KEYS_DAYS must be a whole number from 36 to 3650, not "30"'],
  ['RETENTION_EVENTS_DAYS', '29',                          'RETENTION_EVENTS_DAYS must be a whole number from 30 to 3650, not "29"'],
  ['RETENTION_USAGE_MONTHS', '-1',                         'RETENTION_USAGE_MONTHS must be a whole number from 0 to 1200, not "-1"'],
  ['RATE_LIMIT_PORTAL',     '0',                           ''],
  ['LIMIT_CARD_ATTEMPTS',   '-1',                          'LIMIT_CARD_ATTEMPTS must be a whole number from 0 to 1000000, not "-1"'],
  ['LIMIT_METERS',          '0',                           ''],
  ['LIMIT_WEBHOOK_ENDPOINTS', '0',                         'LIMIT_WEBHOOK_ENDPOINTS must be a whole number from 1 to 1000, not "0"'],
  ['LIMIT_PRICES_PER_PRODUCT', '201',                      'LIMIT_PRICES_PER_PRODUCT must be a whole number from 1 to 200, not "201"'],
  ['TRUSTED_PROXY_HOPS',    '9',                           'TRUSTED_PROXY_HOPS must be a whole number from 0 to 8, not "9"'],
  ['SMTP_URL',              'smtp://mail:587',             'MAIL_FROM must be set where SMTP_URL is'],
  ['MAIL_FROM',             'billing@example.com',         ''],
  ['MAIL_FROM',             '"A, B" <billing@bücher.example>', ''],
  ['MAIL_FROM',             'billing',                     NO_SENDER],
  ['MAIL_FROM',             'a@example.com, b@example.com', NO_SENDER],
  ['MAIL_FROM',             'A\r\nBcc: b@example.com <a@example.com>', NO_SENDER],
  ['MAIL_FROM',             'A <a@example.com> <b@example.com>', NO_SENDER],
  ['STRIPE_API_URL',        'http://127.0.0.1:12111',      ''],
  ['STRIPE_API_URL',        'https://stripe.example/v1',   'STRIPE_API_URL must not contain a path'],
  ['STRIPE_API_URL',        'stripe.example',              'STRIPE_API_URL must be an http or https URL'],
  ['SANDBOX_SETTLE_MS',     '0.5',                         'SANDBOX_SETTLE_MS must be a whole number from 0 to 86400000, not "0.5"'],
])('the variable %s=%s has the problem: %s', (name, value, said) => {
  expect(problemsOf({ [name]: value })).toEqual(said === '' ? [] : [said]);
});

// prettier-ignore
test.each([
  ['host:4000',        SECRET,  ''],
  ['[::1]:4000',       SECRET,  ''],
  ['host',             SECRET,  'NODE_ADDRESS must be host:port, not "host"'],
  ['host:0',           SECRET,  'NODE_ADDRESS must be host:port, not "host:0"'],
  ['host:4000',        'short', 'NODE_SECRET must have at least 32 characters'],
])('NODE_ADDRESS=%s with NODE_SECRET=%s has the problem: %s', (address, secret, said) => {
  const problems = problemsOf({ NODE_ADDRESS: address, NODE_SECRET: secret });
  expect(problems).toEqual(said === '' ? [] : [said]);
});

test('an empty environment gives the default configuration', () => {
  expect(parseConfig({})).toEqual({
    port: 3000,
    host: '0.0.0.0',
    reusePort: false,
    metricsPort: undefined,
    databaseUrl: undefined,
    redisUrl: undefined,
    dataDir: '.tollhouse/',
    baseUrl: 'http://localhost:3000',
    checkoutUrl: 'http://localhost:3000/pay',
    appUrl: 'http://localhost:3000',
    isAddressed: false,
    logLevel: 'info',
    allowLoopbackUrls: true,
    node: undefined,
    deliverWebhooks: true,
    mail: undefined,
    oidc: undefined,
    secretsKey: undefined,
    metricsToken: undefined,
    leaseMs: 5000,
    actorCacheMax: 200_000,
    actorCacheMib: 1024,
    retention: { keysDays: 40, eventsDays: 90, denialsDays: 30, usageMonths: 0 },
    limits: {
      refundsPerOrg: 120,
      refundsPerPayment: 60,
      buyLinks: 30,
      discountCodes: 30,
      portal: 60,
      apiKeys: 60,
      processorKeys: 30,
      unsignedWebhooks: 60,
      logos: 300,
      signIns: 10,
      invitations: 30,
      cardAttempts: 10,
    },
    bounds: Object.fromEntries(
      Object.entries(BOUNDS).map(([name, { byDefault }]) => [name, byDefault]),
    ) as Bounds,
    sandboxSettleMs: 3000,
    stripeApiUrl: undefined,
    proxyHops: 0,
  });
});

test('the configured addresses follow PORT and BASE_URL', () => {
  expect(parseConfig({ PORT: '81' }).checkoutUrl).toBe('http://localhost:81/pay');
  const { baseUrl, checkoutUrl, appUrl } = parseConfig({ BASE_URL: 'https://a.example/b/' });
  expect([baseUrl, checkoutUrl, appUrl]).toEqual([
    'https://a.example/b',
    'https://a.example/b/pay',
    'https://a.example/b',
  ]);
});

test('loopback URLs are allowed with the embedded database on a machine of one’s own, and not else', () => {
  const DATABASE_URL = 'postgres://db/t';
  expect(parseConfig({}).allowLoopbackUrls).toBe(true);
  expect(parseConfig({ BASE_URL: 'http://127.0.0.1:4000' }).allowLoopbackUrls).toBe(true);
  expect(parseConfig({ BASE_URL: 'https://pay.example.com' }).allowLoopbackUrls).toBe(false);
  expect(parseConfig({ DATABASE_URL }).allowLoopbackUrls).toBe(false);
  expect(parseConfig({ DATABASE_URL, ALLOW_LOOPBACK_URLS: '1' }).allowLoopbackUrls).toBe(true);
});

test('the configured key of the secrets is its bytes, and nodes share one', () => {
  expect(parseConfig({ SECRETS_KEY }).secretsKey).toEqual(Buffer.alloc(32, 7));
  const env = { SECRETS_KEY: '', NODE_ADDRESS: 'a:1', NODE_SECRET: SECRET };
  expect(problemsOf(env)).toEqual(['SECRETS_KEY must be set where NODE_ADDRESS is']);
});

test('mails are configured with one server and one address', () => {
  const MAIL_FROM = 'billing@example.com';
  const of = (SMTP_URL: string, from = MAIL_FROM) =>
    parseConfig({ SMTP_URL, MAIL_FROM: from }).mail;
  expect(of('smtps://us%40er:p%3Ass@mail.example')).toEqual({
    server: {
      host: 'mail.example',
      port: 465,
      secure: true,
      login: { user: 'us@er', pass: 'p:ss' },
    },
    from: { name: null, address: MAIL_FROM },
  });
  const server = { host: '::1', port: 2525, secure: false, login: null };
  const from = { name: 'A "B", C', address: 'billing@bücher.example' };
  expect(of('smtp://[::1]:2525/', '"A \\"B\\", C" <billing@bücher.example>')).toEqual({
    server,
    from,
  });
  expect(of('smtp://mail')?.server.port).toBe(587);
  for (const url of [
    'mail:25',
    'http://mail',
    'smtp://',
    'smtp://mail/x',
    'smtp://mail?tls=no',
    'smtp://:p@mail',
    'smtp://%ff@mail',
  ]) {
    expect([url, problemsOf({ SMTP_URL: url, MAIL_FROM })]).toEqual([url, [NO_SMTP]]);
  }
});

test('a node may listen at another address than others reach it', () => {
  const env = { NODE_ADDRESS: 'a:1', NODE_SECRET: SECRET, SECRETS_KEY };
  expect(parseConfig({ ...env, NODE_LISTEN: '127.0.0.1:2' }).node?.listen).toBe('127.0.0.1:2');
  expect(parseConfig(env).node?.listen).toBe('0.0.0.0:1');
  expect(parseConfig({ ...env, HOST: '::' }).node?.listen).toBe('[::]:1');
  expect(problemsOf({ ...env, NODE_LISTEN: ':2' })).toEqual([
    'NODE_LISTEN must be host:port, not ":2"',
  ]);
});

test('every invalid variable is reported at once', () => {
  expect(problemsOf({ PORT: 'a', LOG_LEVEL: 'b', LEASE_MS: 'c' })).toHaveLength(3);
});

test('the configuration cannot be changed once it is read', () => {
  const config = parseConfig({ NODE_ADDRESS: 'a:1', NODE_SECRET: SECRET, SECRETS_KEY });
  expect([config, config.limits, config.node].every(Object.isFrozen)).toBe(true);
});

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig({ SECRETS_KEY, ...env });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
