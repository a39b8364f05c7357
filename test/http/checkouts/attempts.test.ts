import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import {
  type CheckoutRecord,
  findCheckoutByToken,
  finishAttempt,
  lockCheckout,
  startAttempt,
} from '../../../src/records/checkouts.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { checkout, product } from './fixture.ts';

let server: TestServer;
let product_id: string;
beforeAll(async () => {
  server = await startServer({ edited: true });
  ({ id: product_id } = await product(server));
});
afterAll(() => server.stop());

const NOW = Date.now();
const clock = { now: () => NOW };

async function opened(): Promise<CheckoutRecord> {
  const { url } = (await checkout(server, { product_id })).json;
  return (await findCheckoutByToken(server.sql, url.split('/').at(-1), clock))!;
}

/**
 * How paying changes the row: to the payment's id where one began, null where the checkout was not
 * open.
 */
function begin({ token }: CheckoutRecord, now = NOW): Promise<string | null> {
  return server.sql.begin(async (sql) => {
    const found = await lockCheckout(sql, token, { now: () => now });
    if (found?.status !== 'active') return null;
    const { id, currency, priceId, subtotal, amount, discountId } = found;
    const paymentId = ids.next();
    const order = { currency, priceId, subtotal, amount, discountId };
    await startAttempt(sql, { id, paymentId, email: 'b@example.com', name: 'B', ...order });
    return paymentId;
  });
}

const read = ({ token }: CheckoutRecord) => findCheckoutByToken(server.sql, token, clock);
const finish = async (id: string, paymentId: string, status: 'paid' | 'active') =>
  (await finishAttempt(server.sql, { id, paymentId, status, now: NOW })) !== null;

test('of many payment attempts of a checkout at once, one begins', async () => {
  const made = await opened();
  const begun = await Promise.all(Array.from({ length: 10 }, () => begin(made)));
  const [paymentId, ...more] = begun.filter((id) => id !== null);
  expect(more).toEqual([]);
  expect(await read(made)).toMatchObject({
    status: 'processing',
    paymentId,
    attempts: 1,
    customerEmail: 'b@example.com',
    customerName: 'B',
    paidAt: null,
  });
});

test("no attempt begins after the checkout's time, and one that began in time can end paid", async () => {
  const late = await opened();
  expect(await begin(late, late.expiresAt!.getTime())).toBeNull();
  expect(await begin(late, late.expiresAt!.getTime() - 1)).not.toBeNull();
  const { paymentId } = (await read(late))!;
  const now = late.expiresAt!.getTime() + 1000;
  expect(
    await finishAttempt(server.sql, { id: late.id, paymentId: paymentId!, status: 'paid', now }),
  ).toEqual({ holds: null });
  expect(await read(late)).toMatchObject({ status: 'paid', paidAt: new Date(now) });
});

test('a declined attempt opens the checkout again, and the next one has the next number', async () => {
  const made = await opened();
  const first = (await begin(made))!;
  expect(await finish(made.id, first, 'active')).toBe(true);
  expect(await read(made)).toMatchObject({ status: 'active', paymentId: first, attempts: 1 });
  const second = (await begin(made))!;
  // A late result of the first one changes nothing.
  expect(await finish(made.id, first, 'paid')).toBe(false);
  expect(await finish(made.id, first, 'active')).toBe(false);
  expect(await read(made)).toMatchObject({ status: 'processing', paymentId: second, attempts: 2 });
  expect(await finish(made.id, second, 'paid')).toBe(true);
});

test('a paid checkout stays paid', async () => {
  const made = await opened();
  const paymentId = (await begin(made))!;
  expect(await finish(made.id, paymentId, 'paid')).toBe(true);
  for (const status of ['paid', 'active'] as const) {
    expect(await finish(made.id, paymentId, status)).toBe(false);
  }
  expect(await begin(made)).toBeNull();
  expect(await read(made)).toMatchObject({ status: 'paid', paymentId, paidAt: new Date(NOW) });
});

test('a checkout that is expired while a buyer begins to pay is expired or paid, not both', async () => {
  for (let round = 0; round < 10; round += 1) {
    const made = await opened();
    const [paymentId, reply] = await Promise.all([
      begin(made),
      server.call('POST', `/checkouts/${made.id}/expire`),
    ]);
    expect(reply.status).toBe(paymentId === null ? 200 : 409);
    expect((await read(made))!.status).toBe(paymentId === null ? 'expired' : 'processing');
  }
});

test.each(['', 'nothing', '\0'.repeat(43), 'x'.repeat(44)])(
  '%p is no token of a checkout',
  async (token) => {
    expect(await findCheckoutByToken(server.sql, token, clock)).toBeNull();
    expect(await server.sql.begin((sql) => lockCheckout(sql, token, clock))).toBeNull();
  },
);
