// The Stripe adapter over the fake: its pages, what it asks Stripe for, and what a crash, a bad key
// or a day without answers leaves behind.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import type { ChargeRequest, ChargeResult, Processor } from '../../../src/processors/processor.ts';
import { stripeClient } from '../../../src/processors/stripe/client.ts';
import { until } from '../../support/until.ts';
import type { How } from './faults.ts';
import { type Adapter, CAPTURE, openAdapter, PAGE_MS, SESSIONS } from './rig.ts';

const GOOD = '4242424242424242';
const DEBIT = 'DE89370400440532013000';
const DAY_MS = 24 * 60 * 60_000;
const RETURN_URL = 'https://shop.example/back?a=b';

let adapter: Adapter;
let stripe: Processor;
beforeAll(async () => {
  adapter = await openAdapter();
  stripe = adapter.open();
});
afterAll(() => adapter.close());

const request = (more: Partial<ChargeRequest> = {}): ChargeRequest => ({
  key: ids.next(),
  amount: 1250n,
  currency: 'EUR',
  instrument: null,
  save: false,
  returnUrl: RETURN_URL,
  ...more,
});
const books = () => adapter.fake.books(adapter.account.id, 'test');
const intentsOf = (key: string) =>
  books().intents.filter(({ metadata }) => metadata['key'] === key);
const sessionsOf = (key: string) =>
  books().sessions.filter(({ metadata }) => metadata?.['key'] === key);
const refundsOf = (key: string) =>
  books().refunds.filter(({ metadata }) => metadata?.['key'] === key);
const urlOf = (result: ChargeResult): string => {
  if (result.kind !== 'requires_action') throw new Error(result.kind);
  return result.url;
};
const pays = async (made: ChargeRequest, typed: string, options = {}) =>
  adapter.fake.buyer.pays(urlOf(await stripe.charge(made)), typed, options);
async function paid(more: Partial<ChargeRequest> = {}, typed = GOOD): Promise<string> {
  const made = request(more);
  await pays(made, typed);
  await stripe.confirmCharge(made.key);
  return made.key;
}
async function savedOf(typed: string): Promise<string> {
  const result = await stripe.findCharge(await paid({ save: true, amount: 0n }, typed));
  if (result.kind !== 'succeeded' || result.saved === null) throw new Error(result.kind);
  return result.saved;
}
const later = (saved: string) => ({ key: ids.next(), amount: 900n, currency: 'EUR', saved });
const lose = (method: 'GET' | 'POST', path: RegExp, how: How, count = 1) =>
  adapter.fake.next({ method, path, count }, how);

describe('the payment page at Stripe', () => {
  test('has the price, and leads back', async () => {
    const made = request();
    const result = await stripe.charge(made);
    expect(urlOf(result)).toStartWith(`${stripe.pageOrigin}/c/pay/`);
    expect(result).toMatchObject({ method: null, reference: expect.stringMatching(/^cs_test_/) });
    const [session] = sessionsOf(made.key);
    expect(session).toMatchObject({
      mode: 'payment',
      amount_total: 1250,
      currency: 'eur',
      success_url: RETURN_URL,
      cancel_url: RETURN_URL,
      customer: null,
    });
    const left = session!.expires_at * 1000 - adapter.fake.now();
    expect(left).toBeGreaterThan(stripe.actionMs);
    expect(left).toBeLessThan(PAGE_MS);
  });

  test('authorises a card, which is charged when it is confirmed', async () => {
    const made = request();
    expect(await pays(made, GOOD)).toBe('paid');
    expect(await stripe.findCharge(made.key)).toMatchObject({
      kind: 'requires_confirmation',
      method: { type: 'card', brand: 'visa', last4: '4242' },
    });
    expect(intentsOf(made.key)).toMatchObject([{ status: 'requires_capture', amount_received: 0 }]);
    expect(await stripe.confirmCharge(made.key)).toMatchObject({
      kind: 'succeeded',
      reference: intentsOf(made.key)[0]!.id,
      saved: null,
      expiry: { month: 12, year: 2034 },
    });
    expect(intentsOf(made.key)).toMatchObject([{ status: 'succeeded', amount_received: 1250 }]);
  });

  test('charges a bank debit at once', async () => {
    const made = request({ save: true });
    expect(await pays(made, DEBIT)).toBe('processing');
    const pending = await stripe.findCharge(made.key);
    expect(pending).toMatchObject({
      kind: 'pending',
      method: { type: 'bank_debit', brand: null, last4: '3000' },
      saved: expect.stringMatching(/^cus_\w+:pm_\w+$/),
      expiry: null,
    });
    adapter.fake.settle();
    expect((await stripe.findCharge(made.key)).kind).toBe('succeeded');
  });

  test('offers only methods that can wait, where the charge has to be confirmed', async () => {
    const made = request({ confirms: true });
    expect(await pays(made, DEBIT)).toBe('declined');
    expect(intentsOf(made.key)).toEqual([]);
    expect(await pays(made, GOOD)).toBe('paid');
    expect((await stripe.findCharge(made.key)).kind).toBe('requires_confirmation');
    expect((await stripe.cancelCharge(made.key)).kind).toBe('not_attempted');
    expect(intentsOf(made.key)).toMatchObject([{ status: 'canceled', amount_received: 0 }]);
  });

  test('takes another card after a decline', async () => {
    const made = request();
    expect(await pays(made, '4000000000009995')).toBe('declined');
    expect((await stripe.findCharge(made.key)).kind).toBe('requires_action');
    expect(await pays(made, GOOD)).toBe('paid');
    expect((await stripe.confirmCharge(made.key)).kind).toBe('succeeded');
    expect(intentsOf(made.key)).toHaveLength(1);
  });

  test.each([
    ['nothing was tried', null, { kind: 'not_attempted', code: 'canceled' }],
    ['a card was declined', '4000000000009995', { kind: 'declined', code: 'insufficient_funds' }],
    ['a lost card', '4000000000009987', { kind: 'declined', code: 'lost_card' }],
    ['a wrong code', '4000000000000127', { kind: 'declined', code: 'incorrect_cvc' }],
    ['an expired card', '4000000000000069', { kind: 'declined', code: 'expired_card' }],
    ['an error of the bank', '4000000000000119', { kind: 'declined', code: 'processing_error' }],
  ])('is given up or expired, where %s', async (_what, typed, decided) => {
    for (const expires of [true, false]) {
      for (const more of [{}, { save: true, amount: 0n }]) {
        const made = request(more);
        const url = urlOf(await stripe.charge(made));
        if (typed !== null) expect(await adapter.fake.buyer.pays(url, typed)).toBe('declined');
        if (expires) adapter.fake.advance(PAGE_MS);
        else expect(await stripe.cancelCharge(made.key)).toMatchObject(decided);
        expect(await stripe.findCharge(made.key)).toMatchObject(decided);
        expect(await adapter.fake.buyer.pays(url, GOOD)).toBe('closed');
      }
    }
  });

  test('names the order, and asks for an address that Stripe does not take', async () => {
    const order = { name: 'A year of tea', email: 'ada@example.com' };
    const known = request({ order });
    await stripe.charge(known);
    expect(sessionsOf(known.key)).toMatchObject([{ customer_email: 'ada@example.com' }]);
    const made = request({ order });
    const message = 'Invalid email address: ada@example.com';
    lose('POST', SESSIONS, {
      error: { type: 'invalid_request_error', code: 'email_invalid', message, status: 400 },
    });
    expect((await stripe.charge(made)).kind).toBe('requires_action');
    expect(sessionsOf(made.key)).toMatchObject([{ customer_email: null }]);
  });

  test('that is left at the bank is given up', async () => {
    const made = request();
    expect(await pays(made, '4000002500003155', { abandons3ds: true })).toBe('challenged');
    expect((await stripe.findCharge(made.key)).kind).toBe('requires_action');
    expect((await stripe.cancelCharge(made.key)).kind).toBe('not_attempted');
  });
});

describe('an amount that Stripe does not take', () => {
  test.each<[string, Partial<ChargeRequest>, string]>([
    ['an unknown currency', { currency: 'IRR' }, 'Stripe takes no payments in IRR.'],
    ['a fraction', { currency: 'KWD', amount: 1001n }, 'only multiples of 0.010 KWD'],
    ['too much', { amount: 10n ** 8n }, 'as much as 1000000.00 EUR'],
  ])('in %s is refused by name, and Stripe is not called', async (_what, more, message) => {
    const asked = adapter.fake.requests().length;
    const made = request(more);
    const refused = { kind: 'not_attempted', message: expect.stringContaining(message) };
    expect(await stripe.charge(made)).toMatchObject(refused);
    expect(await stripe.chargeSaved({ ...later('cus_1:pm_1'), ...more })).toMatchObject(refused);
    expect((await stripe.findCharge(made.key)).kind).toBe('not_attempted');
    expect(adapter.fake.requests()).toHaveLength(asked);
  });

  test('too little for its account is refused by amount', async () => {
    const saved = await savedOf(GOOD);
    const refused = {
      kind: 'not_attempted',
      message: 'Stripe does not take as little as 0.10 EUR.',
    };
    expect(await stripe.charge(request({ amount: 10n }))).toMatchObject(refused);
    expect(await stripe.chargeSaved({ ...later(saved), amount: 10n })).toMatchObject(refused);
  });
});

describe('a crash of a Stripe call', () => {
  test.each<[string, How]>([
    ['before the page was asked for', 'lose_request'],
    ['before its answer came', 'lose_answer'],
  ])(
    '%s: the page is asked for again, also when Stripe has forgotten the key',
    async (_what, how) => {
      for (const waits of [0, 60_000, DAY_MS + 60_000]) {
        const made = request();
        lose('POST', SESSIONS, how);
        expect((await stripe.charge(made)).kind).toBe('unknown');
        const next = adapter.open();
        expect(await next.findCharge(made.key)).toMatchObject({ code: 'not_found' });
        adapter.fake.advance(waits);
        const result = await next.charge(made);
        // Its page would be open for less than Stripe allows.
        if (waits > 60_000) {
          expect(result.kind).toBe('not_attempted');
          expect((await next.charge(made)).kind).toBe('not_attempted');
        } else {
          expect(await adapter.fake.buyer.pays(urlOf(result), GOOD)).toBe('paid');
          expect((await next.confirmCharge(made.key)).kind).toBe('succeeded');
        }
        expect(intentsOf(made.key).length).toBeLessThanOrEqual(1);
      }
    },
  );

  test('whose page comes after its key was given up closes the page', async () => {
    const made = request();
    const before = adapter.fake.requests().length;
    const goesOn = Promise.withResolvers<void>();
    lose('POST', SESSIONS, { until: goesOn.promise });
    const asked = stripe.charge(made);
    await until('Stripe is asked', () => adapter.fake.requests().length > before);
    expect((await adapter.open().cancelCharge(made.key)).kind).toBe('not_attempted');
    goesOn.resolve();
    expect((await asked).kind).toBe('not_attempted');
    expect(sessionsOf(made.key)).toMatchObject([{ status: 'expired' }]);
  });

  test.each<[RegExp, How]>([
    [/\/v1\/payment_intents$/, 'lose_request'],
    [/\/v1\/payment_intents$/, 'lose_answer'],
    [/\/v1\/payment_intents$/, 'error_500'],
    [/\/confirm$/, 'lose_request'],
    [/\/confirm$/, 'lose_answer'],
    [/\/confirm$/, 'error_500'],
    [/\/confirm$/, 'error_500_after'],
    [/\/confirm$/, 'lock_timeout'],
  ])('in a renewal, at %p: %p: the charge is made once', async (path, how) => {
    const saved = await savedOf(GOOD);
    for (const waits of [0, DAY_MS + 60_000]) {
      const made = later(saved);
      lose('POST', path, how);
      expect((await stripe.chargeSaved(made)).kind).toBe('unknown');
      adapter.fake.advance(waits + 15 * 60_000);
      const next = adapter.open();
      expect((await next.chargeSaved(made)).kind).toBe('succeeded');
      expect((await next.chargeSaved(made)).kind).toBe('succeeded');
      const charged = intentsOf(made.key).filter(({ status }) => status === 'succeeded');
      expect(charged).toMatchObject([{ amount_received: 900 }]);
    }
  });

  test.each<[How]>([['lose_request'], ['lose_answer'], ['error_500'], ['error_500_after']])(
    'in a refund: %p: it is made once, also when Stripe has forgotten the key',
    async (how) => {
      for (const waits of [0, DAY_MS + 60_000]) {
        const chargeKey = await paid();
        const made = { key: ids.next(), chargeKey, amount: 500n, currency: 'EUR' };
        lose('POST', /\/v1\/refunds$/, how);
        expect((await stripe.refund(made)).kind).toBe('unknown');
        adapter.fake.advance(waits);
        const next = adapter.open();
        const again = await next.refund(made);
        // Stripe repeats its own failure for a day, and made nothing.
        const isRepeated = how === 'error_500' && waits === 0;
        expect(again.kind).toBe(isRepeated ? 'unknown' : 'succeeded');
        expect(refundsOf(made.key)).toHaveLength(isRepeated ? 0 : 1);
        expect((await next.findRefund(made.key)).kind).toBe(
          isRepeated ? 'not_attempted' : 'succeeded',
        );
      }
    },
  );

  test('in the capture: the charge is captured once', async () => {
    for (const how of ['lose_answer', 'error_500', 'error_500_after', 'lose_request'] as const) {
      const made = request();
      await pays(made, GOOD);
      lose('POST', CAPTURE, how);
      expect((await stripe.confirmCharge(made.key)).kind).toBe('unknown');
      expect((await adapter.open().confirmCharge(made.key)).kind).toBe('succeeded');
    }
  });
});

describe('processes that call Stripe with the same key', () => {
  const many = () => Array.from({ length: 8 }, () => adapter.open());

  test('have one page', async () => {
    for (let round = 0; round < 5; round += 1) {
      const made = request();
      const results = await Promise.all(many().map((one) => one.charge(made)));
      const urls = results.flatMap((result) => (result.kind === 'unknown' ? [] : [urlOf(result)]));
      expect(new Set(urls).size).toBe(1);
      expect(sessionsOf(made.key).filter(({ status }) => status === 'open')).toHaveLength(1);
    }
  });

  test('make one charge, and one refund of it', async () => {
    const saved = await savedOf(GOOD);
    for (let round = 0; round < 5; round += 1) {
      const made = later(saved);
      await Promise.all(many().map((one) => one.chargeSaved(made)));
      expect((await stripe.findCharge(made.key)).kind).toBe('succeeded');
      const charged = intentsOf(made.key).filter(({ status }) => status === 'succeeded');
      expect(charged).toHaveLength(1);
      const back = { key: ids.next(), chargeKey: made.key, amount: 300n, currency: 'EUR' };
      await Promise.all(many().map((one) => one.refund(back)));
      expect(refundsOf(back.key)).toHaveLength(1);
      expect((await stripe.findRefund(back.key)).kind).toBe('succeeded');
    }
  });
});

describe('a Stripe charge without the buyer', () => {
  test('is declined for good where the bank asks for the buyer', async () => {
    const made = later(await savedOf('4000002760003184'));
    const declined = { kind: 'declined', code: 'authentication_required' };
    expect(await stripe.chargeSaved(made)).toMatchObject(declined);
    expect(await stripe.findCharge(made.key)).toMatchObject(declined);
    expect(await stripe.cancelCharge(made.key)).toMatchObject(declined);
    expect(intentsOf(made.key)).toMatchObject([{ amount_received: 0 }]);
  });

  test('has its intent canceled where that waits for the buyer', async () => {
    const made = later(await savedOf('4000002500003155'));
    lose('POST', /\/confirm$/, 'lose_request');
    expect((await stripe.chargeSaved(made)).kind).toBe('unknown');
    const [intent] = intentsOf(made.key);
    const { testKey: key } = adapter.account;
    const client = stripeClient({ key, apiUrl: new URL(adapter.fake.url) });
    const { status } = await client.paymentIntents.confirm(intent!.id);
    expect(status).toBe('requires_action');
    const declined = { kind: 'declined', code: 'authentication_required' };
    expect(await stripe.findCharge(made.key)).toMatchObject(declined);
    expect(intentsOf(made.key)).toMatchObject([{ status: 'canceled', amount_received: 0 }]);
    expect(await adapter.open().chargeSaved(made)).toMatchObject(declined);
  });

  test('has lost its mandate where the method was detached at Stripe', async () => {
    for (const when of ['before', 'between'] as const) {
      const saved = await savedOf(GOOD);
      const made = later(saved);
      if (when === 'between') {
        lose('POST', /\/confirm$/, 'lose_request');
        expect((await stripe.chargeSaved(made)).kind).toBe('unknown');
      }
      expect(await stripe.forget(saved)).toEqual({ kind: 'forgotten' });
      const lost = { kind: 'declined', code: 'mandate_lost' };
      expect(await stripe.chargeSaved(made)).toMatchObject(lost);
      expect(await adapter.open().findCharge(made.key)).toMatchObject(lost);
    }
  });

  test.each<[How, string]>([
    ['lose_request', 'unknown'],
    ['lose_answer', 'unknown'],
    ['rate_limit', 'unknown'],
  ])('is not made once forgetting its method, lost by %p, is done again', async (how, kind) => {
    const saved = await savedOf(GOOD);
    lose('POST', /\/detach$/, how);
    expect(await stripe.forget(saved)).toEqual({ kind: kind as 'unknown' });
    expect(await stripe.forget(saved)).toEqual({ kind: 'forgotten' });
    expect(await stripe.forget('cus_none:pm_none')).toEqual({ kind: 'forgotten' });
  });
});

test('a refund at Stripe is looked up again until no bank can send it back', async () => {
  const back = async (chargeKey: string) => {
    const made = { key: ids.next(), chargeKey, amount: 100n, currency: 'EUR' };
    const result = await stripe.refund(made);
    return { ...made, askAfterMs: result.kind === 'succeeded' ? result.askAfterMs : undefined };
  };
  const chargeKey = await paid();
  // A young charge is reversed.
  expect((await back(chargeKey)).askAfterMs).toBeNull();
  adapter.fake.advance(2 * DAY_MS);
  const [arrives, waits] = [await back(chargeKey), await back(chargeKey)];
  expect([arrives.askAfterMs, waits.askAfterMs]).toEqual([DAY_MS, DAY_MS]);
  adapter.fake.advance(30 * DAY_MS);
  expect(await stripe.findRefund(waits.key)).toMatchObject({ askAfterMs: null });
});

test('a key that Stripe does not accept fails its account, and nothing is lost', async () => {
  const other = await openAdapter();
  const [first, made] = [other.open(), request()];
  expect(urlOf(await first.charge(made))).toContain('/c/pay/');
  const key = other.account.rollKey('test');
  expect(other.failing.count).toBe(0);
  expect(await first.charge(request())).toMatchObject({ kind: 'not_attempted' });
  expect(other.failing.count).toBe(1);
  expect((await first.findCharge(made.key)).kind).toBe('unknown');
  expect((await first.cancelCharge(made.key)).kind).toBe('unknown');
  const rotated = other.open({ key });
  expect((await rotated.findCharge(made.key)).kind).toBe('requires_action');
  await other.close();
});

test('the log of Stripe calls names no key, no card and no buyer', async () => {
  const lines: string[] = [];
  const log = (fields: object, message: string) =>
    void lines.push(JSON.stringify({ ...fields, message }));
  const other = await openAdapter({ log: { info: log, warn: log, error: log } });
  const broken = other.open({ key: 'sk_test_secretOfNobody' });
  await broken.charge(request());
  other.fake.next({ method: 'POST', path: SESSIONS }, 'error_500');
  other.fake.next({ method: 'POST', path: SESSIONS }, 'lose_answer');
  for (let call = 0; call < 3; call += 1) await other.open().charge(request());
  expect(lines.length).toBeGreaterThanOrEqual(3);
  const logged = lines.join('\n');
  for (const secret of ['secretOfNobody', other.account.testKey, GOOD, RETURN_URL]) {
    expect(logged).not.toContain(secret);
  }
  await other.close();
});
