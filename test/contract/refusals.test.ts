// For routes that move money, the refusals in the document are exactly those that a caller can get.
// Each code of the contract has a call here that gets it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { STATUS_OF } from '../../src/http/edge/errors.ts';
import { newNetwork } from '../support/network.ts';
import { BUYER } from '../support/shop.ts';
import { PATIENCE_MS, Shop } from '../payments/shop.ts';
import type { Call, Reply } from '../support/server.ts';
import { TEST_SETTINGS } from '../support/settings.ts';
import {
  bodiless,
  keyless as keylessOf,
  type Provoke,
  type Refusals,
  withKey,
} from './refusing.ts';
import { SUBSCRIPTION_ROUTES, subscriptionRefusals } from './subscription-refusals.ts';

/** On every route: for a bug, and for a lost database (test/http/edge, test/chaos). */
const ALWAYS = new Set(['internal_error', 'service_unavailable']);

setDefaultTimeout(PATIENCE_MS);

const OPEN_MAX = 30;

let shop: Shop;
let paid: string;
let refunded: string;
let checkout: string;
/** Told to retry. */
let busy: Record<'refund' | 'expire' | 'create', Reply>;
let ofSubscriptions: Readonly<Record<string, Refusals>>;
beforeAll(async () => {
  const limits = { ...TEST_SETTINGS.limits, refundsPerPayment: 9, buyLinks: 9 };
  const bounds = { ...TEST_SETTINGS.bounds, openCheckouts: OPEN_MAX, subscriptionsPerCustomer: 4 };
  shop = await Shop.open({ settings: { limits, bounds, proxyHops: 1 } });
  const session = await shop.checkout();
  checkout = session.id;
  await shop.pay(session);
  paid = (await shop.lastOf(session)).id;
  refunded = (await shop.refund(paid, { amount: '1' })).json.id;
  ofSubscriptions = await subscriptionRefusals(shop);
  const { id } = await shop.checkout();
  busy = await whileLocked({
    refund: () => shop.refundWithKey('busy', paid, { amount: '1' }),
    expire: () => send('POST', `/checkouts/${id}/expire`, withKey('e')),
    create: () => send('POST', '/checkouts', withKey('busy', open().body)),
  });
});
afterAll(() => shop.close());

const keyless = (method: string, path: () => string): Refusals =>
  keylessOf(() => shop.server, method, path);
const send = (method: string, path: string, call?: Call) => shop.server.call(method, path, call);
const open = (body: object = {}): Call => ({
  body: { product_id: shop.productId, customer_email: BUYER, ...body },
});

/**
 * Of two calls of each, the one that is told to retry, while no session may write what they write:
 * all at once, as each waits for seconds.
 */
async function whileLocked<Name extends string>(
  twice: Record<Name, Provoke>,
): Promise<Record<Name, Reply>> {
  const calls: Promise<Reply>[] = [];
  const told = await shop.server.sql.begin(async (sql) => {
    await sql`lock table sandbox_charges, checkouts in exclusive mode`;
    const pairs = Object.entries<Provoke>(twice).map(async ([name, call]) => {
      const both = [call(), call()];
      calls.push(...both);
      return [name, await Promise.race(both)] as const;
    });
    return Promise.all(pairs);
  });
  await Promise.all(calls);
  return Object.fromEntries(told) as Record<Name, Reply>;
}

async function untilLimited(provoke: Provoke): Promise<Reply> {
  for (let count = 0; count < 20; count += 1) {
    const reply = await provoke();
    if (reply.status === 429) return reply;
  }
  throw new Error('it was never limited');
}

/** While `provoke` has opened as many checkouts as are allowed. */
async function whileFull(provoke: (count: number) => Promise<Reply>): Promise<Reply> {
  for (let count = 0; count < OPEN_MAX; count += 1) await provoke(count);
  const reply = await provoke(OPEN_MAX);
  await shop.server.sql`update checkouts set status = 'expired' where status = 'active'`;
  return reply;
}

const refundOf = (id: string) => `/payments/${id}/refund`;

/** No other call uses a buy link there. */
const client = newNetwork();

const buy = (product: string, { headers, ...call }: Call = {}, from = 77): Promise<Reply> =>
  send('POST', `/buy-links/${product}/checkout`, {
    ...call,
    headers: { ...headers, 'x-forwarded-for': client(from) },
  });

const ROUTES: Record<string, Refusals> = {
  'get /payments': {
    ...keyless('GET', () => '/payments'),
    invalid_request: () => send('GET', '/payments?limit=201'),
  },
  'get /payments/{id}': {
    ...keyless('GET', () => `/payments/${paid}`),
    not_found: () => send('GET', '/payments/x'),
  },
  'get /payments/{id}/refunds': {
    ...keyless('GET', () => `/payments/${paid}/refunds`),
    invalid_request: () => send('GET', `/payments/${paid}/refunds?offset=x`),
    not_found: () => send('GET', '/payments/x/refunds'),
  },
  'get /refunds/{id}': {
    ...keyless('GET', () => `/refunds/${refunded}`),
    not_found: () => send('GET', '/refunds/x'),
  },
  'post /payments/{id}/refund': {
    ...keyless('POST', () => refundOf(paid)),
    ...bodiless((call) => send('POST', refundOf(paid), call)),
    not_found: () => shop.refund('x'),
    validation_error: () => shop.refund(paid, { amount: '100.01' }),
    idempotency_in_progress: () => Promise.resolve(busy.refund),
    idempotency_key_reused: () => shop.refundWithKey('busy', paid, { amount: '2' }),
    rate_limited: () => untilLimited(() => shop.refund(paid, { amount: '0.01' })),
  },
  'get /checkouts': {
    ...keyless('GET', () => '/checkouts'),
    invalid_request: () => send('GET', '/checkouts?status=x'),
  },
  'get /checkouts/{id}': {
    ...keyless('GET', () => `/checkouts/${checkout}`),
    not_found: () => send('GET', '/checkouts/x'),
  },
  'post /checkouts/{id}/expire': {
    ...keyless('POST', () => `/checkouts/${checkout}/expire`),
    ...bodiless((call) => send('POST', `/checkouts/${checkout}/expire`, call)),
    not_found: () => send('POST', '/checkouts/x/expire'),
    invalid_state: () => send('POST', `/checkouts/${checkout}/expire`),
    idempotency_in_progress: () => Promise.resolve(busy.expire),
    idempotency_key_reused: async () => {
      const [one, two] = [await shop.checkout(), await shop.checkout()];
      await send('POST', `/checkouts/${one.id}/expire`, withKey('expire'));
      return send('POST', `/checkouts/${two.id}/expire`, withKey('expire'));
    },
  },
  'post /checkouts': {
    ...keyless('POST', () => '/checkouts'),
    ...bodiless((call) => send('POST', '/checkouts', call)),
    not_found: () => send('POST', '/checkouts', open({ product_id: paid })),
    checkout_create_failed: () => send('POST', '/checkouts', open({ discount_code: 'NONE' })),
    conflict: () => whileFull(() => send('POST', '/checkouts', open())),
    idempotency_in_progress: () => Promise.resolve(busy.create),
  },
  'post /buy-links/{product_id}/checkout': {
    ...bodiless((call) => buy(shop.productId, call)),
    not_found: () => buy('nothing'),
    conflict: () => whileFull((count) => buy(shop.productId, {}, 100 + count)),
    checkout_create_failed: () => buy(shop.productId, { body: { discount_code: 'NONE' } }),
    rate_limited: () => untilLimited(() => buy(shop.productId)),
  },
};

const NAMES = [...Object.keys(ROUTES), ...SUBSCRIPTION_ROUTES];

type Operation = { readonly responses: Record<string, { readonly description: string }> };

async function documented(): Promise<Record<string, Record<string, Operation>>> {
  return (await send('GET', '/openapi.json', { key: null })).json.paths;
}

/** The codes by which the document says a route may refuse. */
function codesOf({ responses }: Operation): string[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { description }]) =>
      [...description.matchAll(/`(\w+)`/g)].map(([, code]) => code ?? ''),
    )
    .filter((code) => !ALWAYS.has(code));
}

test("the contract's routes of money are all that the OpenAPI document has", async () => {
  const names = Object.entries(await documented())
    .filter(([path]) =>
      /^\/(?:payments|refunds|checkouts|buy-links\/[^/]+\/checkout|subscriptions)/.test(path),
    )
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
  expect(new Set(names)).toEqual(new Set(NAMES));
});

test.each(NAMES)('%s refuses as the contract says', async (name) => {
  const [method = '', path = ''] = name.split(' ');
  const operation = (await documented())[path]?.[method];
  const refusals = Object.entries({ ...ROUTES, ...ofSubscriptions }[name] ?? {});
  expect(new Set(refusals.map(([code]) => code))).toEqual(new Set(codesOf(operation!)));
  for (const [code, provoke] of refusals) {
    const { status, json, headers } = await provoke();
    expect([code, status, json.error.type]).toEqual([code, statusOf(code), code]);
    expect(typeof json.error.message).toBe('string');
    // Issues come with an invalid request, and with nothing else.
    expect([code, Array.isArray(json.error.issues)]).toEqual([code, code === 'invalid_request']);
    expect(headers.get('x-request-id')).toBeTruthy();
  }
});

function statusOf(code: string): number | undefined {
  return Object.entries(STATUS_OF).find(([name]) => name === code)?.[1];
}

// prettier-ignore
const CONTRACT: [code: string, status: number][] = [
  ['unauthorized', 401], ['not_found', 404], ['invalid_request', 400], ['checkout_create_failed', 400],
  ['validation_error', 400], ['rate_limited', 429],
];
test.each(CONTRACT)("the contract's refusal %s occurs, and is %d", (code, status) => {
  expect(statusOf(code)).toBe(status);
  expect(Object.values(ROUTES).some((refusals) => code in refusals)).toBe(true);
});
