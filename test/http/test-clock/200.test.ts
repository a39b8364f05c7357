// The clock advances, and the organisation's test mode follows: everything due happens, each at its
// own time.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { BUYER } from '../../support/shop.ts';
import { type Fields, made, PATIENCE_MS, Shop } from '../../payments/shop.ts';
import { openService } from '../../../src/service.ts';
import { runTestClock, stopTestClock } from '../../../src/records/test-clocks.ts';
import { openLog } from '../../../src/platform/log.ts';
import { testServices } from '../../support/services.ts';
import { TEST_SECRETS_KEY, TEST_SETTINGS } from '../../support/settings.ts';
import { until } from '../../support/until.ts';
import { DAY, HOUR, MINUTE, move, moved, read, storyOf } from './clock.ts';

setDefaultTimeout(PATIENCE_MS);

/** Nothing settles by itself while a test runs. */
const SETTLE_MS = 6 * HOUR;
/** The longest time that a test takes, subtracted from the times that it looks at. */
const SLOW_MS = 30_000;

const openShop = (): Promise<Shop> => Shop.open({ settings: { sandboxSettleMs: SETTLE_MS } });

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const at = (text: string): number => Date.parse(text);
const other = () => ({ key: shop.server.other.testKey });

function expectAbout(time: number, expected: number): void {
  expect([time, time >= expected && time < expected + SLOW_MS]).toEqual([time, true]);
}

async function meter(own: Shop, slug: string): Promise<void> {
  made(await own.server.call('POST', '/meters', { body: { slug } }));
}

async function granted(own: Shop, feature: string, fields: Fields): Promise<string> {
  const { id } = made(await own.server.call('POST', '/customers', { body: {} }));
  const body = { feature_key: feature, amount: 10, ...fields };
  made(await own.server.call('POST', `/customers/${id}/grants`, { body }));
  return id;
}

const check = async (customer: string, feature: string) => {
  const body = { customer_id: customer, feature_key: feature };
  return (await shop.server.call('POST', '/check', { body })).json;
};

test('a test clock is the real time until it is moved; then it is ahead, and runs on', async () => {
  expectAbout(await read(shop.server), Date.now() - 1000);
  const before = await read(shop.server);
  expectAbout(await moved(shop.server, { advance: 'P1D' }), before + DAY);
  const target = before + 3 * DAY;
  expectAbout(await moved(shop.server, { now: new Date(target).toISOString() }), target);
  await until('it runs on', async () => (await read(shop.server)) >= target + 20, 2000);
  const later = await read(shop.server);
  expectAbout(later, target);
  expectAbout(await read(shop.server, other()), Date.now() - 1000);
});

test('a test clock moves by calendar months', async () => {
  const year = new Date(await read(shop.server)).getUTCFullYear() + 1;
  await moved(shop.server, { now: `${year}-01-31T12:00:00Z` });
  const leap = new Date(Date.UTC(year, 1, 29)).getUTCDate() === 29 ? 29 : 28;
  expectAbout(await moved(shop.server, { advance: 'P1M' }), Date.UTC(year, 1, leap, 12));
  expectAbout(
    await moved(shop.server, { advance: 'P1M1W1DT1H1M1S' }),
    Date.UTC(year, 2, leap + 8, 13, 1, 1),
  );
});

test('an object made after a test clock moved has its time; another organisation has the real time', async () => {
  const now = await read(shop.server);
  const { created_at: created } = made(await shop.server.call('POST', '/customers', { body: {} }));
  expectAbout(at(created), now);
  const call = { body: {}, ...other() };
  const { created_at: elsewhere } = made(await shop.server.call('POST', '/customers', call));
  expectAbout(at(elsewhere), Date.now() - 1000);
  const live = { body: {}, key: shop.server.organisation.liveKey };
  const { created_at: alive } = made(await shop.server.call('POST', '/customers', live));
  expectAbout(at(alive), Date.now() - 1000);
});

test('a checkout and a discount expire by the test clock, in the API, lists and pages', async () => {
  const { id, token } = await shop.checkout();
  const now = await read(shop.server);
  const code = await shop.discount('SOON', {
    percent_off: 10,
    expires_at: new Date(now + 2 * HOUR).toISOString(),
  });
  const status = async () => (await shop.read(`/checkouts/${id}`)).status;
  expect(await status()).toBe('active');
  await moved(shop.server, { advance: 'PT3H' });
  expect(await status()).toBe('active');
  const refused = await shop.server.call('POST', '/checkouts', {
    body: { product_id: shop.productId, customer_email: BUYER, discount_code: code },
  });
  expect(refused.json.error.type).toBe('checkout_create_failed');
  await moved(shop.server, { advance: 'P1D' });
  expect(await status()).toBe('expired');
  const { data } = await shop.read('/checkouts?status=expired');
  expect((data as Fields[]).map((checkout) => checkout['id'])).toContain(id);
  const page = await fetch(`${shop.server.url}/pay/${token}`);
  expect(await page.text()).toContain('expired');
  expect(await shop.pay({ id, token })).toEqual({ kind: 'not_open' });
});

test('a bank debit settles at its own time on the test clock, with its effects', async () => {
  const [good, bad] = [await shop.checkout(), await shop.checkout()];
  await shop.pay(good, { means: 'iban' });
  await shop.pay(bad, { means: 'ibanFails' });
  const paid = await shop.lastOf(good);
  expect(paid.status).toBe('processing');
  const target = await moved(shop.server, { advance: 'PT20H' });
  const settled = await shop.payment(paid.id);
  expect(settled.status).toBe('succeeded');
  expectAbout(at(settled.paid_at), at(paid.created_at) + SETTLE_MS);
  expect(at(settled.paid_at)).toBeLessThan(target - HOUR);
  expect((await shop.read(`/checkouts/${good.id}`)).status).toBe('paid');
  const invoice = await shop.read(`/invoices/${settled.invoice_id}`);
  expectAbout(at(invoice.issued_at), at(paid.created_at) + SETTLE_MS);
  expect((await shop.lastOf(bad)).status).toBe('failed');
  expect((await shop.read(`/checkouts/${bad.id}`)).status).toBe('active');
});

test('refunds settle on the test clock, and one that fails late is undone', async () => {
  const slow = await shop.buy({ means: 'refundPends' });
  const late = await shop.buy({ means: 'refundFailsLate' });
  const { json: pending } = await shop.refund(slow.id, { amount: '40' });
  const { json: done } = await shop.refund(late.id, { amount: '40' });
  expect([pending.status, done.status]).toEqual(['pending', 'succeeded']);
  await moved(shop.server, { advance: 'P1D' });
  const [first, second] = [
    await shop.read(`/refunds/${pending.id}`),
    await shop.read(`/refunds/${done.id}`),
  ];
  expect([first.status, second.status]).toEqual(['succeeded', 'failed']);
  expectAbout(at(first.settled_at), at(first.created_at) + SETTLE_MS);
  const invoices = await Promise.all(
    [slow.id, late.id].map(async (id) => {
      const { invoice_id: invoiceId } = await shop.payment(id);
      const events = await shop.events(invoiceId);
      return events.map(({ type, data }) => [type, data.change, data.amountDelta]);
    }),
  );
  expect(invoices).toEqual([
    [
      ['invoice.created', undefined, undefined],
      ['invoice.updated', 'refunded', '40.00'],
    ],
    [
      ['invoice.created', undefined, undefined],
      ['invoice.updated', 'refunded', '40.00'],
      ['invoice.updated', 'adjusted', '-40.00'],
    ],
  ]);
});

test('a checkout whose buyer never returned from the bank opens again on the test clock', async () => {
  const session = await shop.checkout();
  await shop.pay(session, { means: 'challenge' });
  await moved(shop.server, { advance: 'PT10M' });
  expect((await shop.lastOf(session)).status).toBe('requires_action');
  await moved(shop.server, { advance: 'PT1H' });
  expect((await shop.lastOf(session)).status).toBe('canceled');
  expect((await shop.read(`/checkouts/${session.id}`)).status).toBe('active');
});

test('a grant begins and ends on the test clock, and a period is given again', async () => {
  await meter(shop, 'calls');
  const now = await read(shop.server);
  const time = (ms: number): string => new Date(now + ms).toISOString();
  const range = { effective_at: time(DAY), expires_at: time(3 * DAY) };
  const once = await granted(shop, 'calls', range);
  const monthly = await granted(shop, 'calls', { reset_interval: 'month' });
  const track = { customer_id: monthly, feature_key: 'calls', value: 4 };
  await shop.server.call('POST', '/track', { body: track });
  expect((await check(once, 'calls')).allowed).toBe(false);
  await moved(shop.server, { advance: 'P2D' });
  expect(await check(once, 'calls')).toMatchObject({ allowed: true, balance: 10 });
  expect((await check(monthly, 'calls')).balance).toBe(6);
  await moved(shop.server, { advance: 'P2D' });
  expect(await check(once, 'calls')).toMatchObject({ allowed: false, reason: 'expired' });
  await moved(shop.server, { advance: 'P1M' });
  expect((await check(monthly, 'calls')).balance).toBe(10);
  // An event's time is validated against the same clock.
  const event = { name: 'calls', customer_id: monthly };
  const send = async (timestamp: number) =>
    (
      await shop.server.call('POST', '/events/ingest', {
        body: { events: [{ ...event, timestamp: new Date(timestamp).toISOString() }] },
      })
    ).status;
  const then = await read(shop.server);
  expect([await send(then + 4 * MINUTE), await send(then - 34 * DAY)]).toEqual([200, 200]);
  expect([await send(Date.now()), await send(then + 6 * MINUTE)]).toEqual([400, 400]);
});

// These two wait for alarms, each for its own.
test.concurrent('an alarm fires by itself when the moved test clock gets there', async () => {
  const quick = await Shop.open({ settings: { sandboxSettleMs: 400 } });
  const now = await moved(quick.server, { advance: 'P1Y' });
  const { id } = await quick.buy({ means: 'iban' });
  expectAbout(at((await quick.paymentThatIs('succeeded', id)).paid_at), now);
  await quick.close();
});

test.concurrent('a stopped test clock fires no alarm by itself, and one that runs again does', async () => {
  const quick = await Shop.open({ settings: { sandboxSettleMs: 100 } });
  const { ledger, organisation, sql } = quick.server;
  const [node] = await sql<{ holder: string }[]>`select holder from nodes`;
  const stopped = { organisationId: organisation.id, mover: node!.holder };
  await stopTestClock(sql, { ...stopped, stoppedAt: Date.now(), aheadMs: 0 });
  await quick.server.untilHeard();
  const { id } = await quick.buy({ means: 'iban' });
  const before = performance.now();
  await until('two alarms would have rung', () => performance.now() - before > 2500);
  expect((await quick.payment(id)).status).toBe('processing');
  const due = await ledger.alarms.next(organisation.id, Date.now() + MINUTE);
  expect(due.alarms).toMatchObject([{ kind: 'payment', actorId: id }]);
  await runTestClock(sql, stopped);
  await quick.paymentThatIs('succeeded', id);
  await quick.close();
});

test('a year on the test clock in one call and in days has the same outcome', async () => {
  const tell = async (steps: readonly string[]): Promise<unknown[]> => {
    const own = await openShop();
    await meter(own, 'calls');
    await granted(own, 'calls', { reset_interval: 'month' });
    await granted(own, 'calls', { reset_interval: 'week', amount: 3 });
    for (const means of ['iban', 'ibanFails', 'challenge', 'requestLost'] as const) {
      await own.buy({ means });
    }
    const { id } = await own.buy({ means: 'refundFailsLate' });
    await own.refund(id, { amount: '1' });
    for (const advance of steps) await moved(own.server, { advance });
    const story = await storyOf(own);
    await own.close();
    return story;
  };
  const inOne = await tell(['P1Y']);
  expect(inOne.length).toBeGreaterThan(8);
  expect(await tell(Array.from({ length: 365 }, () => 'P1D'))).toEqual(inOne);
}, 60_000);

test('a test clock is the same for the next process, and for one that runs beside', async () => {
  const { server } = shop;
  const service = await openService({
    databaseUrl: server.databaseUrl,
    redisUrl: testServices().redisUrl,
    settings: TEST_SETTINGS,
    secretsKey: TEST_SECRETS_KEY,
    deliver: false,
    leaseMs: 5000,
    actorsMax: 1000,
    log: openLog('silent', () => undefined),
  });
  const headers = { authorization: `Bearer ${server.organisation.testKey}` };
  const there = async (): Promise<number> => {
    const request = new Request('http://localhost/test-clock', { headers });
    const body = (await (await service.app.handle(request)).json()) as { now: string };
    return at(body.now);
  };
  expectAbout(await there(), (await read(server)) - 1000);
  const target = await moved(server, { advance: 'P1M' });
  await until('it has heard', async () => (await there()) >= target, 2000);
  expectAbout(await there(), target);
  await service.close();
});

test('a test clock is moved by one call at a time', async () => {
  const advance = { advance: 'P1D' };
  const replies = await Promise.all([1, 2, 3].map(() => move(shop.server, advance)));
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  const busy = replies.find(({ status }) => status === 409);
  expect(busy?.json.error.type).toBe('invalid_state');
});
