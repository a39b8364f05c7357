// Every variable of the environment: its default, its range, and what it is for.
//
// src/config.ts reads them, with these defaults and ranges. `bun run docs:config` writes
// .env.example and the table of src/OPERATIONS.md from here; a test compares both, and holds that
// no other variable is read. What an organisation, a product or a customer may have is a table of
// its own: src/platform/bounds.ts.

export type WholeNumber = {
  readonly byDefault: number;
  readonly min: number;
  readonly max: number;
};

/** Without a default of its own, it says what holds where it is not set. */
type Default = WholeNumber | { readonly byDefault: string | boolean } | { readonly unset: string };

export type Variable = Default & { readonly says: string };

type Chapter = Readonly<Record<string, Variable>>;

const PORTS = { min: 1, max: 65_535 };
const A_MINUTE = { min: 0, max: 1_000_000 };

const LISTEN = {
  PORT: { byDefault: 3000, ...PORTS, says: 'The port that it listens on.' },
  HOST: { byDefault: '0.0.0.0', says: 'The address that it listens on.' },
  REUSE_PORT: {
    byDefault: false,
    says: 'Whether other processes of the service listen on the same port.',
  },
  METRICS_PORT: {
    unset: 'none',
    says: 'A port where this process alone answers `/metrics`, `/health` and `/ready`. With `--processes N` the first of N ports.',
  },
  TRUSTED_PROXY_HOPS: {
    byDefault: 0,
    min: 0,
    max: 8,
    says: 'How many proxies of yours stand before it, each of which appends to `X-Forwarded-For`. At 0 that header is not believed.',
  },
} as const satisfies Chapter;

const ADDRESSES = {
  BASE_URL: {
    unset: '`http://localhost:PORT`',
    says: "The public address, the same for all nodes. Links to checkouts, invoices, the portal and the sandbox's bank begin with it.",
  },
  CHECKOUT_URL: {
    unset: '`BASE_URL/pay`',
    says: 'Links to checkouts begin with it. A proxy there passes `/embed.js` on, and the rest to `/pay/...`.',
  },
  APP_URL: {
    unset: '`BASE_URL`',
    says: 'Links to invoices and the portal begin with it. A proxy there passes on to `/api/invoices/...` and `/portal/...`.',
  },
  ALLOW_LOOPBACK_URLS: {
    unset: '`true` with the embedded database, where `BASE_URL` is of this machine',
    says: 'Whether a test key may give `http://localhost` addresses.',
  },
} as const satisfies Chapter;

const SERVICES = {
  DATABASE_URL: {
    unset: 'embedded',
    says: 'PostgreSQL 18. Direct connections: not through a pooler in transaction mode. The first connections may take 10 s to open, later ones five times what the fastest took, 1 to 10 s; `?connect_timeout=5` gives each 5 s.',
  },
  REDIS_URL: {
    unset: 'embedded',
    says: 'Redis. For a Redis Cluster the URLs of several nodes, with commas between.',
  },
  DATA_DIR: { byDefault: '.tollhouse/', says: 'The folder of the embedded services.' },
  SECRETS_KEY: {
    unset: 'a file in `DATA_DIR`',
    says: '32 bytes in base64 (`openssl rand -base64 32`). It encrypts webhook secrets and the keys of payment processors, and makes links to invoices. The same for all processes.',
  },
} as const satisfies Chapter;

const NODES = {
  NODE_ADDRESS: {
    unset: 'it is alone',
    says: 'host:port where other nodes reach this one. It needs `NODE_SECRET` and `SECRETS_KEY`.',
  },
  NODE_SECRET: {
    unset: 'none',
    says: 'What all nodes share, 32 characters at least (`openssl rand -hex 24`).',
  },
  NODE_LISTEN: {
    unset: '`HOST`, the port of `NODE_ADDRESS`',
    says: 'host:port where it listens for other nodes, when that is not what they reach.',
  },
  LEASE_MS: {
    byDefault: 5000,
    min: 1000,
    max: 60_000,
    says: 'How long a dead node keeps its customers waiting, and at most 2 s more. The same for all nodes.',
  },
  ACTOR_CACHE_MAX: {
    byDefault: 200_000,
    min: 1,
    max: 10_000_000,
    says: 'Customers in memory. More are loaded when they are needed.',
  },
  ACTOR_CACHE_MIB: {
    byDefault: 1024,
    min: 16,
    max: 1_000_000,
    says: 'MiB of the heap that customers and payments in memory may take, estimated from what each has.',
  },
} as const satisfies Chapter;

const DELIVERY = {
  DELIVER_WEBHOOKS: {
    byDefault: true,
    says: 'Whether the server delivers webhooks and mails itself. `false` where workers do.',
  },
  SMTP_URL: {
    unset: 'no mail is sent',
    says: 'The server for mails to buyers: `smtps://user:password@host:465` or `smtp://host:587`. The same for all processes. Without it `/ready` says `"mail": "off"`.',
  },
  MAIL_FROM: {
    unset: 'none',
    says: 'The address that mails come from: `Example <billing@example.com>`. `SMTP_URL` needs it.',
  },
} as const satisfies Chapter;

const PEOPLE = {
  OIDC_ISSUER: {
    unset: 'none',
    says: 'An OpenID Connect provider that signs users in to the dashboard, whose verified e-mail is that of a user here: `https://login.example.com`. It sends them back to `APP_URL` and `/dashboard/oidc/callback`.',
  },
  OIDC_CLIENT_ID: { unset: 'none', says: 'As the provider knows this service.' },
  OIDC_CLIENT_SECRET: { unset: 'none', says: 'The secret of that client.' },
} as const satisfies Chapter;

const WATCH = {
  LOG_LEVEL: {
    byDefault: 'info',
    says: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. `debug` logs each request. Keys are never logged.',
  },
  METRICS_TOKEN: {
    unset: 'none',
    says: 'Opens `/metrics`, sent as `Authorization: Bearer`; 16 to 512 characters. Without one only this machine may read `/metrics`, and with `TRUSTED_PROXY_HOPS` nobody. Set it where a proxy runs on the same machine.',
  },
} as const satisfies Chapter;

const RETENTION = {
  RETENTION_KEYS_DAYS: {
    byDefault: 40,
    min: 36,
    max: 3650,
    says: 'Days for which an `idempotency_key` or `external_id` of a customer counts once. An event with a `timestamp` never counts twice: it is refused after 35 days. A `/track` with the same key counts anew after that.',
  },
  RETENTION_EVENTS_DAYS: {
    byDefault: 90,
    min: 30,
    max: 3650,
    says: 'Days for which events of usage, deliveries, and unpaid checkouts and tokens that have expired are kept.',
  },
  RETENTION_DENIALS_DAYS: {
    byDefault: 30,
    min: 1,
    max: 3650,
    says: 'Days for which the record of denials is kept: why `/check` and `/track` said no.',
  },
  RETENTION_USAGE_MONTHS: {
    byDefault: 0,
    min: 0,
    max: 1200,
    says: 'Whole months of single usages that are kept; 0: all. What is dropped is gone for good, so it is yours to say.',
  },
} as const satisfies Chapter;

const RATES = {
  RATE_LIMIT_REFUNDS_PER_ORG: {
    byDefault: 120,
    ...A_MINUTE,
    says: 'Refunds of one organisation.',
  },
  RATE_LIMIT_REFUNDS_PER_PAYMENT: { byDefault: 60, ...A_MINUTE, says: 'Refunds of one payment.' },
  RATE_LIMIT_BUY_LINKS: {
    byDefault: 30,
    ...A_MINUTE,
    says: 'Sessions that one address may open from buy links.',
  },
  RATE_LIMIT_DISCOUNT_CODES: {
    byDefault: 30,
    ...A_MINUTE,
    says: 'Discount codes of one merchant that one address may try.',
  },
  RATE_LIMIT_PORTAL: {
    byDefault: 60,
    ...A_MINUTE,
    says: 'Requests of one portal token, or of the link to one invoice.',
  },
  RATE_LIMIT_API_KEYS: {
    byDefault: 60,
    ...A_MINUTE,
    says: 'API keys that one organisation makes in one mode, by a key.',
  },
  RATE_LIMIT_PROCESSOR_KEYS: {
    byDefault: 30,
    ...A_MINUTE,
    says: 'Keys of payment processors that one organisation may try in one mode.',
  },
  RATE_LIMIT_UNSIGNED_WEBHOOKS: {
    byDefault: 60,
    ...A_MINUTE,
    says: 'Webhooks without a valid signature that one address may send as a payment processor. More are 429.',
  },
  RATE_LIMIT_LOGOS: {
    byDefault: 300,
    ...A_MINUTE,
    says: 'Logos that one address may ask for: pages and mails show them, and a browser keeps them.',
  },
  RATE_LIMIT_SIGN_INS: {
    byDefault: 10,
    ...A_MINUTE,
    says: 'Links to sign in to the dashboard that one address, and for one e-mail, may ask for; and codes that one user may try.',
  },
  RATE_LIMIT_INVITATIONS: {
    byDefault: 30,
    ...A_MINUTE,
    says: 'Invitations of one organisation, each of which is a mail.',
  },
  LIMIT_CARD_ATTEMPTS: {
    byDefault: 10,
    ...A_MINUTE,
    says: 'Attempts to pay in all, before a checkout locks.',
  },
} as const satisfies Chapter;

const STRIPE = {
  STRIPE_API_URL: {
    unset: '`https://api.stripe.com`',
    says: "Another address in the place of Stripe's API, for tests: a scheme, a host and a port.",
  },
} as const satisfies Chapter;

const SANDBOX = {
  SANDBOX_SETTLE_MS: {
    byDefault: 3000,
    min: 0,
    max: 86_400_000,
    says: 'After how many milliseconds the sandbox settles what it settles later.',
  },
} as const satisfies Chapter;

export const CHAPTERS: readonly { readonly title: string; readonly variables: Chapter }[] = [
  { title: 'Where it listens', variables: LISTEN },
  { title: 'Addresses in links', variables: ADDRESSES },
  { title: 'What it stands on', variables: SERVICES },
  { title: 'Nodes and memory', variables: NODES },
  { title: 'Webhooks and mails', variables: DELIVERY },
  { title: 'People', variables: PEOPLE },
  { title: 'Logs and metrics', variables: WATCH },
  { title: 'Retention, read by `bun run admin retention`', variables: RETENTION },
  { title: 'Rates, a minute; 0: any number', variables: RATES },
  { title: 'Payment processors', variables: STRIPE },
  { title: 'The sandbox', variables: SANDBOX },
];

export const VARIABLES = {
  ...LISTEN,
  ...ADDRESSES,
  ...SERVICES,
  ...NODES,
  ...DELIVERY,
  ...PEOPLE,
  ...WATCH,
  ...RETENTION,
  ...RATES,
  ...STRIPE,
  ...SANDBOX,
};
