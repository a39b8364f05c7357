// A pending charge cannot be recalled: its invoice keeps its status until the charge is decided.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { ask, buy } from '../../support/shop.ts';
import { openPortal, subscribe } from '../portal/customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { sandboxSettleMs: 3_600_000 } });
});
afterAll(() => server.stop());

test('an invoice whose debit is at the bank cannot be voided, nor once it is paid', async () => {
  const seller = { url: server.url, key: server.organisation.testKey };
  const prices = [{ currency: 'EUR', amount: '9.00', type: 'recurring', interval: 'month' }];
  const product = await ask(seller, 'POST', '/products', { name: 'Plan', prices });
  const wanted = { product_id: product.id, currency: 'EUR', external_customer_id: 'slow' };
  await buy(seller, { means: ['iban'], ...wanted });
  await ask(seller, 'POST', '/test-clock', { advance: 'P1D' });
  const [first] = (await ask(seller, 'GET', '/invoices')).data as { period_end: string }[];
  await ask(seller, 'POST', '/test-clock', { now: first!.period_end });
  const [invoice] = (await ask(seller, 'GET', '/invoices?status=open')).data as { id: string }[];
  const refused = await server.call('POST', `/invoices/${invoice!.id}/void`);
  expect([refused.status, refused.json.error.message]).toEqual([
    409,
    'a payment of the invoice is under way: it decides first',
  ]);
  await ask(seller, 'POST', '/test-clock', { advance: 'P1D' });
  expect(await ask(seller, 'GET', `/invoices/${invoice!.id}`)).toMatchObject({ status: 'paid' });
  expect((await server.call('POST', `/invoices/${invoice!.id}/void`)).json.error.message).toContain(
    'the invoice is paid',
  );
});

test('POST /pay of an invoice whose debit is at the bank is 202, whatever was asked before', async () => {
  const seller = { url: server.url, key: server.organisation.testKey };
  const portal = await openPortal(server, { email: 'late@example.com' });
  const { id } = await subscribe(server, portal.customer);
  const [invoice] = (await ask(seller, 'GET', `/invoices?subscription_id=${id}`)).data;
  const pay = () => server.call('POST', `/invoices/${invoice.id}/pay`);
  const refused = await pay();
  expect([refused.status, refused.json.error.message]).toEqual([
    402,
    'there is no payment method to charge',
  ]);
  await ask(seller, 'POST', '/test-clock', { advance: 'P4D' });
  const { text } = await portal.get('payment-method');
  const attempt = /name="attempt" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const iban = 'DE89370400440532013000';
  await portal.submit('payment-method', { attempt, payment_method: 'bank_debit', iban });
  expect([(await pay()).status, (await pay()).status]).toEqual([202, 202]);
  const { data } = await ask(seller, 'GET', `/payments?subscription_id=${id}`);
  expect(data).toMatchObject([{ status: 'processing', invoice_id: invoice.id }]);
  await ask(seller, 'POST', '/test-clock', { advance: 'P1D' });
  expect((await pay()).json).toMatchObject({ status: 'paid', payment_id: data[0].id });
});
