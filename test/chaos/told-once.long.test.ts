// The process is killed between a change (a voided invoice, a replaced card, an ended
// subscription) and the step that follows from it: that step is done all the same, and first.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { ask, buy, type Seller } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { call } from './call.ts';
import { type Killable, startKillable } from './killable.ts';
import { DECIDED_MS_MAX, withSql, wrongBooks } from './money.ts';
import { openSteps, type Step, type Steps } from './steps.ts';
import { createKeys } from './tenant.ts';

setDefaultTimeout(60_000);

const HEARS: Step = {
  name: 'the subscription hears of it',
  on: 'update on subscriptions',
  when: 'old.open <> new.open',
};

const GOES: Step = {
  name: 'the invoice becomes void',
  on: 'update on invoices',
  when: `new.status = 'void'`,
};

let service: Killable;
let steps: Steps;
let key: string;
let product_id: string;
beforeAll(async () => {
  service = await startKillable();
  steps = await openSteps(service.databaseUrl, [HEARS, GOES]);
  key = (await createKeys(service.databaseUrl)).testKey;
  const prices = [{ amount: '10', currency: 'USD', type: 'recurring', interval: 'month' }];
  ({ id: product_id } = await ask(await seller(), 'POST', '/products', { name: 'Plan', prices }));
});
afterAll(async () => {
  await steps.stop();
  await service.stop();
});

const seller = async (): Promise<Seller> => ({ url: await service.target(), key });
const read = async (path: string) => ask(await seller(), 'GET', path);

/** A subscription whose renewal has failed: its id, its customer's, and the unpaid invoice's. */
async function failing(name: string) {
  const buyer = { customer_email: `${name}@example.com`, external_customer_id: name };
  const payment = await buy(await seller(), { means: ['renewalFails'], product_id, ...buyer });
  await ask(await seller(), 'POST', '/test-clock', { advance: 'P32D' });
  const { subscription_id: id, customer_id: customer } = await read(`/payments/${payment}`);
  const { data } = await read(`/invoices?subscription_id=${id}`);
  const invoice = data.find(({ status }: { status: string }) => status === 'open').id;
  expect((await read(`/subscriptions/${id}`)).overdue_state).toBe('warning');
  return { id, customer, invoice };
}

async function killBefore(step: Step, act: () => Promise<unknown>): Promise<void> {
  const held = await steps.hold(step);
  const acted = act().catch(() => undefined);
  await held.reached();
  await service.kill();
  await acted;
  await held.end('rolled back');
  await service.restart();
}

test('a voided invoice is not chased by dunning, even after a kill -9 before that was heard', async () => {
  const { id, invoice } = await failing('void');
  const at = await seller();
  await killBefore(HEARS, () => ask(at, 'POST', `/invoices/${invoice}/void`));
  expect((await read(`/invoices/${invoice}`)).status).toBe('void');
  const isClear = async () => (await read(`/subscriptions/${id}`)).overdue_state === 'clear';
  await until('nothing is overdue', isClear, DECIDED_MS_MAX);
  expect(await withSql(service.databaseUrl, wrongBooks)).toEqual([]);
});

test('an unpaid invoice is retried with a new card, even after a kill -9 before that was heard', async () => {
  const { id, customer, invoice } = await failing('card');
  const at = await seller();
  const { token } = await ask(at, 'POST', `/customers/${customer}/portal-tokens`, {});
  const page = `${at.url}/portal/${token}/payment-method`;
  const text = await (await fetch(page)).text();
  const attempt = must(/name="attempt" value="([^"]+)"/.exec(text)?.[1], 'an attempt');
  const card = { card_number: '4242424242424242', card_expiry: '12/34', card_cvc: '123' };
  const body = new URLSearchParams({ attempt, payment_method: 'card', ...card });
  await killBefore(HEARS, () => fetch(page, { method: 'POST', body, redirect: 'manual' }));
  const isPaid = async () => (await read(`/invoices/${invoice}`)).status === 'paid';
  await until('it is paid', isPaid, DECIDED_MS_MAX);
  expect((await read(`/subscriptions/${id}`)).overdue_state).toBe('clear');
  expect(await withSql(service.databaseUrl, wrongBooks)).toEqual([]);
});

test('an unpaid invoice of an ended subscription is not charged, even after a kill -9 before that was heard', async () => {
  const { id, invoice } = await failing('end');
  const at = await seller();
  const cancel = () => ask(at, 'POST', `/subscriptions/${id}/cancel`, { mode: 'immediate' });
  await killBefore(GOES, cancel);
  const { status } = await call(await seller(), `/invoices/${invoice}/pay`, {});
  expect(status).toBe(409);
  expect((await read(`/invoices/${invoice}`)).status).toBe('void');
  expect(await withSql(service.databaseUrl, wrongBooks)).toEqual([]);
});
