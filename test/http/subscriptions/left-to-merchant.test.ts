// An invoice that dunning left to the merchant, and several concurrent attempts to collect it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { ask, buy } from '../../support/shop.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('the draft of a pause, finalised and paid ten times at once and again, is charged once', async () => {
  const seller = { url: server.url, key: server.organisation.testKey };
  const prices = [{ currency: 'USD', amount: '9.00', type: 'recurring', interval: 'month' }];
  const product = await ask(seller, 'POST', '/products', { name: 'Plan', prices });
  await buy(seller, { means: ['good'], product_id: product.id });
  const [subscription] = (await ask(seller, 'GET', '/subscriptions')).data as { id: string }[];
  const { id } = subscription!;
  await ask(seller, 'POST', `/subscriptions/${id}/pause`, { keep_invoices: true });
  await ask(seller, 'POST', '/test-clock', { advance: 'P1M' });
  const [draft] = (await ask(seller, 'GET', '/invoices?status=draft')).data as { id: string }[];
  await ask(seller, 'POST', `/invoices/${draft!.id}/finalize`);
  const pay = () => server.call('POST', `/invoices/${draft!.id}/pay`);
  const replies = await Promise.all(Array.from({ length: 10 }, pay));
  expect(replies.every(({ status }) => status === 200 || status === 202)).toBe(true);
  const paid = (await pay()).json;
  expect(paid).toMatchObject({ status: 'paid', amount_paid: '9.00' });
  // A caller who read it as open, and sends the request when it is paid.
  const late = await server.ledger.subscriptions.collect(paid.customer_id, id, paid.id);
  expect(late).toBe('not_chargeable');
  await ask(seller, 'POST', '/test-clock', { advance: 'PT1S' });
  const { data } = await ask(seller, 'GET', `/payments?subscription_id=${id}`);
  expect((data as { status: string }[]).map(({ status }) => status)).toEqual([
    'succeeded',
    'succeeded',
  ]);
  const [row] = await server.sql`select open from subscriptions where id = ${id}`;
  expect(row).toEqual({ open: [] });
});

test('the draft of a pause that is paid after the end is a payment of its subscription', async () => {
  const seller = { url: server.url, key: server.organisation.testKey };
  const prices = [{ currency: 'USD', amount: '9.00', type: 'recurring', interval: 'month' }];
  const product = await ask(seller, 'POST', '/products', { name: 'Plan', prices });
  const wanted = { product_id: product.id, client_reference_id: 'seat-7' };
  const first = await buy(seller, { means: ['good'], ...wanted });
  const { subscription_id: id } = await ask(seller, 'GET', `/payments/${first}`);
  await ask(seller, 'POST', `/subscriptions/${id}/pause`, { keep_invoices: true });
  await ask(seller, 'POST', '/test-clock', { advance: 'P1M' });
  const [draft] = (await ask(seller, 'GET', `/invoices?subscription_id=${id}&status=draft`)).data;
  await ask(seller, 'POST', `/subscriptions/${id}/cancel`, { mode: 'immediate' });
  await ask(seller, 'POST', `/invoices/${draft.id}/finalize`);
  const pay = () => server.call('POST', `/invoices/${draft.id}/pay`);
  const replies = await Promise.all(Array.from({ length: 6 }, pay));
  expect(replies.every(({ status }) => status === 200 || status === 202)).toBe(true);
  await until('it is paid', async () => (await pay()).status === 200);
  const { data } = await ask(seller, 'GET', `/payments?subscription_id=${id}`);
  expect(data).toMatchObject([
    { invoice_id: draft.id, transaction_type: 'RECURRING', client_reference_id: 'seat-7' },
    { id: first },
  ]);
  const events = (await ask(seller, 'GET', `/events?object_id=${id}`)).data;
  expect(events[0]).toMatchObject({
    type: 'payment.succeeded',
    data: {
      transactionType: 'RECURRING',
      subscriptionId: id,
      invoiceId: draft.id,
      clientReferenceId: 'seat-7',
      paymentId: data[0].id,
    },
  });
  expect((await ask(seller, 'GET', `/subscriptions/${id}`)).status).toBe('canceled');
});

test('the draft that a resume replaces is not charged while the resume waits for its payment', async () => {
  const slow = await startServer({ settings: { sandboxSettleMs: 3_600_000 } });
  try {
    const seller = { url: slow.url, key: slow.organisation.testKey };
    const prices = [{ currency: 'EUR', amount: '9.00', type: 'recurring', interval: 'month' }];
    const product = await ask(seller, 'POST', '/products', { name: 'Plan', prices });
    const wanted = { product_id: product.id, currency: 'EUR' };
    await buy(seller, { means: ['iban'], ...wanted });
    await ask(seller, 'POST', '/test-clock', { advance: 'P1D' });
    const [{ id }] = (await ask(seller, 'GET', '/subscriptions')).data;
    await ask(seller, 'POST', `/subscriptions/${id}/pause`, { keep_invoices: true });
    await ask(seller, 'POST', '/test-clock', { advance: 'P1M' });
    const [draft] = (await ask(seller, 'GET', '/invoices?status=draft')).data;
    // A debit settles later.
    await ask(seller, 'POST', `/subscriptions/${id}/resume`);
    await ask(seller, 'POST', `/invoices/${draft.id}/finalize`);
    const refused = await slow.call('POST', `/invoices/${draft.id}/pay`);
    expect([refused.status, refused.json.error.message]).toEqual([
      409,
      'its subscription is being resumed: once that is paid, a new period takes the place of this one',
    ]);
    await ask(seller, 'POST', '/test-clock', { advance: 'P1D' });
    expect((await ask(seller, 'GET', `/subscriptions/${id}`)).status).toBe('active');
    expect((await ask(seller, 'GET', `/invoices/${draft.id}`)).status).toBe('void');
    const { data } = await ask(seller, 'GET', `/payments?subscription_id=${id}`);
    expect(data).toHaveLength(2);
  } finally {
    await slow.stop();
  }
});
