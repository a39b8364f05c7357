// A customer with a subscription and a portal token: the start of the portal tests.
import { must } from '../../../ledger/kernel/assert.ts';
import type { Call, Reply, TestServer } from '../../support/server.ts';
import { IS_STRIPE, payThere, stripeOf } from '../../support/stripe-side.ts';

export const GOOD = '4242424242424242';
export const DECLINED = '4000000000000002';
export const CHALLENGED = '4000002760003184';
/** It is verified, and fails when it is charged later. */
export const FAILS_LATER = '4000000000000341';

export const UNKNOWN = '01890000-0000-7000-8000-000000000000';

export type Portal = {
  readonly customer: string;
  readonly token: string;
  readonly tokenId: string;
  /** JSON, as the merchant's backend sends it. */
  post(action: string, body: unknown, call?: Call): Promise<Reply>;
  get(path?: string): Promise<Reply>;
  /** A form, as the page sends it. The target is in the answer's headers. */
  submit(path: string, fields: Record<string, string>): Promise<Reply>;
  /** Through the form of the page. */
  saveCard(number: string): Promise<Reply>;
};

export async function openPortal(server: TestServer, fields: object = {}): Promise<Portal> {
  const { id: customer } = await made(server, '/customers', fields);
  return portalOf(server, customer);
}

/** Another token of the same customer. */
export async function portalOf(
  server: TestServer,
  customer: string,
  body: object = {},
): Promise<Portal> {
  const { token, id: tokenId } = await made(server, `/customers/${customer}/portal-tokens`, body);
  return portalBy(server, { customer, token, tokenId });
}

/** By a token that is there. */
export function portalBy(
  server: TestServer,
  { customer, token, tokenId }: Pick<Portal, 'customer' | 'token' | 'tokenId'>,
): Portal {
  const path = (rest: string) => `/portal/${token}${rest === '' ? '' : `/${rest}`}`;
  const submit = (to: string, form: Record<string, string>) =>
    followed(server, path(to), new URLSearchParams(form));
  return {
    customer,
    token,
    tokenId,
    post: (action, json, call = {}) =>
      server.call('POST', path(action), { key: null, body: json, ...call }),
    get: (rest = '') => server.call('GET', path(rest), { key: null }),
    submit,
    saveCard: async (number) => {
      const { text } = await server.call('GET', path('payment-method'), { key: null });
      const attempt = must(/name="attempt" value="([^"]+)"/.exec(text)?.[1], 'an attempt');
      const card = { card_number: number, card_expiry: '12/34', card_cvc: '123' };
      const form = { attempt, ...(!IS_STRIPE && { payment_method: 'card', ...card }) };
      const reply = await submit('payment-method', form);
      const there = reply.headers.get('location') ?? '';
      if (stripeOf(there) === null) return reply;
      await payThere(there, { number, expiry: '12/34', cvc: '123' });
      return followed(server, `${path('payment-method')}?attempt=${attempt}`, null);
    },
  };
}

/** `raw`: the form; null only reads. */
async function followed(
  server: TestServer,
  path: string,
  raw: URLSearchParams | null,
): Promise<Reply> {
  const response = await fetch(`${server.url}${path}`, {
    ...(raw !== null && { method: 'POST', body: raw }),
    redirect: 'manual',
  });
  const { status, headers } = response;
  return { status, headers, text: await response.text(), json: undefined };
}

/** For a product of its own: its id and the product's. */
export async function subscribe(
  server: TestServer,
  customer: string,
  { trial_days = 0, ...price }: { readonly trial_days?: number; readonly amount?: string } = {},
): Promise<{ readonly id: string; readonly product: string }> {
  const recurring = { amount: '12', currency: 'EUR', interval: 'month', ...price };
  const product = await made(server, '/products', { name: 'Atlas Pro', prices: [recurring] });
  const body = { customer_id: customer, product_id: product.id, trial_days };
  const { id } = await made(server, '/subscriptions', body);
  return { id, product: product.id };
}

export async function made(
  server: TestServer,
  path: string,
  body: object,
): Promise<ReturnType<typeof JSON.parse>> {
  const { status, json, text } = await server.call('POST', path, { body });
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
  return json;
}
