// Buyers who pay on the page of the fake of Stripe, whatever is killed meanwhile: whoever loses our
// page opens it again and goes on from there.
import type { StripeFake } from '../processors/stripe/fake.ts';
import { NUMBERS } from '../support/means.ts';
import { ask, type Seller, type Session, sessionOf } from '../support/shop.ts';
import type { Persistent } from './persistent.ts';

const LOOK_MS = 100;

/** A checkout for the product. The name is the key: to ask again makes no other. */
export function openCheckout(
  calls: Persistent,
  { productId, name }: { readonly productId: string; readonly name: string },
): Promise<Session> {
  const buyer = { customer_email: `${name}@example.com`, external_customer_id: name };
  const body = JSON.stringify({ product_id: productId, currency: 'USD', ...buyer });
  return calls.again(async ({ url, key }) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': name,
    };
    return sessionOf(
      await (await fetch(`${url}/checkouts`, { method: 'POST', headers, body })).json(),
    );
  });
}

/** Resolves when the checkout is paid. With `declinedFirst`, a bad card is tried and given up. */
export async function payUntilPaid(
  calls: Persistent,
  fake: StripeFake,
  { session, declinedFirst }: { readonly session: Session; readonly declinedFirst: boolean },
): Promise<void> {
  const cards = declinedFirst ? [NUMBERS.declined, NUMBERS.good] : [NUMBERS.good];
  const look = (): Promise<{ readonly status: string }> =>
    calls.again((seller) => ask(seller, 'GET', `/checkouts/${session.id}`));
  for (let { status } = await look(); status !== 'paid'; { status } = await look()) {
    const page = `${await calls.again(({ url }) => Promise.resolve(url))}/pay/${session.token}`;
    const card = cards[0] ?? NUMBERS.good;
    // Whoever gets no answer looks at the page again.
    const tried = await tryOnce(fake, { page, status, card }).catch(() => false);
    if (tried && cards.length > 1) cards.shift();
    await Bun.sleep(LOOK_MS);
  }
}

/** Whether the card was tried on Stripe's page. A bad one is given up on ours. */
async function tryOnce(
  fake: StripeFake,
  { page, status, card }: { readonly page: string; readonly status: string; readonly card: string },
): Promise<boolean> {
  if (status === 'active') await post(page, {});
  const html = await (await fetch(page, { redirect: 'manual' })).text();
  const there = /href="(http[^"]*\/c\/pay\/[^"]+)"/.exec(html)?.[1];
  if (there === undefined) return false;
  await fake.buyer.pays(there, card);
  const attempt = /name="attempt" value="([^"]+)"/.exec(html)?.[1];
  if (card === NUMBERS.declined && attempt !== undefined) {
    await post(page, { action: 'give_up', attempt });
  }
  await fetch(page, { redirect: 'manual' });
  return true;
}

async function post(page: string, form: Record<string, string>): Promise<void> {
  const reply = await fetch(page, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  await reply.text();
}

/** Asks for it under one key until it is answered; its id. */
export function refundUntilTaken(
  calls: Persistent,
  {
    paymentId,
    amount,
    name,
  }: { readonly paymentId: string; readonly amount: string; readonly name: string },
): Promise<string> {
  return calls.again(async ({ url, key }: Seller) => {
    const reply = await fetch(`${url}/payments/${paymentId}/refund`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': name,
      },
      body: JSON.stringify({ amount }),
    });
    const text = await reply.text();
    if (reply.status !== 200) throw new Error(`${reply.status} ${text}`);
    return (JSON.parse(text) as { id: string }).id;
  });
}
