// The environment, read once. Everything else takes a Config; nothing else looks at a variable.
// What each variable is for, its default and its range: variables.ts.
//
// Holds: a Config is complete and valid, so no reader checks again. Every bad variable is reported,
// each in one line, and no line repeats a value that may hold a password.
// Does not: read files, touch the network, or make DATA_DIR (src/platform/embedded/services.ts
// does).

import { type Bounds, readBounds } from './platform/bounds.ts';
import { isLoopback } from './platform/net/public-url.ts';
import { type MailSettings, parseMailbox, parseSmtpUrl } from './platform/smtp-settings.ts';
import { isSafeIssuer, type OidcSettings } from './platform/oidc-settings.ts';
import { VARIABLES, type WholeNumber } from './variables.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const NODE_SECRET_LENGTH_MIN = 32;
/** What a header can carry as a Bearer token. */
const METRICS_TOKEN = /^[\w.~+/=-]{16,512}$/;
/** 32 bytes in base64. */
const SECRETS_KEY = /^[A-Za-z0-9+/]{43}=$/;

/** The variables that have a range. */
type NumberName = {
  [Name in keyof typeof VARIABLES]: (typeof VARIABLES)[Name] extends WholeNumber ? Name : never;
}[keyof typeof VARIABLES];

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface NodePlace {
  /** host:port, as others reach it. */
  readonly address: string;
  readonly secret: string;
  /** host:port that it listens on: there may be something in between. */
  readonly listen: string;
}

export interface Config {
  readonly port: number;
  readonly host: string;
  /** Whether other processes of ours listen on the same port. */
  readonly reusePort: boolean;
  /** Where this process alone answers its operators. undefined: nowhere but at `port`. */
  readonly metricsPort: number | undefined;
  /** undefined: an embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** Nodes of a cluster with commas between them. undefined: a private Redis under `dataDir`. */
  readonly redisUrl: string | undefined;
  readonly dataDir: string;
  /** Without a slash at the end, like the two that follow. */
  readonly baseUrl: string;
  readonly checkoutUrl: string;
  readonly appUrl: string;
  /** Whether the environment says where this is, and not this program. */
  readonly isAddressed: boolean;
  readonly logLevel: LogLevel;
  readonly allowLoopbackUrls: boolean;
  /** Where other nodes reach this one. undefined: it is alone. */
  readonly node: NodePlace | undefined;
  /**
   * Whether the server delivers webhooks and mails itself, besides whatever `bun run worker` there
   * is.
   */
  readonly deliverWebhooks: boolean;
  /** How mails to buyers are sent. undefined: none is owed, and none is sent. */
  readonly mail: MailSettings | undefined;
  /** Who signs people in beside links. undefined: nobody. */
  readonly oidc: OidcSettings | undefined;
  /**
   * What webhook secrets and keys of processors are encrypted with. undefined: a key of our own
   * under `dataDir`.
   */
  readonly secretsKey: Uint8Array | undefined;
  /** Who may read /metrics from elsewhere. undefined: nobody. */
  readonly metricsToken: string | undefined;
  readonly leaseMs: number;
  readonly actorCacheMax: number;
  readonly actorCacheMib: number;
  /** What `bun run admin retention` keeps. */
  readonly retention: {
    readonly keysDays: number;
    readonly eventsDays: number;
    readonly denialsDays: number;
    /** 0: for good. */
    readonly usageMonths: number;
  };
  /** Per minute, 0 for none, but `cardAttempts`: in all, per checkout. */
  readonly limits: {
    readonly refundsPerOrg: number;
    readonly refundsPerPayment: number;
    readonly buyLinks: number;
    readonly discountCodes: number;
    readonly portal: number;
    readonly apiKeys: number;
    readonly processorKeys: number;
    readonly unsignedWebhooks: number;
    readonly logos: number;
    readonly signIns: number;
    readonly invitations: number;
    readonly cardAttempts: number;
  };
  /** What one organisation, customer, product, ... may have; 0 for any number. */
  readonly bounds: Bounds;
  readonly sandboxSettleMs: number;
  /** Where Stripe's API is asked for. undefined: at Stripe. */
  readonly stripeApiUrl: URL | undefined;
  /**
   * Proxies of our own that a request passes, each of which appends to X-Forwarded-For. 0: that
   * header says nothing.
   */
  readonly proxyHops: number;
}

/** What the HTTP surface and the payments behind it go by. */
export type Settings = Pick<
  Config,
  | 'baseUrl'
  | 'checkoutUrl'
  | 'appUrl'
  | 'allowLoopbackUrls'
  | 'limits'
  | 'bounds'
  | 'sandboxSettleMs'
  | 'stripeApiUrl'
  | 'proxyHops'
  | 'metricsToken'
  | 'mail'
  | 'oidc'
>;

/** What is wrong with the environment: one line a variable, in `problems` and in the message. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** @throws ConfigError with every bad variable of `env`. An empty variable counts as unset. */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const read = new Reader(env);
  const port = read.number('PORT');
  const host = read.text('HOST') ?? VARIABLES.HOST.byDefault;
  const databaseUrl = read.serverUrl('DATABASE_URL', ['postgres:', 'postgresql:']);
  const baseUrl = read.webUrl('BASE_URL') ?? `http://localhost:${port}`;
  const config: Config = {
    port,
    host,
    reusePort: read.flag('REUSE_PORT') ?? VARIABLES.REUSE_PORT.byDefault,
    metricsPort: read.port('METRICS_PORT'),
    databaseUrl,
    redisUrl: read.redisUrl(),
    dataDir: read.text('DATA_DIR') ?? VARIABLES.DATA_DIR.byDefault,
    baseUrl,
    checkoutUrl: read.webUrl('CHECKOUT_URL') ?? `${baseUrl}/pay`,
    appUrl: read.webUrl('APP_URL') ?? baseUrl,
    isAddressed: ['APP_URL', 'BASE_URL', 'PORT'].some((name) => read.text(name) !== undefined),
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS) ?? VARIABLES.LOG_LEVEL.byDefault,
    allowLoopbackUrls:
      read.flag('ALLOW_LOOPBACK_URLS') ?? (databaseUrl === undefined && isLoopback(baseUrl)),
    node: read.node(host),
    deliverWebhooks: read.flag('DELIVER_WEBHOOKS') ?? VARIABLES.DELIVER_WEBHOOKS.byDefault,
    mail: read.mail(),
    oidc: read.oidc(),
    secretsKey: read.secretsKey(),
    metricsToken: read.metricsToken(),
    leaseMs: read.number('LEASE_MS'),
    actorCacheMax: read.number('ACTOR_CACHE_MAX'),
    actorCacheMib: read.number('ACTOR_CACHE_MIB'),
    retention: Object.freeze({
      keysDays: read.number('RETENTION_KEYS_DAYS'),
      eventsDays: read.number('RETENTION_EVENTS_DAYS'),
      denialsDays: read.number('RETENTION_DENIALS_DAYS'),
      usageMonths: read.number('RETENTION_USAGE_MONTHS'),
    }),
    limits: Object.freeze({
      refundsPerOrg: read.number('RATE_LIMIT_REFUNDS_PER_ORG'),
      refundsPerPayment: read.number('RATE_LIMIT_REFUNDS_PER_PAYMENT'),
      buyLinks: read.number('RATE_LIMIT_BUY_LINKS'),
      discountCodes: read.number('RATE_LIMIT_DISCOUNT_CODES'),
      portal: read.number('RATE_LIMIT_PORTAL'),
      apiKeys: read.number('RATE_LIMIT_API_KEYS'),
      processorKeys: read.number('RATE_LIMIT_PROCESSOR_KEYS'),
      unsignedWebhooks: read.number('RATE_LIMIT_UNSIGNED_WEBHOOKS'),
      logos: read.number('RATE_LIMIT_LOGOS'),
      signIns: read.number('RATE_LIMIT_SIGN_INS'),
      invitations: read.number('RATE_LIMIT_INVITATIONS'),
      cardAttempts: read.number('LIMIT_CARD_ATTEMPTS'),
    }),
    bounds: readBounds((variable, bounds) => read.integer(variable, bounds)),
    sandboxSettleMs: read.number('SANDBOX_SETTLE_MS'),
    stripeApiUrl: read.origin('STRIPE_API_URL'),
    proxyHops: read.number('TRUSTED_PROXY_HOPS'),
  };
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  return Object.freeze(config);
}

/** Reads one variable by its kind. What it refuses it notes in `problems` and answers as unset. */
class Reader {
  readonly problems: string[] = [];
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  text(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === '' ? undefined : value;
  }

  /** One of variables.ts. */
  number(name: NumberName): number {
    return this.integer(name, VARIABLES[name]);
  }

  integer(name: string, bounds: WholeNumber): number {
    const value = this.text(name);
    if (value === undefined) return bounds.byDefault;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= bounds.min && number <= bounds.max) return number;
    this.#refuse(
      name,
      `must be a whole number from ${bounds.min} to ${bounds.max}, not "${value}"`,
    );
    return bounds.byDefault;
  }

  port(name: string): number | undefined {
    if (this.text(name) === undefined) return undefined;
    return this.integer(name, { byDefault: 0, min: 1, max: 65_535 });
  }

  /** One, or several with commas between them. */
  redisUrl(): string | undefined {
    const protocols = ['redis:', 'rediss:'];
    const value = this.text('REDIS_URL');
    if (value?.split(',').every((url) => isServerUrl(url, protocols)) ?? true) return value;
    const one = 'a URL such as redis://user:password@host:port/name';
    this.#refuse(
      'REDIS_URL',
      `must be ${one}, or several of them for a cluster, with commas between`,
    );
    return undefined;
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return undefined;
    if (['true', '1', 'on', 'yes'].includes(value)) return true;
    if (['false', '0', 'off', 'no'].includes(value)) return false;
    this.#refuse(name, `must be true or false, not "${value}"`);
    return undefined;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name)?.toLowerCase();
    const found = choices.find((choice) => choice === value);
    if (value !== undefined && found === undefined) {
      this.#refuse(name, `must be one of ${choices.join(', ')}, not "${value}"`);
    }
    return found;
  }

  webUrl(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const url = URL.parse(value);
    if (url === null || !['http:', 'https:'].includes(url.protocol)) {
      this.#refuse(name, 'must be an http or https URL');
    } else if (url.username !== '' || url.password !== '') {
      this.#refuse(name, 'must not contain a user or a password');
    } else if (/[?#]/.test(value)) {
      // Paths and tokens are appended to it.
      this.#refuse(name, 'must not contain a query or a fragment');
    } else {
      return url.href.replace(/\/+$/, '');
    }
    return undefined;
  }

  /** A web address without a path. */
  origin(name: string): URL | undefined {
    const value = this.webUrl(name);
    if (value === undefined) return undefined;
    const url = new URL(value);
    if (url.pathname === '/') return url;
    this.#refuse(name, 'must not contain a path');
    return undefined;
  }

  serverUrl(name: string, protocols: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined || isServerUrl(value, protocols)) return value;
    this.#refuse(name, `must be a URL such as ${protocols[0] ?? ''}//user:password@host:port/name`);
    return undefined;
  }

  node(host: string): NodePlace | undefined {
    const address = this.#hostAndPort('NODE_ADDRESS');
    const secret = this.text('NODE_SECRET');
    // A secret alone is harmless: nodes may share one environment file.
    if (address === undefined) return undefined;
    const hostname = host.includes(':') ? `[${host}]` : host;
    const listen =
      this.#hostAndPort('NODE_LISTEN') ?? `${hostname}${address.slice(address.lastIndexOf(':'))}`;
    if (secret === undefined) {
      this.#refuse('NODE_SECRET', 'must be set where NODE_ADDRESS is');
    } else if (secret.length < NODE_SECRET_LENGTH_MIN) {
      this.#refuse('NODE_SECRET', `must have at least ${NODE_SECRET_LENGTH_MIN} characters`);
    }
    return Object.freeze({ address, secret: secret ?? '', listen });
  }

  #hostAndPort(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const port = /^(?:[\w.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(value)?.[1];
    if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
      this.#refuse(name, `must be host:port, not "${value}"`);
    }
    return value;
  }

  mail(): Config['mail'] {
    const url = this.text('SMTP_URL');
    const sender = this.text('MAIL_FROM');
    const server = url === undefined ? null : parseSmtpUrl(url);
    const from = sender === undefined ? null : parseMailbox(sender);
    if (url !== undefined && server === null) {
      this.#refuse(
        'SMTP_URL',
        'must be a URL such as smtps://user:password@host:465, or smtp://host:587',
      );
    }
    if (sender !== undefined && from === null) {
      this.#refuse(
        'MAIL_FROM',
        'must be an address, or a name and one: Example <billing@example.com>',
      );
    }
    if (url !== undefined && sender === undefined) {
      this.#refuse('MAIL_FROM', 'must be set where SMTP_URL is');
    }
    // A sender alone is harmless.
    return server === null || from === null ? undefined : Object.freeze({ server, from });
  }

  oidc(): Config['oidc'] {
    const given = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;
    if (given.every((name) => this.text(name) === undefined)) return undefined;
    for (const name of given) {
      if (this.text(name) === undefined) this.#refuse(name, 'must be set: the three go together');
    }
    const url = this.webUrl('OIDC_ISSUER');
    const clientId = this.text('OIDC_CLIENT_ID');
    const clientSecret = this.text('OIDC_CLIENT_SECRET');
    if (url === undefined || clientId === undefined || clientSecret === undefined) return undefined;
    const issuer = new URL(url);
    if (isSafeIssuer(issuer)) return Object.freeze({ issuer, clientId, clientSecret });
    this.#refuse('OIDC_ISSUER', 'must be an https URL, but on this machine');
    return undefined;
  }

  secretsKey(): Config['secretsKey'] {
    const value = this.text('SECRETS_KEY');
    if (value === undefined) {
      // Each would make a key of its own, and read none of the others' secrets.
      if (this.text('NODE_ADDRESS') === undefined) return undefined;
      this.#refuse('SECRETS_KEY', 'must be set where NODE_ADDRESS is');
    } else if (!SECRETS_KEY.test(value)) {
      this.#refuse('SECRETS_KEY', 'must be 32 bytes in base64, as `openssl rand -base64 32` makes');
    } else {
      return Buffer.from(value, 'base64');
    }
    return undefined;
  }

  metricsToken(): string | undefined {
    const value = this.text('METRICS_TOKEN');
    if (value === undefined || METRICS_TOKEN.test(value)) return value;
    this.#refuse(
      'METRICS_TOKEN',
      'must have 16 to 512 characters, letters, digits and . _ ~ + / = -',
    );
    return undefined;
  }

  #refuse(name: string, why: string): void {
    this.problems.push(`${name} ${why}`);
  }
}

/** Of one host: a failover is the business of what stands before the servers. */
function isServerUrl(value: string, protocols: readonly string[]): boolean {
  const url = URL.parse(value);
  return url !== null && protocols.includes(url.protocol) && /^[^,]+$/.test(url.hostname);
}
