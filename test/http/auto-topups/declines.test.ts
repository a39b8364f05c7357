// A charge that is not made: what passes is tried again three times, the rest waits for another
// card.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import { CARDS, Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

const HOUR_MS = 3_600_000;

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

test('an auto top-up declined for funds is retried after 1, 6 and 24 hours, then suspended', async () => {
  const subject = await topped.subject({ card: CARDS.poorLater, units: 0 });
  await topped.put(subject);
  let made = 1;
  for (const hours of [1, 6, 24]) {
    const { next_attempt_at: next } = await topped.settled(subject, {
      status: 'charging',
      reason: null,
    });
    const payments = await topped.payments(subject);
    expect(payments).toHaveLength(made);
    expect(payments.at(-1)).toMatchObject({
      status: 'failed',
      failure_code: 'insufficient_funds',
    });
    const declinedAt = Date.parse(next) - hours * HOUR_MS;
    expect(Math.abs(declinedAt - (await topped.now()))).toBeLessThan(60_000);
    // Usage meanwhile charges nothing.
    await topped.trackEach(subject, 10);
    await topped.advanceTo(new Date(Date.parse(next) - 60_000).toISOString());
    expect(await topped.payments(subject)).toHaveLength(made);
    await topped.advanceTo(next);
    made += 1;
  }
  await topped.settled(subject, {
    status: 'suspended',
    reason: 'declined',
    next_attempt_at: null,
  });
  await topped.advance('P60D');
  await topped.put(subject);
  await topped.put(subject, { amount: 600 });
  await topped.put(subject, { enabled: false });
  await topped.put(subject);
  await topped.track(subject, 1);
  expect(await topped.payments(subject)).toHaveLength(4);
  expect(await topped.grants(subject)).toEqual([]);
  expect(await topped.invoices(subject)).toEqual([]);
  // Another card arms it.
  await topped.save(subject, CARDS.good);
  await topped.settled(subject, { status: 'armed', reason: null });
  const payments = await topped.payments(subject);
  expect(payments).toHaveLength(5);
  expect(await topped.level(subject)).toBe(500 - 31);
});

const HARD = [
  ['declinesLater', 'declined', 'card_declined'],
  ['asksLater', 'authentication_required', 'authentication_required'],
] as const;

test.each(HARD)(
  'an auto top-up by a card that %s is suspended at once, until another card is saved',
  async (card, reason, code) => {
    const subject = await topped.subject({ card: CARDS[card], units: 0 });
    await topped.put(subject);
    const { payment_id: paymentId } = await topped.settled(subject, {
      status: 'suspended',
      reason,
      next_attempt_at: null,
    });
    const [payment] = await topped.payments(subject);
    expect(payment).toMatchObject({ id: paymentId, status: 'failed', failure_code: code });
    await topped.advance('P2D');
    await topped.trackEach(subject, 50);
    expect(await topped.payments(subject)).toHaveLength(1);
    // The same kind of card again is one more try.
    await topped.save(subject, CARDS[card]);
    await topped.settled(subject, { status: 'suspended', reason });
    expect(await topped.payments(subject)).toHaveLength(2);
    await topped.save(subject, CARDS.good);
    await topped.settled(subject, { status: 'armed', reason: null });
    expect(await topped.payments(subject)).toHaveLength(3);
    expect(await topped.level(subject)).toBe(450);
  },
);

test('an auto top-up without a card charges nothing, and the first saved card arms it', async () => {
  const subject = await topped.subject({ card: null, units: 0 });
  await topped.put(subject);
  await topped.settled(subject, {
    status: 'suspended',
    reason: 'no_payment_method',
    payment_id: null,
  });
  expect(await topped.payments(subject)).toEqual([]);
  await topped.save(subject, CARDS.good);
  await topped.settled(subject, { status: 'armed', reason: null });
  expect(await topped.level(subject)).toBe(500);
});

test('a card saved between two retries of an auto top-up is charged at once', async () => {
  const subject = await topped.subject({ card: CARDS.poorLater, units: 0 });
  await topped.put(subject);
  await topped.settled(subject, { status: 'charging' });
  await topped.save(subject, CARDS.good);
  await topped.settled(subject, { status: 'armed', next_attempt_at: null });
  expect(await topped.level(subject)).toBe(500);
  await topped.advance('P2D');
  expect(await topped.payments(subject)).toHaveLength(2);
});

test('an auto top-up is not retried where the balance has recovered by then', async () => {
  const subject = await topped.subject({ card: CARDS.poorLater, units: 0 });
  await topped.put(subject);
  await topped.settled(subject, { status: 'charging' });
  const body = { feature_key: subject.feature, amount: 100 };
  await topped.post(`/customers/${subject.customer}/grants`, body);
  expect(await topped.get(subject)).toMatchObject({ status: 'charging' });
  await topped.advance('PT1H');
  expect(await topped.get(subject)).toMatchObject({ status: 'armed', next_attempt_at: null });
  expect(await topped.payments(subject)).toHaveLength(1);
});

test('a checkout that saves a card arms a suspended auto top-up', async () => {
  const external = crypto.randomUUID();
  const subject = await topped.subject(
    { card: null, units: 0 },
    { external_customer_id: external },
  );
  await topped.put(subject);
  await topped.settled(subject, { status: 'suspended' });
  await topped.signUp(external, CARDS.good);
  await until('it is armed', async () => (await topped.get(subject)).status === 'armed');
  expect(await topped.level(subject)).toBe(500);
});
