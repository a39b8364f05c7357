// Every two of what may happen to an invoice of a subscription at once, and random histories: the
// outcome is one of an order of them, and the books agree. Every two in a row: the file of the
// night.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { type TestServer, withTenants } from '../../support/server.ts';
import { GOOD, openPortal } from '../portal/customer.ts';
import { openInvoice } from './subscribed-life.ts';
import { expectNoErrors, live, liveAtRandom, startLives } from './subscribed-lives.ts';
import { ACTIONS, SITUATIONS } from './subscribed-reference.ts';

setDefaultTimeout(1_200_000);

let server: TestServer;
beforeAll(async () => {
  server = await startLives();
});
afterAll(() => server.stop());

test('six callers at once for each of 80 invoices of a card that was just stored', async () => {
  // In time of its own: the months of the others would renew all of its subscriptions.
  const shop = await withTenants(server);
  const portal = await openPortal(shop, { email: 'ada@example.com' });
  const invoices: string[] = [];
  for (let left = 80; left > 0; left -= 1) {
    invoices.push(await openInvoice(shop, portal.customer));
  }
  const saving = portal.saveCard(GOOD);
  const callers = invoices.flatMap((id) => Array.from({ length: 6 }, () => id));
  const replies = await Promise.all([
    ...callers.map((id) => shop.call('POST', `/invoices/${id}/pay`)),
    shop.call('POST', '/test-clock', { body: { advance: 'PT1H' } }),
  ]);
  expect((await saving).status).toBe(303);
  const unexpected = replies.filter(({ status }) => ![200, 202, 402].includes(status));
  expect(unexpected.map(({ text }) => text)).toEqual([]);
  const again = await Promise.all(invoices.map((id) => shop.call('POST', `/invoices/${id}/pay`)));
  expect(again.filter(({ json }) => json.status !== 'paid')).toEqual([]);
  const announced = await server.sql<{ times: number }[]>`
    select count(*)::int as times from events
    where type = 'payment.succeeded' and data ->> 'invoiceId' = any(${invoices}) group by data ->> 'invoiceId'`;
  expect(announced.map(({ times }) => times)).toEqual(invoices.map(() => 1));
  const chased = await server.sql`
    select id from subscriptions where customer_id = ${portal.customer} and open <> '[]'`;
  expect([...chased]).toEqual([]);
  expect(await audit(server.sql)).toEqual([]);
});

test.each(SITUATIONS)('two things that happen to an invoice at once: %s', async (situation) => {
  for (const [index, one] of ACTIONS.entries()) {
    for (const other of ACTIONS.slice(index + 1)) await live(server, situation, [[one, other]]);
  }
  expect(await audit(server.sql)).toEqual([]);
});

test('random histories of an invoice', () => liveAtRandom(server, 20));

test('no error is logged while invoices live', () => expectNoErrors(server));
