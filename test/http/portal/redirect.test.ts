// Where Stripe asks for the card: the portal leads there and back, and keeps what was saved.
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
import { NUMBERS } from '../../support/means.ts';
import { until } from '../../support/until.ts';
import { openPortal, subscribe } from './customer.ts';

setDefaultTimeout(60_000);

const { good: GOOD, declined: DECLINED, iban: IBAN } = NUMBERS;

let stripe: Stripe;
beforeAll(async () => {
  stripe = await openStripe();
});
afterAll(() => stripe.close());

type Customer = { readonly customer: string; readonly home: string; readonly form: string };

async function customer(): Promise<Customer> {
  const { customer: id, token } = await openPortal(stripe.server);
  const home = `${stripe.server.url}/portal/${token}`;
  return { customer: id, home, form: `${home}/payment-method` };
}

/** Sends the form; the customer is at Stripe then. */
async function leave({ form }: Customer): Promise<{ page: string; back: string; attempt: string }> {
  const visitor = new Visitor();
  const attempt = hiddenOf(await visitor.get(form), 'attempt');
  const { status, location } = await visitor.submit(form, { attempt });
  expect([status, location]).toEqual([303, location]);
  return { page: must(location, 'a page'), back: `${form}?attempt=${attempt}`, attempt };
}

const visit = (url: string) => new Visitor().get(url);
const pays = (page: string, typed: string) => stripe.fake.buyer.pays(page, typed);
const sessionsOf = () => stripe.fake.books(stripe.account.id, 'test').sessions;
async function methodsOf({ customer: id }: Customer): Promise<unknown[]> {
  const rows = await stripe.server.sql`
    select processor, type, last4 from payment_methods where customer_id = ${id} order by created_at`;
  return rows.map((row) => ({ ...row }));
}

/** Ends the page, as its time does. */
async function expire(page: string): Promise<void> {
  const id = must(page.split('/').at(-1), 'a session');
  const { status } = await fetch(`${stripe.fake.url}/v1/checkout/sessions/${id}/expire`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stripe.account.testKey}` },
  });
  expect(status).toBe(200);
}

test('a customer saves a card at Stripe from the portal, and what is overdue is paid', async () => {
  const one = await customer();
  const { id } = await subscribe(stripe.server, one.customer);
  const home = await visit(one.home);
  expect(linkOf(home, 'Add a payment method')).toEndWith('/payment-method');
  const form = await visit(one.form);
  expect(said(form)).toContain('You enter it on the next page, at Stripe .');
  expect(form.text).not.toContain('card_number');
  expect(form.headers.get('content-security-policy')).toContain(
    `form-action 'self' ${stripe.fake.url};`,
  );
  const { page, back } = await leave(one);
  expect(sessionsOf().find(({ id: of }) => page.endsWith(of))).toMatchObject({
    mode: 'setup',
    success_url: back,
    cancel_url: back,
  });
  expect(await pays(page, GOOD)).toBe('paid');
  const returned = await visit(back);
  expect([returned.status, returned.location]).toEqual([303, `${one.home}?done=method_replaced`]);
  expect(await methodsOf(one)).toEqual([
    { processor: `stripe:${stripe.account.id}`, type: 'card', last4: '4242' },
  ]);
  const state = async () => (await stripe.server.call('GET', `/subscriptions/${id}`)).json;
  await until('it is paid', async () => (await state()).overdue_state === 'clear');
  // To come back again saves nothing again.
  expect((await visit(back)).location).toBe(`${one.home}?done=method_replaced`);
  expect(await methodsOf(one)).toHaveLength(1);
});

test('a customer saves a bank account at Stripe from the portal', async () => {
  const one = await customer();
  await subscribe(stripe.server, one.customer);
  const { page, back } = await leave(one);
  await pays(page, IBAN);
  expect((await visit(back)).location).toBe(`${one.home}?done=method_replaced`);
  expect(await methodsOf(one)).toMatchObject([{ type: 'bank_debit', last4: '3000' }]);
});

describe('a customer back from Stripe without a card', () => {
  test('goes on at the same page of Stripe', async () => {
    const one = await customer();
    const { page, back } = await leave(one);
    const shown = await visit(back);
    expect([shown.status, said(shown)]).toEqual([200, expect.stringContaining('not finished at')]);
    expect(linkOf(shown, 'Continue to Stripe')).toBe(page);
    expect(await methodsOf(one)).toEqual([]);
    await pays(page, GOOD);
    expect((await visit(back)).location).toBe(`${one.home}?done=method_replaced`);
  });

  test('sees why in the form, where the card was declined and the page expired', async () => {
    const one = await customer();
    const { page, back } = await leave(one);
    expect(await pays(page, DECLINED)).toBe('declined');
    await expire(page);
    const shown = await visit(back);
    expect([shown.status, said(shown)]).toEqual([
      402,
      expect.stringContaining('Your card was declined.'),
    ]);
    expect(await methodsOf(one)).toEqual([]);
    const next = await leave(one);
    await pays(next.page, GOOD);
    expect((await visit(next.back)).location).toBe(`${one.home}?done=method_replaced`);
  });

  test('sees in the form that the page expired', async () => {
    const one = await customer();
    const { page, back } = await leave(one);
    await expire(page);
    const shown = await visit(back);
    expect([shown.status, said(shown)]).toEqual([
      402,
      expect.stringContaining('It was not finished in time. Nothing was changed: try again.'),
    ]);
  });
});

test('has one page of Stripe where the form was sent twice', async () => {
  const one = await customer();
  const attempt = hiddenOf(await visit(one.form), 'attempt');
  const before = sessionsOf().length;
  const sent = await Promise.all(
    [1, 2, 3].map(() => new Visitor().submit(one.form, { attempt: attempt.toUpperCase() })),
  );
  expect(sent.map(({ status }) => status)).toContain(303);
  const { location } = await new Visitor().submit(one.form, { attempt });
  const led = sent.flatMap((reply) => (reply.status === 303 ? [reply.location] : []));
  expect(new Set(led)).toEqual(new Set([location]));
  expect(sessionsOf().length).toBe(before + 1);
});

test("another customer's attempt saves no card, for either customer", async () => {
  const [one, other] = [await customer(), await customer()];
  const { page, attempt, back } = await leave(one);
  await pays(page, GOOD);
  const asked = stripe.fake.requests().length;
  const stolen = await visit(`${other.form}?attempt=${attempt}`);
  expect([stolen.status, said(stolen)]).toEqual([
    402,
    expect.stringContaining('Nothing was changed'),
  ]);
  expect(stripe.fake.requests().length).toBe(asked);
  expect([await methodsOf(one), await methodsOf(other)]).toEqual([[], []]);
  expect((await visit(back)).location).toBe(`${one.home}?done=method_replaced`);
  expect(await methodsOf(other)).toEqual([]);
});

test('a card form that gets no answer from Stripe changes nothing, and the same attempt resumes later', async () => {
  const one = await customer();
  const attempt = hiddenOf(await visit(one.form), 'attempt');
  stripe.fake.next({ method: 'POST', path: /\/checkout\/sessions$/ }, 'lose_request');
  const failed = await new Visitor().submit(one.form, { attempt });
  expect([failed.status, said(failed)]).toEqual([
    402,
    expect.stringContaining('It could not be saved now. Nothing was changed: try again.'),
  ]);
  const led: string[] = [];
  await until('Stripe answers', async () => {
    const { location } = await new Visitor().submit(one.form, { attempt });
    if (location !== null) led.push(location);
    return led.length > 0;
  });
  await pays(must(led[0], 'a page'), GOOD);
  expect((await visit(`${one.form}?attempt=${attempt}`)).status).toBe(303);
});

describe('a customer who saves a card at Stripe and never comes back', () => {
  /** What Stripe tells of it, and when all of it was followed. */
  async function told(pay: () => Promise<void>): Promise<void> {
    const { webhooks } = stripe.fake;
    webhooks.mode = 'hold';
    await pay();
    webhooks.mode = 'off';
    expect(webhooks.held().length).toBeGreaterThan(0);
    await webhooks.release('twice');
    await until('each hint is followed', async () => {
      const [open] = await stripe.server.sql`
        select event_id from processor_hints where settled_at is null limit 1`;
      return open === undefined;
    });
  }

  test('has saved it, as soon as Stripe sends the webhook', async () => {
    const one = await customer();
    const { id } = await subscribe(stripe.server, one.customer);
    const { page } = await leave(one);
    await told(async () => {
      await pays(page, GOOD);
    });
    expect(await methodsOf(one)).toMatchObject([{ last4: '4242' }]);
    const state = async () => (await stripe.server.call('GET', `/subscriptions/${id}`)).json;
    await until('it is paid', async () => (await state()).overdue_state === 'clear');
  });

  test('has saved it, even where Stripe does not answer at first', async () => {
    const one = await customer();
    const { page } = await leave(one);
    const { webhooks } = stripe.fake;
    webhooks.mode = 'hold';
    await pays(page, GOOD);
    webhooks.mode = 'off';
    const { sql } = stripe.server;
    const isOpen = async () => {
      const rows = await sql<{ tries: number }[]>`
        select tries from processor_hints where settled_at is null`;
      return rows.length > 0 && rows.every(({ tries }) => tries > 0);
    };
    stripe.fake.next({ method: 'GET', path: /\/checkout\/sessions\//, count: 2 }, 'lose_answer');
    await webhooks.release();
    await until('it was followed in vain', isOpen);
    expect(await methodsOf(one)).toEqual([]);
    await until('it is followed again', async () => {
      await sql`update processor_hints set next_at = now() where settled_at is null`;
      return (await methodsOf(one)).length > 0;
    });
    await until('nothing is left', async () => {
      const [open] = await sql`select event_id from processor_hints where settled_at is null`;
      return open === undefined;
    });
  });

  test('does not replace a card saved later', async () => {
    const one = await customer();
    const [first, second] = [await leave(one), await leave(one)];
    await told(async () => {
      await pays(first.page, '5555555555554444');
      await pays(second.page, GOOD);
      await visit(second.back);
    });
    expect(await methodsOf(one)).toMatchObject([{ last4: '4242' }]);
  });
});

test('saving a card resumes at its own Stripe account after another was connected', async () => {
  const shared = stripe;
  stripe = await openStripe();
  try {
    const one = await customer();
    const { page, back } = await leave(one);
    await stripe.connect();
    await pays(page, GOOD);
    expect((await visit(back)).location).toBe(`${one.home}?done=method_replaced`);
    expect(await methodsOf(one)).toMatchObject([{ processor: `stripe:${stripe.account.id}` }]);
    const { page: next } = await leave(one);
    expect(sessionsOf().some(({ id }) => next.endsWith(id))).toBe(false);
    // The sandbox takes what is new; what was begun is finished where it began.
    const other = await leave(one);
    await stripe.server.call('DELETE', '/organization/processor');
    expect(linkOf(await visit(other.back), 'Continue to Stripe')).toBe(other.page);
    expect((await visit(one.form)).text).toContain('card_number');
  } finally {
    await stripe.close();
    stripe = shared;
  }
});
