// A charge for which there was nothing to charge never begins: not even where its process dies
// before it could forget it, and the customer stores a card.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { CARDS, Topped } from '../http/auto-topups/setting.ts';
import { openPortal, subscribe } from '../http/portal/customer.ts';
import { keepRowsOwed } from '../support/crashes.ts';
import { until } from '../support/until.ts';
import { PATIENCE_MS } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open({ own: true });
});
afterAll(() => topped.close());

test('an invoice that could not be charged is charged to the next card once, and announced', async () => {
  const { server, shop } = topped;
  const portal = await openPortal(server, { email: 'none@example.com' });
  const { id } = await subscribe(server, portal.customer);
  const [invoice] = (await shop.read(`/invoices?subscription_id=${id}`)).data;
  const crash = await keepRowsOwed(server);
  expect((await server.call('POST', `/invoices/${invoice.id}/pay`)).status).toBe(500);
  await crash.stop();
  await topped.save({ portal }, CARDS.good);
  const isPaid = async () => (await shop.read(`/invoices/${invoice.id}`)).status === 'paid';
  await until('it is paid', isPaid);
  const { data } = await shop.read(`/payments?subscription_id=${id}`);
  expect(data).toMatchObject([{ status: 'succeeded', invoice_id: invoice.id }]);
  const events = (await shop.read(`/events?object_id=${id}&type=payment.succeeded`)).data;
  expect(events).toMatchObject([{ data: { invoiceId: invoice.id } }]);
  expect(await audit(server.sql)).toEqual([]);
});

test('a top-up that could not be charged is charged to the next card once, and granted', async () => {
  const { server } = topped;
  const subject = await topped.subject({ card: null, units: 0 });
  const crash = await keepRowsOwed(server);
  await topped.put(subject);
  await topped.settled(subject, { status: 'suspended', reason: 'no_payment_method' });
  await until('the row of it is still there', async () => {
    const rows = await server.sql`
      select from followups where customer_id = ${subject.customer} and tries > 0`;
    return rows.length > 0;
  });
  await crash.stop();
  await topped.save(subject, CARDS.good);
  await topped.settled(subject, { status: 'armed', reason: null });
  expect(await topped.payments(subject)).toMatchObject([{ status: 'succeeded' }]);
  expect(await topped.level(subject)).toBe(500);
  await until(
    'nothing is owed',
    async () => (await server.sql`select from followups`).length === 0,
  );
  expect(await audit(server.sql)).toEqual([]);
});
