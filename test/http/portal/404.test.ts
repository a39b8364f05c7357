// Customers see and change only what is their own.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { GOOD, made, openPortal, type Portal, subscribe, UNKNOWN } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let mine: Portal;
let theirs: Portal;
let foreign: string;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ appUrl: url }) });
  mine = await openPortal(server);
  theirs = await openPortal(server, { name: 'Grace Hopper' });
  await theirs.saveCard(GOOD);
  foreign = (await subscribe(server, theirs.customer)).id;
});
afterAll(() => server.stop());

const ACTIONS = ['cancel', 'pause', 'resume', 'uncancel', 'unschedule'];

test.each(ACTIONS)(
  "%s in the portal of another customer's subscription, or an unknown one, is 404",
  async (action) => {
    const before = (await server.call('GET', `/subscriptions/${foreign}`)).json;
    for (const id of [foreign, UNKNOWN]) {
      const { status, json } = await mine.post(action, { subscription_id: id });
      expect([status, json.error]).toEqual([
        404,
        { type: 'not_found', message: 'no such subscription' },
      ]);
      const form = await mine.submit(action, { subscription_id: id });
      expect([form.status, form.text.includes('Page not found')]).toEqual([404, true]);
      expect((await mine.get(`${action}?subscription_id=${id}`)).status).toBe(404);
    }
    expect((await server.call('GET', `/subscriptions/${foreign}`)).json).toEqual(before);
  },
);

test.each(['', 'x', '%00', "'%20or%201=1--"])(
  'the portal page of the subscription %j is 404',
  async (id) => {
    for (const action of ACTIONS) {
      expect((await mine.get(`${action}?subscription_id=${id}`)).status).toBe(404);
    }
  },
);

test("the portal page of another customer's invoice is 404", async () => {
  const { data } = (await server.call('GET', `/invoices?customer_id=${theirs.customer}`)).json;
  const [{ id, number }] = data;
  const own = await theirs.get(`invoices/${id}`);
  expect([own.status, own.text.includes(number)]).toEqual([200, true]);
  for (const other of [id, UNKNOWN, 'x', '%00']) {
    const { status, text } = await mine.get(`invoices/${other}`);
    expect([status, text.includes(number)]).toEqual([404, false]);
  }
});

test('the portal page of a draft invoice is 404', async () => {
  const lines = [{ description: 'Setup', unit_amount: '5.00' }];
  const body = { customer_id: theirs.customer, currency: 'EUR', lines, draft: true };
  const { id } = await made(server, '/invoices', body);
  expect((await theirs.get()).text).not.toContain(id);
  expect((await theirs.get(`invoices/${id}`)).status).toBe(404);
  await server.call('POST', `/invoices/${id}/finalize`);
  expect((await theirs.get()).text).toContain(id);
  expect((await theirs.get(`invoices/${id}`)).status).toBe(200);
});

test('the portal page shows nothing of another customer', async () => {
  const { text } = await mine.get();
  for (const secret of ['Grace', foreign, 'Atlas', '4242</span> <span', 'INV-']) {
    expect(text).not.toContain(secret);
  }
});
