// A call that is cut off between its effect and its answer, and comes again with its key: it gets
// what became of its own first attempt, once that is decided, and nothing is charged twice.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { type Cut, cutOff } from '../../support/cut-off.ts';
import type { Means } from '../../support/means.ts';
import type { Reply } from '../../support/server.ts';
import { Club, type Json, type Plan } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
// It audits.
afterAll(() => club.close());

type Sub = { readonly id: string; readonly plan: Plan; readonly dearer: string };

async function subscribed(means: Means): Promise<Sub> {
  const plan = await club.plan();
  const dearer = await club.price(plan, { amount: '90.00' });
  const session = await club.checkout(plan);
  const { subscription_id: id } = await club.pay(session, means);
  await club.shop.settle();
  return { id, plan, dearer };
}

async function pausedPastItsPeriod(means: Means): Promise<Sub> {
  const sub = await subscribed(means);
  await club.act(sub.id, 'pause');
  await club.advance('P2M');
  return sub;
}

async function inTrial(): Promise<Sub> {
  const plan = await club.plan();
  const { id } = await club.subscribe(plan, await club.cardholder(), { trial_days: 7 });
  return { id, plan, dearer: plan.priceId };
}

/** Its change waits for a debit. */
async function waiting(): Promise<Sub> {
  const sub = await subscribed('iban');
  await club.act(sub.id, 'change', { price_id: sub.dearer });
  return sub;
}

const send = ({ id }: Sub, action: string, body: object | undefined, key: string) =>
  club.post(`/subscriptions/${id}/${action}`, body, { headers: { 'idempotency-key': key } });
const isReplayed = ({ headers }: Reply) => headers.get('idempotency-replayed') === 'true';

const dear = ({ dearer }: Sub) => ({ price_id: dearer });
const none = () => undefined;
const EVERGREEN = expect.stringContaining('-evergreen');

// prettier-ignore
const DECIDED: [string, Cut, () => Promise<Sub>, (sub: Sub) => object | undefined, number, (sub: Sub) => Json, number][] = [
  // action cut of body answer payments
  ['change',     'before its answer',   () => subscribed('good'),                 dear,                    200, ({ dearer }) => ({ price_id: dearer }),      2],
  ['change',     'before its invoice',  () => subscribed('good'),                 dear,                    200, ({ dearer }) => ({ price_id: dearer }),      2],
  ['change',     'before its charge',   () => subscribed('good'),                 dear,                    200, ({ dearer }) => ({ price_id: dearer }),      2],
  ['change',     'before its answer',   () => subscribed('good'),                 () => ({ quantity: 3 }), 200, () => ({ quantity: 3 }),                     2],
  ['change',     'before its answer',   () => subscribed('renewalFails'),         dear,                    402, () => ({ error: { type: 'payment_failed' } }), 2],
  ['change',     'before its invoice',  () => subscribed('renewalFails'),         dear,                    402, () => ({ error: { type: 'payment_failed' } }), 2],
  ['resume',     'before its answer',   () => pausedPastItsPeriod('good'),        none,                    200, () => ({ status: 'active' }),                2],
  ['resume',     'before its charge',   () => pausedPastItsPeriod('good'),        none,                    200, () => ({ status: 'active' }),                2],
  ['resume',     'before its answer',   () => pausedPastItsPeriod('renewalFails'), none,                   402, () => ({ error: { type: 'payment_failed' } }), 2],
  ['end-trial',  'before its answer',   inTrial,                                  none,                    200, () => ({ phase_name: EVERGREEN }),           1],
  ['unschedule', 'before its answer',   waiting,                                  none,                    200, () => ({ pending_change: null }),            2],
];

describe('cut off', () => {
  test.each(DECIDED)(
    '%s, %s: the retry is told what became of it',
    async (action, cut, open, body, status, shown, payments) => {
      const sub = await open();
      const key = ids.next();
      await cutOff(club.shop.server, cut, () => send(sub, action, body(sub), key));
      const retry = await send(sub, action, body(sub), key);
      expect([retry.status, isReplayed(retry), retry.text]).toEqual([status, false, retry.text]);
      expect(retry.json).toMatchObject(shown(sub));
      const again = await send(sub, action, body(sub), key);
      expect([again.text, isReplayed(again)]).toEqual([retry.text, true]);
      expect(await club.payments(sub.id)).toHaveLength(payments);
      await club.shop.settle();
    },
  );

  test.each([
    ['it pays', 200],
    ['it pays not after all', 402],
  ] as const)(
    'while a bank decides, a retry shows that it waits; then it gets the outcome: %s',
    async (_outcome, status) => {
      const sub = await subscribed('iban');
      const key = ids.next();
      const call = () => send(sub, 'change', dear(sub), key);
      await cutOff(club.shop.server, 'before its answer', call);
      const waits = await call();
      expect([waits.status, isReplayed(waits), waits.json.pending_change.price_id]).toEqual([
        200,
        false,
        sub.dearer,
      ]);
      if (status === 402) {
        await club.shop.server.sql`
          update sandbox_charges set next_status = 'declined', failure_code = 'card_declined', failure_message = 'No.'
          where key = ${waits.json.pending_change.payment_id}`;
      }
      await club.shop.settle();
      const decided = await call();
      expect([decided.status, isReplayed(decided)]).toEqual([status, false]);
      expect(decided.json).toMatchObject(
        status === 200
          ? { price_id: sub.dearer, pending_change: null }
          : { error: { type: 'payment_failed', message: 'No.' } },
      );
      expect(isReplayed(await call())).toBe(true);
      expect(await club.payments(sub.id)).toHaveLength(2);
    },
  );

  test('of a customer with nothing to charge: the same refusal, and no second invoice', async () => {
    const plan = await club.plan({ amount: '0.00' });
    const dearer = await club.price(plan, { amount: '90.00' });
    const { id } = await club.subscribe(plan, await club.customer());
    const sub = { id, plan, dearer };
    const key = ids.next();
    const call = () => send(sub, 'change', dear(sub), key);
    await cutOff(club.shop.server, 'before its answer', call);
    const retry = await call();
    expect([retry.status, retry.json.error.message]).toEqual([
      402,
      'there is no payment method to charge',
    ]);
    const bills = (await club.invoices(id)).filter(({ total }) => total !== '0.00');
    expect(bills.map(({ status }) => status)).toEqual(['void']);
  });

  test('its key does not go on with another body', async () => {
    const sub = await subscribed('good');
    const key = ids.next();
    await cutOff(club.shop.server, 'before its invoice', () => send(sub, 'change', dear(sub), key));
    const other = await send(sub, 'change', { quantity: 5 }, key);
    expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
    expect((await send(sub, 'change', dear(sub), key)).json.price_id).toBe(sub.dearer);
  });

  test('the change of another call that waits is refused, and the refusal is kept', async () => {
    const sub = await waiting();
    const key = ids.next();
    const call = () => send(sub, 'change', { quantity: 4 }, key);
    const refused = await call();
    expect([refused.status, refused.json.error.type]).toEqual([409, 'invalid_state']);
    await club.shop.settle();
    expect(isReplayed(await call())).toBe(true);
  });
});
