// A product for sale and its buyers, all over HTTP: what a test needs before there is a payment to
// look at.
import { must } from '../../ledger/kernel/assert.ts';
import { type Means, NUMBERS } from './means.ts';
import { IS_STRIPE, payThere, stripeOf } from './stripe-side.ts';

/** A service, and the key of an organisation there. */
export type Seller = { readonly url: string; readonly key: string };

export const BUYER = 'buyer@example.com';

/** A checkout for a buyer. */
export type Session = { readonly id: string; readonly token: string };

/** Its id; prices by currency. */
export async function sell(
  seller: Seller,
  prices: Readonly<Record<string, string>>,
): Promise<string> {
  const all = Object.entries(prices).map(([currency, amount]) => ({ currency, amount }));
  return (await ask(seller, 'POST', '/products', { name: 'Widget', prices: all })).id;
}

async function openCheckout(seller: Seller, body: object): Promise<Session> {
  const asked = { customer_email: BUYER, currency: 'USD', ...body };
  return sessionOf(await ask(seller, 'POST', '/checkouts', asked));
}

export function sessionOf({ id, url }: ReturnType<typeof JSON.parse>): Session {
  return { id, token: (url as string).split('/').at(-1) ?? '' };
}

/**
 * Sends the form of the hosted page, and pays on Stripe's where that is next. Returns where it
 * redirects.
 */
export async function submit(url: string, { token }: Session, means: Means): Promise<string> {
  const page = `${url}/pay/${token}`;
  const { location, cookie } = await post(page, formOf(NUMBERS[means]));
  if (stripeOf(location) === null) return location;
  const isDone = await payThere(location, means);
  const headers = { cookie };
  const response = await fetch(page, { headers, redirect: 'manual' });
  const text = await response.text();
  if (isDone) return response.headers.get('location') ?? '?';
  // Declined there, the buyer wants to begin anew.
  const attempt = must(/name="attempt" value="([^"]+)"/.exec(text)?.[1], 'an attempt to give up');
  return (await post(page, { action: 'give_up', attempt })).location;
}

function formOf(number: string): Record<string, string> {
  if (IS_STRIPE) return {};
  return number.startsWith('DE')
    ? { payment_method: 'bank_debit', iban: number }
    : { payment_method: 'card', card_number: number, card_expiry: '12/34', card_cvc: '123' };
}

async function post(
  page: string,
  form: Record<string, string>,
): Promise<{ readonly location: string; readonly cookie: string }> {
  const body = new URLSearchParams(form);
  const response = await fetch(page, { method: 'POST', body, redirect: 'manual' });
  const text = await response.text();
  const location = response.headers.get('location');
  if (location === null) throw new Error(`${response.status} ${text}`);
  return { location, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

/**
 * A checkout of its own that is tried with each of the payment methods in turn. Returns the last
 * payment.
 */
export async function buy(
  seller: Seller,
  { means, ...body }: { readonly means: readonly Means[]; readonly product_id: string } & object,
): Promise<string> {
  const checkout = await openCheckout(seller, body);
  for (const one of means) await submit(seller.url, checkout, one);
  const payments = await ask(seller, 'GET', `/payments?checkout_id=${checkout.id}`);
  return must((payments.data as { id: string }[])[0], 'a payment').id;
}

/** @throws where it is refused */
export async function ask(
  { url, key }: Seller,
  method: string,
  path: string,
  body?: object,
): Promise<ReturnType<typeof JSON.parse>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
