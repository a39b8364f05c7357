// The allowed actions for each state of a subscription: any other is refused, and the answer names
// the allowed ones.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Plan } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
let free: Plan;
let paid: Plan;
let customer: string;
beforeAll(async () => {
  club = await Club.open();
  [free, paid] = [await club.plan({ amount: '0' }), await club.plan()];
  customer = await club.customer();
});
afterAll(() => club.close());

const active = () => club.subscribe(free, customer);
const after =
  (...actions: [string, object?][]) =>
  async () => {
    const subscription = await active();
    for (const [action, body] of actions) await club.act(subscription.id, action, body);
    return subscription;
  };

const ALL = 'cancel, uncancel, pause, resume, change, unschedule, end-trial';
const SITUATIONS: Record<string, () => Promise<{ id: string }>> = {
  active,
  'in a trial': () => club.subscribe(free, customer, { trial_days: 5 }),
  paused: after(['pause']),
  'to be canceled': after(['cancel']),
  'to be canceled, in a trial': async () => {
    const trial = await club.subscribe(free, customer, { trial_days: 5 });
    await club.act(trial.id, 'cancel');
    return trial;
  },
  'with an unpaid invoice': () => club.subscribe(paid, customer),
  ended: after(['cancel', { mode: 'immediate' }]),
};

const BODIES: Record<string, object> = { change: { quantity: 2 } };

// prettier-ignore
const LEGAL: [string, string][] = [
  // where it stands                what is possible
  ['active',                        'cancel, uncancel, pause, resume, change'],
  ['in a trial',                    'cancel, uncancel, pause, resume, change, end-trial'],
  ['paused',                        'cancel, uncancel, pause, resume'],
  ['to be canceled',                'cancel, uncancel, pause, resume, change'],
  ['to be canceled, in a trial',    'cancel, uncancel, pause, resume, change'],
  ['with an unpaid invoice',        'cancel, uncancel, pause, resume'],
  ['ended',                         ''],
];
test.each(LEGAL)(
  'a subscription that is %s takes the actions allowed then, and refuses the others with 409',
  async (situation, legal) => {
    for (const action of ALL.split(', ')) {
      const { id } = await SITUATIONS[situation]!();
      const before = [await club.subscription(id), await club.types(id)];
      const [status, type, message] = await club.refused(id, action, BODIES[action]);
      if (legal.split(', ').includes(action)) {
        expect([action, status]).toEqual([action, 200]);
        continue;
      }
      // What has ended is canceled already.
      if (situation === 'ended' && action === 'cancel') {
        expect(status).toBe(200);
      } else {
        expect([action, status, type]).toEqual([action, 409, 'invalid_state']);
        expect(message).toContain(`legal now: ${legal === '' ? 'nothing' : legal}`);
      }
      expect([await club.subscription(id), await club.types(id)]).toEqual(before);
    }
  },
);

test('a 409 of an action on a subscription is replayed under its key', async () => {
  const { id } = await after(['pause'])();
  const headers = { 'idempotency-key': 'refused' };
  const change = () => club.post(`/subscriptions/${id}/change`, { quantity: 2 }, { headers });
  const first = await change();
  await club.act(id, 'resume');
  const again = await change();
  expect([first.status, again.status, again.text]).toEqual([409, 409, first.text]);
});
