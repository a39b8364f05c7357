// The commands on a subscription and their outcomes, in each situation that it can be in.
import { describe, expect, test } from 'bun:test';
import { ACTIONS, TRANSITIONS } from '../../ledger/subscriptions/transitions.ts';
import { isTrial, phaseName } from '../../ledger/subscriptions/subscription.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import {
  CHEAPER,
  DEARER,
  MONTHLY,
  SubscriptionWorld,
  YEARLY,
  chargesOf,
  told,
} from './subscription-world.ts';
import {
  DATA,
  END,
  SITUATIONS,
  active,
  after,
  cancel,
  change,
  iso,
  pause,
  pausedTooLong,
  trial,
  waitingToResume,
} from './subscription-situations.ts';
import { DAY, HOUR, T0 } from './world.ts';

const COMMANDS = {
  cancel: cancel('at_period_end'),
  'cancel now': cancel('immediate'),
  uncancel: { kind: 'uncancel' },
  pause: pause(),
  resume: { kind: 'resume' },
  change: change(),
  unschedule: { kind: 'unschedule' },
  'end trial': { kind: 'end_trial' },
} as const satisfies Record<string, Command>;

/**
 * The events for the merchant; `-` is no event, `pay` a charge that comes first, `no` a refusal.
 */
// prettier-ignore
const TABLE: [keyof typeof SITUATIONS, string, string, string, string, string, string, string, string][] = [
  // situation cancel cancel now uncancel pause resume change unschedule end trial
  ['trial',                    'canceled',                 'canceled trial_ended expired', '-',       'updated', '-',       'updated', 'no',      'trial_ended'],
  ['active',                   'canceled',                 'canceled expired',             '-',       'updated', '-',       'pay',     'no',      'no'],
  ['charge under way',         'canceled',                 'canceled expired',             '-',       'updated', '-',       'no',      'no',      'no'],
  ['scheduled cancel',         '-',                        'canceled expired',             'updated', 'updated', '-',       'pay',     'no',      'no'],
  ['paused',                   'canceled',                 'canceled expired',             '-',       '-',       'updated', 'no',      'no',      'no'],
  ['paused, invoices',         'canceled',                 'canceled expired',             '-',       'updated', 'updated', 'no',      'no',      'no'],
  ['paused past its end',      'canceled expired',         'canceled expired',             '-',       '-',       'pay',     'no',      'no',      'no'],
  ['overdue warning',          'canceled',                 'canceled expired',             '-',       'updated', '-',       'no',      'no',      'no'],
  ['overdue blocked',          'canceled',                 'canceled expired',             '-',       'updated', '-',       'no',      'no',      'no'],
  ['waiting to change',        'updated canceled',         'updated canceled expired',     '-',       'no',      '-',       'no',      'updated', 'no'],
  ['waiting to resume',        'updated canceled expired', 'updated canceled expired',     '-',       'no',      '-',       'no',      'updated', 'no'],
  ['ended',                    'unknown',                  'unknown',                      'unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown'],
  ['ended, charge under way',  'unknown',                  'unknown',                      'unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown'],
];

describe.each(TABLE)('a subscription that is %s', (situation, ...cells) => {
  test.each(Object.entries(COMMANDS).map(([name, command], n) => [name, cells[n], command]))(
    '%s: %s',
    (_name, expected, command) => {
      const world = SITUATIONS[situation]();
      const before = world.state;
      const { kind, legal, events, orders, followups } = world.do(command);
      const pays = chargesOf(followups).length > 0 && events.length === 0;
      const came = kind === 'done' ? told(events).join(' ') || (pays ? 'pay' : '-') : kind;
      expect(came.replace('invalid_state', 'no')).toBe(String(expected));
      if (kind === 'done') return;
      expect(world.state).toEqual(before);
      expect(orders).toEqual([]);
      expect([...legal]).toEqual(
        kind === 'unknown' ? [] : ACTIONS.filter((action) => TRANSITIONS[action].holds(before)),
      );
    },
  );

  test('each command on a subscription again changes nothing more', () => {
    for (const command of [cancel('immediate'), cancel('at_period_end'), pause(true)]) {
      const world = SITUATIONS[situation]();
      world.do(command);
      const once = world.state;
      expect(world.do(command).events).toEqual([]);
      expect(world.state).toEqual(once);
    }
  });
});

const AT = T0 + HOUR;

test('a manual start of a subscription writes its event and bills the first period', () => {
  const world = new SubscriptionWorld();
  const { events, orders, followups } = world.start();
  expect(events.map(({ type, data }) => [type, data])).toEqual([['subscription.created', DATA]]);
  expect(events[0]).toMatchObject({ objectType: 'SUBSCRIPTION', objectId: 'sub', sequence: 1n });
  expect(orders).toMatchObject([{ kind: 'start', cycle: { anchor: T0, count: 1 } }]);
  expect(followups).toMatchObject([
    {
      kind: 'bill',
      at: T0,
      invoice: {
        reason: 'subscription_create',
        lines: [{ type: 'recurring', quantity: 1, unitAmount: 3000n }],
        periodStart: T0,
        periodEnd: END,
        isDraft: false,
      },
      payment: { amount: 3000n, attempt: 1, transactionType: 'SUBSCRIPTION_START' },
    },
  ]);
  // A signup is known by its subscription, never by its charge.
  expect(world.paid().events).toMatchObject([
    {
      type: 'payment.succeeded',
      data: {
        paymentId: null,
        transactionId: null,
        subscriptionId: 'sub',
        amount: '30.00',
        transactionType: 'SUBSCRIPTION_START',
      },
    },
  ]);
  expect(world.state.open).toEqual([]);
});

test('a signup that was paid on the page is not billed again', () => {
  const world = new SubscriptionWorld();
  const paid = {
    paymentId: 'p',
    amount: 3000n,
    customerEmail: 'other@example.com',
    invoiceId: 'i',
    method: null,
  };
  const { events, followups } = world.start({ paid });
  expect(followups).toEqual([]);
  expect(told(events)).toEqual(['created', 'payment.succeeded']);
  expect(events[1]?.data).toMatchObject({
    paymentId: null,
    invoiceId: 'i',
    amount: '30.00',
    customerEmail: 'other@example.com',
    transactionType: 'SUBSCRIPTION_START',
  });
});

test('a start of a subscription that is decided late has done what was due since', () => {
  const world = new SubscriptionWorld();
  world.now = T0 + 70 * DAY;
  const { followups } = world.start({ startAt: T0 });
  expect(followups.map((followup) => followup.kind === 'bill' && followup.invoice.reason)).toEqual([
    'subscription_create',
    'subscription_cycle',
    'subscription_cycle',
  ]);
  expect(world.due).toBeGreaterThan(world.now);
});

test('a subscription canceled at the end of its period is active until then', () => {
  const world = active();
  const { events, orders } = world.do(cancel('at_period_end'));
  const scheduled = { cancelAtPeriodEnd: true, cancellationEffectiveAt: iso(END) };
  expect(events.map(({ data }) => data)).toEqual([{ ...DATA, ...scheduled }]);
  expect(orders).toMatchObject([{ kind: 'expire_at', at: END }]);
  const uncanceled = world.do({ kind: 'uncancel' });
  expect(uncanceled.events.map(({ data }) => data)).toEqual([
    {
      ...DATA,
      changes: ['cancelAtPeriodEnd', 'cancellationEffectiveAt'],
      previous: { cancelAtPeriodEnd: true, cancellationEffectiveAt: iso(END) },
    },
  ]);
  expect(uncanceled.orders).toMatchObject([{ kind: 'expire_at', at: null }]);
  world.do(cancel('at_period_end'));
  world.wait(40 * DAY);
  const last = world.events.at(-1);
  expect(last).toMatchObject({ type: 'subscription.expired', timestamp: END });
  expect(last?.data).toEqual({
    ...DATA,
    status: 'canceled',
    cancellationEffectiveAt: iso(END),
    reason: 'cancellation_effective',
  });
  expect(world.allowances.held).toBe(false);
  expect(world.followups).toHaveLength(1);
});

test('a subscription canceled at once is canceled, and expired in the same decision', () => {
  const world = active();
  const { events, orders } = world.do(cancel('immediate'));
  const ended = { status: 'canceled', cancellationEffectiveAt: iso(AT) };
  expect(events.map(({ data }) => data)).toEqual([
    { ...DATA, ...ended },
    { ...DATA, ...ended, reason: 'immediate' },
  ]);
  expect(orders).toMatchObject([{ kind: 'withdraw', how: 'expired' }]);
  expect(world.due).toBe(Infinity);
});

test('a trial that is canceled is over at its end, uncharged', () => {
  const world = trial();
  world.do(cancel('at_period_end'));
  world.wait(30 * DAY);
  expect(told(world.events)).toEqual(['created', 'canceled', 'trial_ended', 'expired']);
  expect(world.events[2]?.data).toMatchObject({
    outcome: 'expired',
    trialEndedAt: iso(T0 + 14 * DAY),
    phaseName: 'pro-monthly-trial',
  });
  expect(world.events[3]?.data).toMatchObject({ reason: 'trial_expired', status: 'canceled' });
  expect(world.followups).toEqual([]);
});

test('a trial that completes is converted, and its first charge is recurring', () => {
  const world = trial();
  world.wait(14 * DAY);
  expect(world.events.at(-1)?.data).toMatchObject({
    outcome: 'converted',
    phaseName: 'pro-monthly-evergreen',
    currentPeriodEnd: iso(Date.UTC(2026, 2, 14, 12)),
  });
  expect(chargesOf(world.followups)).toMatchObject([{ transactionType: 'RECURRING' }]);
  const { events } = world.paid();
  expect(events[0]?.data).toMatchObject({ paymentId: chargesOf(world.followups)[0]?.id });
});

test('a trial that is ended by hand begins its first period now', () => {
  const world = trial();
  const { events, orders, followups } = world.do({ kind: 'end_trial' });
  expect(events[0]?.data).toMatchObject({ outcome: 'converted', trialEndedAt: iso(AT) });
  const charged = { kind: 'charge', at: AT };
  expect(orders).toMatchObject([{ kind: 'restart', cycle: { anchor: AT } }, charged]);
  expect(followups).toMatchObject([{ invoice: { periodStart: AT }, payment: { amount: 3000n } }]);
  expect(world.state).toMatchObject({ trialEnd: AT, periodStart: AT, periodIndex: 0 });
});

test('a plan change in a trial costs nothing yet', () => {
  const world = trial();
  const { followups, events } = world.do(change(YEARLY));
  expect(followups).toEqual([]);
  expect(events[0]?.data).toMatchObject({ phaseName: 'pro-yearly-trial' });
  world.wait(14 * DAY);
  expect(chargesOf(world.followups)).toMatchObject([{ amount: 30_000n }]);
  expect(world.state.periodEnd).toBe(Date.UTC(2027, 1, 14, 12));
});

test('a trial that was paused past its end is converted by its resume', () => {
  const world = trial();
  world.do(pause());
  world.wait(30 * DAY);
  expect(isTrial(world.state)).toBe(true);
  world.do({ kind: 'resume' });
  const { events } = world.paid();
  expect(told(events)).toEqual(['payment.succeeded', 'trial_ended', 'updated']);
  expect(phaseName(world.state)).toBe('pro-monthly-evergreen');
});

describe('a pause with a resume', () => {
  test('inside the paid period goes on in the same one', () => {
    const world = active();
    const paused = world.do(pause());
    expect(paused.events[0]?.data).toEqual({
      ...DATA,
      status: 'paused',
      changes: ['status'],
      previous: { status: 'active' },
    });
    expect(paused.orders).toMatchObject([{ kind: 'suspend', why: 'paused' }]);
    world.wait(DAY);
    const resumed = world.do({ kind: 'resume' });
    expect(resumed.events[0]?.data).toEqual({
      ...DATA,
      changes: ['status'],
      previous: { status: 'paused' },
    });
    expect(resumed.orders).toMatchObject([{ kind: 'suspend', why: null }]);
    expect(resumed.followups).toEqual([]);
  });

  test('after the period bills nothing, and begins a new one with its payment', () => {
    const world = pausedTooLong();
    expect(world.followups).toHaveLength(1);
    const { followups } = world.do({ kind: 'resume' });
    expect(followups).toMatchObject([
      {
        invoice: {
          reason: 'subscription_resume',
          periodStart: world.now,
          periodEnd: Date.UTC(2026, 3, 1, 12),
        },
      },
      { kind: 'pending' },
    ]);
    expect(world.state).toMatchObject({ status: 'paused', periodEnd: END });
    world.wait(60 * DAY);
    const { events, orders } = world.paid();
    expect(told(events)).toEqual(['payment.succeeded', 'updated']);
    expect(orders[0]).toMatchObject({ kind: 'restart', cycle: { anchor: END + DAY } });
    expect(world.state).toMatchObject({ status: 'active', pausedAt: null, waiting: null });
    // Time stood still for it while the answer was pending: some steps have become due since.
    expect(world.state.periodStart).toBeGreaterThan(END + DAY);
    expect(world.due).toBeGreaterThan(world.now);
  });

  test('that is refused stays paused, and its invoice is void', () => {
    const world = waitingToResume();
    const [bill] = world.followups.slice(-2);
    const { events, followups } = world.failed();
    expect(told(events)).toEqual(['payment.failed']);
    const invoiceId = bill?.kind === 'bill' ? bill.invoice.id : '';
    expect(followups).toMatchObject([{ kind: 'void', invoiceId }]);
    expect(world.state).toMatchObject({ status: 'paused', overdue: 'clear', open: [] });
    world.wait(1);
    expect(chargesOf(world.do({ kind: 'resume' }).followups)).toHaveLength(1);
  });

  test('that keeps invoices leaves drafts, which nobody is charged for', () => {
    const world = after(pause(true));
    world.wait(65 * DAY);
    const bills = world.followups.slice(1);
    expect(bills).toMatchObject([
      { invoice: { isDraft: true }, payment: null },
      { invoice: { isDraft: true }, payment: null },
    ]);
    expect(world.state.open).toEqual([]);
    const [invoiceId = ''] = bills.flatMap((one) => (one.kind === 'bill' ? [one.invoice.id] : []));
    // The merchant has finalised one.
    const { followups } = world.collect({ invoiceId, amount: 3000n });
    expect(chargesOf(followups)).toMatchObject([{ invoiceId, amount: 3000n, attempt: 1 }]);
  });

  test('that comes to keep invoices after the period goes on from then', () => {
    const world = pausedTooLong();
    const { followups } = world.do(pause(true));
    expect(followups).toMatchObject([
      { kind: 'bill', invoice: { isDraft: true, periodStart: world.now } },
    ]);
    expect(world.state).toMatchObject({ status: 'paused', periodStart: world.now });
    expect(world.allowances.suspended).toBe('paused');
  });

  test('at a set time ends by itself', () => {
    const world = after(pause(false, END - DAY));
    world.goTo(END - HOUR);
    expect(world.state).toMatchObject({ status: 'active', resumesAt: null });
    const late = after(pause(false, END + DAY));
    late.goTo(END + 2 * DAY);
    expect(late.state).toMatchObject({
      status: 'active',
      resumesAt: null,
      waiting: null,
      periodStart: END + DAY,
      open: [{ amount: 3000n, dunning: null }],
    });
  });
});

describe('a plan change', () => {
  test('to a dearer plan begins with its payment', () => {
    const world = active();
    const { events, followups } = world.do(change());
    expect(events).toEqual([]);
    expect(followups).toMatchObject([
      { invoice: { reason: 'subscription_update', periodStart: AT, periodEnd: END } },
      { kind: 'pending' },
    ]);
    expect(world.state.plan).toEqual(MONTHLY);
    expect(told(world.paid().events)).toEqual(['payment.succeeded', 'updated']);
    expect(world.events.at(-1)?.data).toEqual({
      ...DATA,
      planName: 'team',
      phaseName: 'team-evergreen',
      priceId: 'team',
      amount: '90.00',
      changes: ['plan', 'planName', 'phaseName', 'priceId', 'amount'],
      previous: {
        planName: 'pro-monthly',
        phaseName: 'pro-monthly-evergreen',
        priceId: 'monthly',
        amount: '30.00',
      },
    });
    expect(world.state).toMatchObject({ plan: DEARER, periodEnd: END, periodIndex: 0 });
  });

  test('that is declined leaves everything as it was, and gives the credit back', () => {
    const world = new SubscriptionWorld();
    world.start({
      credit: 700n,
      paid: {
        paymentId: 'p',
        amount: 3000n,
        customerEmail: null,
        invoiceId: null,
        method: null,
      },
    });
    const { sequence: _s, eventAt: _e, ...before } = world.state;
    world.do(change());
    expect(world.billing.account.credit).toEqual({});
    world.failed();
    const { sequence: _t, eventAt: _f, ...now } = world.state;
    expect(now).toEqual({ ...before, credit: 700n });
  });

  test('to a cheaper plan leaves a credit, which the next invoice takes', () => {
    const world = active();
    const { events, followups } = world.do(change(CHEAPER));
    expect(told(events)).toEqual(['updated']);
    // Its invoice says so, and nothing is charged.
    expect(followups).toMatchObject([
      {
        invoice: {
          reason: 'subscription_update',
          lines: [
            { type: 'proration', unitAmount: -2996n },
            { type: 'proration', unitAmount: 999n },
            { type: 'credit', unitAmount: 1997n },
          ],
        },
        payment: null,
      },
    ]);
    const { credit } = world.state;
    expect(credit).toBe(1997n);
    world.goTo(END);
    expect(world.followups.at(-1)).toMatchObject({
      invoice: { lines: [{ unitAmount: 1000n }, { type: 'credit', unitAmount: -1000n }] },
      payment: null,
    });
    expect(world.state.credit).toBe(997n);
  });

  test('to another interval begins a new period', () => {
    const world = active();
    world.do(change(YEARLY));
    world.paid();
    expect(world.state).toMatchObject({ periodStart: AT, cycle: { anchor: AT, interval: 'year' } });
    expect(world.state.periodEnd).toBe(Date.UTC(2027, 0, 31, 13));
  });

  test('moves a scheduled cancellation to the end of the period it begins', () => {
    const world = after(cancel('at_period_end'));
    world.do(change(YEARLY));
    world.paid();
    expect(world.state.cancelAt).toBe(world.state.periodEnd);
    expect(world.allowances.expiresAt).toBe(world.state.periodEnd);
  });

  test('that is answered after a scheduled cancellation took effect ends it', () => {
    const world = after(cancel('at_period_end'));
    world.do(change());
    world.wait(40 * DAY);
    expect(world.state.status).toBe('active');
    expect(told(world.paid().events)).toEqual(['payment.succeeded', 'updated', 'expired']);
  });

  test('to the same plan changes nothing, and to another currency is refused', () => {
    const world = active();
    expect(world.do(change(MONTHLY))).toMatchObject({ kind: 'done', events: [], followups: [] });
    expect(world.do(change({ ...DEARER, currency: 'EUR' })).kind).toBe('currency_mismatch');
  });
});
