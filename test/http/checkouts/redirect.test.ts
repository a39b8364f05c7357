// Where Stripe asks for the card: the checkout leads there and back, and one charge is made
// whatever comes in between.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import {
  hiddenOf,
  linkOf,
  openStripe,
  said,
  type Stripe,
  Visitor,
} from '../../support/at-stripe.ts';
import type { ServerOptions } from '../../support/server.ts';
import { NUMBERS } from '../../support/means.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

const SHOP = 'https://shop.example';
const { good: GOOD, declined: DECLINED, iban: IBAN, ibanFails: IBAN_FAILS } = NUMBERS;

let stripe: Stripe;
beforeAll(async () => {
  stripe = await openStripe();
});
afterAll(() => stripe.close());

type Fields = Readonly<Record<string, unknown>>;
type Opened = { readonly id: string; readonly url: string };

async function made(path: string, body: Fields): Promise<ReturnType<typeof JSON.parse>> {
  const { status, json, text } = await stripe.server.call('POST', path, { body });
  expect([path, status, text]).toEqual([path, 201, text]);
  return json;
}

const EUROS = { amount: '48', currency: 'EUR' };

async function checkout({ prices = [EUROS], ...fields }: Fields = {}): Promise<Opened> {
  const product = await made('/products', { name: 'Field guide', prices });
  const body = { product_id: product.id, customer_email: 'ada@example.com', ...fields };
  return made('/checkouts', { success_url: `${SHOP}/thanks`, ...body });
}

const read = async (path: string) => (await stripe.server.call('GET', path)).json;
const paymentsOf = async ({ id }: Opened) => (await read(`/payments?checkout_id=${id}`)).data;
const lastOf = async (opened: Opened) => (await paymentsOf(opened))[0];
const statusOf = async ({ id }: Opened) => (await read(`/checkouts/${id}`)).status;
const becomes = (status: string, opened: Opened) =>
  until(`a checkout is ${status}`, async () => (await statusOf(opened)) === status);
const thanks = ({ id }: Opened) => `${SHOP}/thanks?status=paid&payment_link_id=${id}`;
const discount = (fields: Fields) => made('/discounts', { percent_off: 50, ...fields });

/** Sends the form; the buyer is at Stripe then. */
async function leave(
  { url }: Opened,
  fields: Record<string, string> = {},
  visitor = new Visitor(),
): Promise<{ page: string; visitor: Visitor }> {
  const sent = await visitor.submit(url, { currency: 'EUR', ...fields });
  expect([sent.status, sent.location]).toEqual([303, sent.location]);
  return { page: must(sent.location, 'a page'), visitor };
}

const pays = (page: string, typed: string) => stripe.fake.buyer.pays(page, typed);
const sessionAt = (page: string) =>
  must(
    stripe.fake.books(stripe.account.id, 'test').sessions.find(({ id }) => page.endsWith(id)),
    'a session',
  );

/** The charges of a checkout that Stripe has made or may still make. */
async function chargesOf(opened: Opened): Promise<string[]> {
  const keys = new Set((await paymentsOf(opened)).map(({ id }: { id: string }) => id));
  const { intents } = stripe.fake.books(stripe.account.id, 'test');
  return intents
    .filter(({ metadata, status }) => keys.has(metadata['key']) && status !== 'canceled')
    .map(({ status }) => status);
}

/** A test with a server and an account of its own. */
function over(options: ServerOptions, run: () => Promise<void>): () => Promise<void> {
  return async () => {
    const shared = stripe;
    stripe = await openStripe(options);
    try {
      await run();
    } finally {
      await stripe.close();
      stripe = shared;
    }
  };
}

async function giveUp({ url }: Opened, visitor: Visitor): Promise<void> {
  const attempt = hiddenOf(await visitor.get(url), 'attempt');
  const given = await visitor.submit(url, { action: 'give_up', attempt });
  expect([given.status, given.location]).toEqual([303, `${url}?`]);
}

test('the form of a redirect checkout asks for no card, says where it leads, and may lead there alone', async () => {
  const opened = await checkout({ success_url: null });
  const page = await new Visitor().get(opened.url);
  expect(page.text).not.toContain('card_number');
  expect(said(page)).toContain(
    'You enter your card or your bank account on the next page, at Stripe . €48.00 is charged when you have confirmed it there.',
  );
  expect(page.text).toContain('Continue to payment');
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain(`form-action 'self' ${stripe.fake.url};`);
});

test('a buyer who paid at Stripe and is back at once is sent on, before any webhook', async () => {
  const opened = await checkout();
  const { page, visitor } = await leave(opened);
  expect(page).toStartWith(`${stripe.fake.url}/c/pay/cs_test_`);
  expect(await lastOf(opened)).toMatchObject({ status: 'requires_action', payment_method: null });
  expect(sessionAt(page)).toMatchObject({ success_url: opened.url, cancel_url: opened.url });
  expect(await pays(page, GOOD)).toBe('paid');
  expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
  expect(await lastOf(opened)).toMatchObject({
    status: 'succeeded',
    amount: '48.00',
    payment_method: { type: 'card', brand: 'visa', last4: '4242' },
  });
  // Whoever comes later reads that it is paid, this buyer too.
  expect(said(await visitor.get(opened.url))).toContain('Paid. Thank you!');
  expect(await chargesOf(opened)).toEqual(['succeeded']);
});

test('a buyer who is back after the payment was settled is sent on', async () => {
  const opened = await checkout();
  const { page, visitor } = await leave(opened);
  await pays(page, GOOD);
  await stripe.server.payments.refresh((await lastOf(opened)).id);
  expect(await statusOf(opened)).toBe('paid');
  expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
});

// These two wait: for an answer of Stripe's, and for an alarm.
test.concurrent('a buyer who is back while a webhook is processed sees its outcome on the page', async () => {
  const opened = await checkout();
  const { page, visitor } = await leave(opened);
  await pays(page, GOOD);
  const { id } = await lastOf(opened);
  const isRead = ({ method, path }: { method: string; path: string }) =>
    method === 'GET' && path.endsWith(sessionAt(page).id);
  const readsBefore = stripe.fake.requests().filter(isRead).length;
  stripe.fake.next({ method: 'GET', path: new RegExp(sessionAt(page).id) }, { hangMs: 1000 });
  const following = stripe.server.payments.refresh(id);
  await until('Stripe is asked', () => stripe.fake.requests().filter(isRead).length > readsBefore);
  expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
  await following;
});

test.concurrent('a buyer who pays at Stripe and closes the tab has paid', async () => {
  const opened = await checkout();
  const { page } = await leave(opened);
  await pays(page, NUMBERS.challenge);
  await becomes('paid', opened);
  expect(await chargesOf(opened)).toEqual(['succeeded']);
});

test(
  'a checkout whose buyer never pays at Stripe is given up in time, and can be paid then',
  over({ alone: true, actorsMax: 1 }, async () => {
    const opened = await checkout();
    const { page, visitor } = await leave(opened);
    const { id } = await lastOf(opened);
    // A payment that is not used soon is evicted: then the database decides.
    for (let other = 0; other < 3; other += 1) await leave(await checkout());
    await stripe.server.sql`
    update payments set created_at = created_at - interval '30 min' where id = ${id}`;
    await stripe.server.payments.refresh(id);
    await becomes('active', opened);
    expect(await lastOf(opened)).toMatchObject({
      status: 'canceled',
      failure_code: 'authentication_abandoned',
    });
    expect(sessionAt(page).status).toBe('expired');
    expect(await pays(page, GOOD)).toBe('closed');
    expect(said(await visitor.get(opened.url))).toContain('The payment was not confirmed in time.');
    const again = await leave(opened);
    await pays(again.page, GOOD);
    expect((await again.visitor.get(opened.url)).location).toBe(thanks(opened));
    expect(await chargesOf(opened)).toEqual(['succeeded']);
  }),
);

test(
  'a buyer who agreed in time has paid, though Stripe was away until the time was over',
  over({ alone: true, actorsMax: 1 }, async () => {
    const opened = await checkout();
    const { page } = await leave(opened);
    const { id } = await lastOf(opened);
    for (let other = 0; other < 3; other += 1) await leave(await checkout());
    stripe.fake.away(true);
    try {
      expect(await pays(page, GOOD)).toBe('paid');
      await stripe.server.sql`
        update payments set created_at = created_at - interval '30 min' where id = ${id}`;
    } finally {
      stripe.fake.away(false);
    }
    await stripe.server.payments.refresh(id);
    await becomes('paid', opened);
    expect(await chargesOf(opened)).toEqual(['succeeded']);
  }),
);

describe('a buyer back from Stripe without having paid', () => {
  test('goes on at the same page of Stripe', async () => {
    const opened = await checkout({ cancel_url: `${SHOP}/cart` });
    const { page, visitor } = await leave(opened);
    const back = await visitor.get(opened.url);
    expect(said(back)).toContain('Your payment is not finished You pay on the page of Stripe');
    expect(linkOf(back, 'Continue to payment')).toBe(page);
    expect(linkOf(back, 'Back to One')).toBe(`${SHOP}/cart`);
    expect(back.headers.get('refresh')).toBe('5');
    expect(back.headers.get('content-security-policy')).toContain(`form-action 'self' https:;`);
    await pays(page, GOOD);
    expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
  });

  test('may change the order, and pays that alone', async () => {
    const opened = await checkout({ prices: [EUROS, { amount: '50', currency: 'USD' }] });
    const { page, visitor } = await leave(opened);
    await giveUp(opened, visitor);
    const form = await visitor.get(opened.url);
    expect(form.text).toContain('Continue to payment');
    expect(form.text).not.toContain('role="alert"');
    expect(await lastOf(opened)).toMatchObject({ status: 'canceled', failure_code: 'canceled' });
    expect(await pays(page, GOOD)).toBe('closed');
    const next = await leave(opened, { currency: 'USD' }, visitor);
    await pays(next.page, GOOD);
    expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
    expect(await lastOf(opened)).toMatchObject({ status: 'succeeded', currency: 'USD' });
    expect(await chargesOf(opened)).toEqual(['succeeded']);
  });

  test('sees why, where the card was declined there and the attempt given up', async () => {
    const opened = await checkout();
    const { page, visitor } = await leave(opened);
    expect(await pays(page, DECLINED)).toBe('declined');
    // Another card can be tried there.
    expect(linkOf(await visitor.get(opened.url), 'Continue to payment')).toBe(page);
    await giveUp(opened, visitor);
    expect(said(await visitor.get(opened.url))).toContain(
      'The payment did not go through Your card was declined.',
    );
    expect(await lastOf(opened)).toMatchObject({
      status: 'failed',
      failure_code: 'card_declined',
    });
    expect(await chargesOf(opened)).toEqual([]);
  });

  test('pays with another card after one was declined there', async () => {
    const opened = await checkout();
    const { page, visitor } = await leave(opened);
    expect(await pays(page, DECLINED)).toBe('declined');
    expect(await pays(page, GOOD)).toBe('paid');
    expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
    expect(await chargesOf(opened)).toEqual(['succeeded']);
  });
});

describe('two tabs of one checkout', () => {
  test('that pay at the same moment have one page of Stripe', async () => {
    const opened = await checkout();
    const visitors = [new Visitor(), new Visitor(), new Visitor()];
    const sent = await Promise.all(
      visitors.map((visitor) => visitor.submit(opened.url, { currency: 'EUR' })),
    );
    const led = sent.map(({ location }) => location).filter((to) => to !== `${opened.url}?`);
    expect(led).toHaveLength(1);
    const page = must(led[0], 'a page');
    for (const visitor of visitors) {
      expect(linkOf(await visitor.get(opened.url), 'Continue to payment')).toBe(page);
    }
    await pays(page, GOOD);
    for (const visitor of visitors) {
      expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
    }
    expect(await chargesOf(opened)).toEqual(['succeeded']);
  });

  test('one gives up what the other has begun anew: the newer attempt stays', async () => {
    const opened = await checkout();
    const { visitor } = await leave(opened);
    const attempt = hiddenOf(await visitor.get(opened.url), 'attempt');
    await giveUp(opened, visitor);
    const { page } = await leave(opened);
    await visitor.submit(opened.url, { action: 'give_up', attempt });
    await visitor.submit(opened.url, { action: 'give_up' });
    expect(sessionAt(page).status).toBe('open');
    expect(linkOf(await visitor.get(opened.url), 'Continue to payment')).toBe(page);
    await pays(page, GOOD);
    expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
  });

  test('one pays while the other gives up: one charge, or none and it is open again', async () => {
    for (let round = 0; round < 5; round += 1) {
      const opened = await checkout();
      const { page, visitor } = await leave(opened);
      const other = new Visitor();
      const attempt = hiddenOf(await other.get(opened.url), 'attempt');
      await Promise.all([
        pays(page, GOOD).then(() => visitor.get(opened.url)),
        other.submit(opened.url, { action: 'give_up', attempt }),
      ]);
      await until('it is decided', async () => (await statusOf(opened)) !== 'processing');
      const isPaid = (await statusOf(opened)) === 'paid';
      expect(await chargesOf(opened)).toEqual(isPaid ? ['succeeded'] : []);
    }
  });
});

describe('an order that the buyer agreed to before going to Stripe', () => {
  test('charges nothing where its discount is used up meanwhile, and shows the new total', async () => {
    await discount({ code: 'ONCE', max_redemptions: 1 });
    const opened = await checkout({ discount_code: 'ONCE' });
    const { page, visitor } = await leave(opened, { discount_code: 'ONCE' });
    // A bank debit could not be called off.
    expect(sessionAt(page).payment_method_types).toEqual(['card']);
    const rival = await checkout({ discount_code: 'ONCE' });
    const sooner = await leave(rival, { discount_code: 'ONCE' });
    await pays(sooner.page, GOOD);
    expect((await sooner.visitor.get(rival.url)).location).toBe(thanks(rival));
    await pays(page, GOOD);
    const told = said(await visitor.get(opened.url));
    expect(told).toContain('The discount code has been used up meanwhile. Nothing was charged.');
    expect(told).toContain('€48.00');
    expect(await chargesOf(opened)).toEqual([]);
  });

  test('saves no card where its discount is used up meanwhile and nothing is due today', async () => {
    await discount({ code: 'FREE', percent_off: 100, max_redemptions: 1 });
    const prices = [{ ...EUROS, interval: 'month' }];
    const both = [];
    for (const code of ['FREE', 'FREE']) {
      const opened = await checkout({ prices, discount_code: code });
      both.push({ opened, ...(await leave(opened, { discount_code: code })) });
    }
    for (const { page } of both) expect(await pays(page, GOOD)).toBe('paid');
    const [first, second] = both.map(
      ({ opened, visitor }) =>
        () =>
          visitor.get(opened.url),
    );
    expect((await first!()).location).toBe(thanks(both[0]!.opened));
    expect(said(await second!())).toContain('The discount code has been used up meanwhile.');
    expect(await statusOf(both[1]!.opened)).toBe('active');
  });

  test('keeps its price where the merchant replaces that meanwhile', async () => {
    const product = await made('/products', { name: 'Guide', prices: [EUROS] });
    const opened = await checkout({ product_id: product.id });
    const { page, visitor } = await leave(opened);
    await stripe.server.call('PATCH', `/products/${product.id}`, { body: { status: 'archived' } });
    await pays(page, GOOD);
    expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
    expect(await lastOf(opened)).toMatchObject({ status: 'succeeded', amount: '48.00' });
  });

  test('a checkout whose order costs nothing leads nowhere', async () => {
    await discount({ code: 'GIFT', percent_off: 100 });
    const opened = await checkout({ discount_code: 'GIFT' });
    const page = await new Visitor().get(opened.url);
    expect(page.text).toContain('Complete order');
    expect(said(page)).not.toContain('Stripe');
    const asked = stripe.fake.requests().length;
    const { page: next } = await leave(opened, { discount_code: 'GIFT' });
    expect(next).toBe(thanks(opened));
    expect(stripe.fake.requests().length).toBe(asked);
  });

  test('a checkout of a trial at Stripe saves a card, and charges nothing', async () => {
    const opened = await checkout({
      prices: [{ ...EUROS, interval: 'month', trial_days: 14 }],
    });
    expect(said(await new Visitor().get(opened.url))).toContain('Nothing is charged today.');
    const { page, visitor } = await leave(opened);
    expect(sessionAt(page).mode).toBe('setup');
    await pays(page, GOOD);
    expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
    const { subscription_id: id } = await lastOf(opened);
    expect(await read(`/subscriptions/${id}`)).toMatchObject({ status: 'active' });
    const [kept] = await stripe.server.sql`
      select processor, last4 from payment_methods where subscription_id = ${id}`;
    expect(kept).toEqual({ processor: `stripe:${stripe.account.id}`, last4: '4242' });
    expect(await chargesOf(opened)).toEqual([]);
  });
});

test.each([
  [IBAN, 'paid', ''],
  [IBAN_FAILS, 'active', 'The payment did not go through'],
])('a checkout paid by bank debit at Stripe is waited for: %s', async (iban, status, told) => {
  const opened = await checkout();
  const { page, visitor } = await leave(opened);
  expect(await pays(page, iban)).toBe('processing');
  expect(said(await visitor.get(opened.url))).toContain('Your bank is processing it');
  stripe.fake.settle();
  const back = await visitor.get(opened.url);
  expect(await statusOf(opened)).toBe(status);
  if (status === 'paid') expect(back.location).toBe(thanks(opened));
  else expect(said(back)).toContain(told);
});

test('a checkout in a frame opens Stripe in another tab, and the frame learns the outcome', async () => {
  const opened = await checkout();
  const framed = `${opened.url}?embed=1`;
  const frame = new Visitor();
  const sent = await frame.submit(framed, { currency: 'EUR' });
  expect([sent.status, sent.location]).toEqual([303, framed]);
  expect(sent.headers.get('set-cookie')).toBeNull();
  const shown = await frame.get(framed);
  expect(said(shown)).toContain('Pay in another tab');
  expect(shown.text).toMatch(/href="[^"]+\/c\/pay\/cs_test_[^"]+"\s+target="_blank"/);
  expect(shown.headers.get('content-security-policy')).toContain(`frame-ancestors ${SHOP}`);
  const page = must(linkOf(shown, 'Continue to payment'), 'a page');
  expect(sessionAt(page).success_url).toBe(opened.url);
  await pays(page, GOOD);
  expect(said(await new Visitor().get(opened.url))).toContain('Paid. Thank you!');
  expect((await frame.get(framed)).text).toContain('data-state="paid"');
});

test('a checkout in a frame is given up in the tab at Stripe, too', async () => {
  const opened = await checkout();
  const framed = `${opened.url}?embed=1`;
  const frame = new Visitor();
  await frame.submit(framed, { currency: 'EUR' });
  const attempt = hiddenOf(await frame.get(framed), 'attempt');
  const given = await frame.submit(framed, { action: 'give_up', attempt });
  expect(given.location).toBe(framed);
  expect((await frame.get(framed)).text).toContain('data-state="open"');
});

test(
  'a checkout begun at one Stripe account is finished there after another was connected',
  over({}, async () => {
    const opened = await checkout();
    const { page, visitor } = await leave(opened);
    const second = await stripe.connect();
    await pays(page, GOOD);
    expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
    expect(await chargesOf(opened)).toEqual(['succeeded']);
    const next = await checkout();
    const other = await leave(next);
    expect(stripe.fake.books(second.id, 'test').sessions).toHaveLength(1);
    // Also where nothing takes what is new any more.
    await stripe.server.call('DELETE', '/organization/processor');
    expect(linkOf(await other.visitor.get(next.url), 'Continue to payment')).toBe(other.page);
    await giveUp(next, other.visitor);
    expect(await statusOf(next)).toBe('active');
  }),
);

test('a checkout whose redirect gets no answer from Stripe waits, opens again, and charges nothing', async () => {
  const opened = await checkout();
  stripe.fake.next({ method: 'POST', path: /\/checkout\/sessions$/ }, 'lose_answer');
  const visitor = new Visitor();
  const sent = await visitor.submit(opened.url, { currency: 'EUR' });
  expect([sent.status, sent.location]).toEqual([303, `${opened.url}?`]);
  expect(said(await visitor.get(opened.url))).toContain('Your payment is under way');
  await becomes('active', opened);
  expect(await chargesOf(opened)).toEqual([]);
  const { page } = await leave(opened, {}, visitor);
  await pays(page, GOOD);
  expect((await visitor.get(opened.url)).location).toBe(thanks(opened));
});
