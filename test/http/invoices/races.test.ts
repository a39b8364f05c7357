// An invoice is paid and voided at once: one of the two wins, and the money of the other's payment
// goes back as a normal refund.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { casesOf } from '../../support/cases.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { GOOD, openPortal } from '../portal/customer.ts';

setDefaultTimeout(120_000);

const RACES = casesOf(300);
const AT_ONCE = 15;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const post = (path: string, body?: object) =>
  server.call('POST', path, body === undefined ? {} : { body });

test('an invoice paid and voided at once is paid or void, and no money is kept for a void one', async () => {
  const portal = await openPortal(server, { email: 'ada@example.com' });
  expect((await portal.saveCard(GOOD)).status).toBe(303);
  const lines = [{ description: 'Hours', unit_amount: '20.00' }];
  let race = 0;
  const one = async (): Promise<void> => {
    const bill = { customer_id: portal.customer, currency: 'USD', lines };
    const { id } = (await post('/invoices', bill)).json;
    // The earlier the void, the more often it wins.
    const paying = post(`/invoices/${id}/pay`);
    await Bun.sleep(race++ % 12);
    const [paid, gone] = await Promise.all([paying, post(`/invoices/${id}/void`)]);
    // An alarm decides a slow charge.
    const read = async () => (await server.call('GET', `/invoices/${id}`)).json;
    await until('it is decided', async () => (await read()).status !== 'open');
    const invoice = await read();
    const [payment] = await server.sql<{ id: string }[]>`
      select id from payments where invoice_id = ${id} and paid_at is not null`;
    const isVoid = gone.status === 200;
    expect([gone.status, invoice.status, payment !== undefined]).toEqual(
      isVoid ? [200, 'void', false] : [409, 'paid', true],
    );
    expect(isVoid ? [409] : [200, 202]).toContain(paid.status);
    if (payment === undefined) return;
    expect((await post(`/payments/${payment.id}/refund`)).json.status).toBe('succeeded');
  };
  for (let done = 0; done < RACES; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  }
  await until('every refund is on its invoice', async () => {
    const owed = await server.sql`
      select 1 from followups where payment_id in (
        select id from payments where organisation_id = ${server.organisation.id})`;
    return owed.length === 0;
  });
  expect(await audit(server.sql)).toEqual([]);
  expect(
    server.logged.filter((line) => /follow-up|closed invoice|was not paid/.test(line)),
  ).toEqual([]);
});
