// An unpaid invoice, and the results of its charges.
import { describe, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { overdueOf } from '../../ledger/subscriptions/dunning.ts';
import {
  DEARER,
  MONTHLY,
  SubscriptionWorld,
  YEARLY,
  chargesOf,
  told,
} from './subscription-world.ts';
import {
  END,
  SITUATIONS,
  active,
  after,
  cancel,
  change,
  iso,
  pause,
  unpaid,
  waitingToResume,
} from './subscription-situations.ts';
import { DAY, HOUR, T0 } from './world.ts';

const FAILURE = { failureCode: 'card_declined', failureMessage: 'no', transactionId: null };

describe('dunning', () => {
  const overdueChanges = (world: SubscriptionWorld) =>
    world.followups.flatMap((one) =>
      one.kind === 'overdue' ? [[(one.at - END) / DAY, one.from, one.to]] : [],
    );

  test('retries 1, 3, 7, 13 and 20 days after the first failure, blocks at 14, ends at 21', () => {
    const world = active();
    world.goTo(END);
    world.failed();
    const before = world.followups.length;
    const tries: unknown[] = [];
    for (let hours = 1; hours <= 30 * 24; hours += 1) {
      world.goTo(END + hours * HOUR, ({ followups }) => {
        for (const { attempt } of chargesOf(followups)) {
          tries.push([(world.now - END) / DAY, attempt]);
          world.failed();
        }
      });
    }
    expect(tries).toEqual([
      [1, 2],
      [3, 3],
      [7, 4],
      [13, 5],
      [20, 6],
    ]);
    expect(overdueChanges(world)).toEqual([
      [0, 'clear', 'warning'],
      [14, 'warning', 'blocked'],
      [21, 'blocked', 'clear'],
    ]);
    const failures = world.events.filter(({ type }) => type === 'payment.failed');
    expect(failures.map(({ data }) => [data['attempt'], data['nextAttemptAt']])).toEqual(
      [1, 3, 7, 13, 20, null].map((days, n) => [
        n + 1,
        days === null ? null : iso(END + days * DAY),
      ]),
    );
    expect(failures[0]?.data).toMatchObject({ ...FAILURE, transactionType: 'RECURRING' });
    const blocked = world.events.find(({ type }) => type === 'subscription.blocked');
    expect(blocked?.data).toEqual({
      subscriptionId: 'sub',
      stateName: 'blocked',
      service: 'dunning',
      blockChange: true,
      blockEntitlement: true,
      blockBilling: false,
      effectiveDate: iso(END + 14 * DAY),
      externalCustomerId: 'u_42',
      metadata: { seat: 'a' },
    });
    const last = world.events.at(-1);
    expect(last?.data).toMatchObject({ reason: 'dunning_exhausted', status: 'canceled' });
    expect(last?.timestamp).toBe(END + 21 * DAY);
    expect(world.followups.slice(before).filter(({ kind }) => kind === 'void')).toHaveLength(1);
    expect(overdueOf(world.billing)).toBe('clear');
  });

  test('opens a blocked subscription that is paid, and writes its event', () => {
    const world = active();
    world.goTo(END);
    world.failed({ hard: true });
    world.wait(15 * DAY);
    expect(world.allowances.suspended).toBe('blocked');
    world.do({ kind: 'method_changed' });
    const { events } = world.paid();
    expect(told(events)).toEqual(['payment.succeeded', 'blocked']);
    expect(events[1]?.data).toMatchObject({ stateName: 'clear', blockChange: false });
    expect(world.allowances.suspended).toBe(null);
    expect(overdueChanges(world).at(-1)).toEqual([15, 'blocked', 'clear']);
  });

  test('does not unblock for a late answer what was blocked since', () => {
    const world = active();
    world.goTo(END);
    const first = world.charge;
    world.failed({ hard: true });
    world.collect({ invoiceId: 'finalised', amount: 100n });
    const second = world.charge;
    expect(second).not.toBe(first);
    world.wait(15 * DAY);
    const settlement = {
      kind: 'paid',
      paymentId: second,
      at: world.now - 3 * DAY,
      transactionId: 't',
    } as const;
    expect(told(world.do({ kind: 'settle', settlement }).events)).toEqual(['payment.succeeded']);
    expect(world.state.overdue).toBe('blocked');
  });

  test('without a payment method charges nothing, but goes on', () => {
    const world = new SubscriptionWorld();
    world.start();
    expect(world.noMethod().events).toEqual([]);
    expect(world.state.overdue).toBe('warning');
    world.wait(DAY);
    expect(chargesOf(world.followups)).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  });

  test('retries unpaid invoices at once with a new method, and one under way when it has failed', () => {
    const world = active();
    world.goTo(END);
    expect(world.do({ kind: 'method_changed' }).followups).toEqual([]);
    expect(chargesOf(world.failed({ hard: true }).followups)).toMatchObject([{ attempt: 2 }]);
    expect(chargesOf(world.failed({ hard: true }).followups)).toEqual([]);
    world.wait(HOUR);
    expect(chargesOf(world.do({ kind: 'method_changed' }).followups)).toHaveLength(1);
    expect(world.do({ kind: 'method_changed' }).followups).toEqual([]);
  });

  test('retries nothing twice for one new method, however often it hears of it', () => {
    const world = active();
    world.goTo(END);
    const attempts = Object.fromEntries(world.state.open.map((one) => [one.invoiceId, 1]));
    const hear = (last: Readonly<Record<string, number>>) =>
      world.do({ kind: 'method_changed', attempts: last }).followups;
    expect(hear(attempts)).toEqual([]);
    expect(hear(attempts)).toEqual([]);
    expect(chargesOf(world.failed({ hard: true }).followups)).toMatchObject([{ attempt: 2 }]);
    expect(hear(attempts)).toEqual([]);
    expect(chargesOf(world.failed({ hard: true }).followups)).toEqual([]);
    expect(hear(attempts)).toEqual([]);
    // Its first try was of after the change.
    expect(hear({})).toEqual([]);
  });

  test('ends when the merchant voids the invoice', () => {
    const world = unpaid(1);
    const [invoice] = world.state.open;
    const closed = { invoiceId: invoice?.invoiceId ?? '', how: 'void', paymentId: null } as const;
    world.do({ kind: 'close_invoice', ...closed });
    expect(world.state).toMatchObject({ open: [], overdue: 'clear' });
  });

  test('does not close an invoice with a charge under way: what was captured is told', () => {
    const world = active();
    world.goTo(END);
    const { charge } = world;
    const [invoice] = world.state.open;
    const closed = { invoiceId: invoice?.invoiceId ?? '', how: 'paid' } as const;
    for (const paymentId of [null, 'another']) {
      expect(world.do({ kind: 'close_invoice', ...closed, paymentId }).followups).toEqual([]);
      expect(world.state.open).toHaveLength(1);
    }
    expect(told(world.paid(charge).events)).toEqual(['payment.succeeded']);
    expect(world.state.open).toEqual([]);
    // An ordered charge that never begins brings no result.
    const other = active();
    other.goTo(END);
    const [ordered] = other.state.open;
    const { invoiceId, paymentId } = must(ordered, 'an invoice that is charged');
    other.do({ kind: 'close_invoice', how: 'void', invoiceId, paymentId });
    expect(other.state.open).toEqual([]);
  });

  test('ends when canceled: unpaid invoices are void, and a charge under way still comes back', () => {
    const voided = unpaid(1);
    expect(voided.do(cancel('immediate')).followups.map(({ kind }) => kind)).toEqual([
      'void',
      'overdue',
    ]);
    expect(voided.billing.subscriptions.size).toBe(0);
    const world = active();
    world.goTo(END);
    const { charge } = world;
    expect(world.do(cancel('immediate')).followups).toEqual([]);
    expect(world.billing.subscriptions.size).toBe(1);
    expect(told(world.paid(charge).events)).toEqual(['payment.succeeded']);
    expect(world.billing.subscriptions.size).toBe(0);
  });

  test('ends a subscription at its own time, whatever had been scheduled', () => {
    const world = new SubscriptionWorld();
    world.start({ plan: YEARLY });
    world.failed({ hard: true });
    world.do(cancel('at_period_end'));
    world.wait(22 * DAY);
    const ended = iso(T0 + 21 * DAY);
    expect(world.events.at(-1)?.data).toMatchObject({ cancellationEffectiveAt: ended });
  });
});

test('a customer is as overdue as the worst of its subscriptions', () => {
  const world = new SubscriptionWorld();
  const changes = () =>
    world.followups.flatMap((one) => (one.kind === 'overdue' ? [`${one.from} ${one.to}`] : []));
  world.start();
  world.noMethod();
  world.wait(5 * DAY);
  world.start({ id: 'other' });
  world.noMethod(world.charge, 'other');
  expect(changes()).toEqual(['clear warning']);
  world.goTo(T0 + 15 * DAY);
  expect(changes()).toEqual(['clear warning', 'warning blocked']);
  // What the other still owes.
  world.do(cancel('immediate'));
  expect(changes().at(-1)).toBe('blocked warning');
  world.do(cancel('immediate'), 'other');
  expect(changes().at(-1)).toBe('warning clear');
});

describe('a lost mandate', () => {
  const lost = { code: 'mandate_lost', hard: true };

  test('ends the subscription at once', () => {
    const world = active();
    world.goTo(END);
    const { events } = world.failed(lost);
    expect(told(events)).toEqual(['payment.failed', 'expired']);
    expect(events[1]?.data).toMatchObject({ reason: 'mandate_lost', status: 'canceled' });
  });

  test('ends a plan change that waited for its payment too', () => {
    const world = waitingToResume();
    expect(told(world.failed(lost).events)).toEqual(['payment.failed', 'expired']);
  });

  test('leaves the decision to another charge that is under way', () => {
    const world = active();
    world.do(change());
    world.collect({ invoiceId: 'finalised', amount: 100n });
    const { open, waiting } = world.state;
    world.failed(lost, open[0]?.paymentId ?? '');
    expect(world.state).toMatchObject({ status: 'active', overdue: 'warning' });
    world.paid(waiting?.paymentId ?? '');
    expect(world.state).toMatchObject({ status: 'active', plan: DEARER });
  });
});

describe("an answer to a subscription's charge", () => {
  test('that comes twice changes nothing the second time', () => {
    const world = active();
    world.goTo(END);
    const { charge } = world;
    world.failed({}, charge);
    for (const again of [() => world.failed({}, charge), () => world.paid(charge)]) {
      expect(again()).toMatchObject({ kind: 'done', events: [], orders: [], followups: [] });
    }
  });

  test('of an unknown subscription changes nothing', () => {
    const world = active();
    expect(world.paid('payment/of/nobody')).toMatchObject({ events: [], followups: [] });
  });

  test('an invoice that a plan change waits for is not charged a second time', () => {
    const world = active();
    world.do(change());
    const { waiting } = world.state;
    const invoiceId = waiting?.invoiceId ?? '';
    expect(world.collect({ invoiceId, amount: 1n }).followups).toEqual([]);
    expect(world.state.open).toEqual([]);
  });

  test('the draft that a resume replaces once it is paid is not charged beside it', () => {
    const world = after(pause(true));
    world.goTo(END + DAY);
    const draft = must(world.followups.at(-1), 'a bill');
    const invoiceId = draft.kind === 'bill' ? draft.invoice.id : '';
    const wanted = { invoiceId, amount: 3000n };
    world.do({ kind: 'resume' });
    expect(world.collect(wanted)).toMatchObject({ kind: 'being_replaced', followups: [] });
    world.failed();
    // It is still paused: then the draft is the merchant's again.
    expect(chargesOf(world.collect(wanted).followups)).toMatchObject([{ invoiceId }]);
    expect(world.do({ kind: 'resume' }).followups).toEqual([]);
    expect(world.state).toMatchObject({ status: 'active', waiting: null });
  });

  test.each(['ended', 'ended, charge under way'] as const)(
    'announces what is paid of it after it has %s',
    (situation) => {
      const world = SITUATIONS[situation]();
      const { sequence, open } = world.state;
      const { followups } = world.collect({ invoiceId: 'finalised', amount: 100n });
      const [charge] = chargesOf(followups);
      expect(charge).toMatchObject({ invoiceId: 'finalised', transactionType: 'RECURRING' });
      const { events } = world.paid(charge?.id);
      expect(events).toMatchObject([
        {
          type: 'payment.succeeded',
          objectType: 'SUBSCRIPTION',
          sequence: sequence + 1n,
          data: { invoiceId: 'finalised', amount: '1.00', subscriptionId: 'sub' },
        },
      ]);
      expect(world.state).toMatchObject({ status: 'canceled', open });
      // Once more.
      expect(world.paid(charge?.id)).toMatchObject({ events: [], followups: [] });
    },
  );
});

test.each(['active', 'canceled'] as const)(
  'an invoice that became void before its refused charge was heard of is closed, and its credit returns once: %s',
  (status) => {
    const world = new SubscriptionWorld();
    world.start({ credit: 1000n });
    if (status === 'canceled') world.do({ kind: 'cancel', mode: 'immediate' });
    const [invoice] = world.state.open;
    const { invoiceId, credit, paymentId } = must(invoice, 'the first invoice');
    expect(credit).toBe(1000n);
    const isVoid = { kind: 'close_invoice', invoiceId, how: 'void', paymentId: null } as const;
    expect(told(world.do(isVoid).events)).toEqual([]);
    const { events, followups } = world.failed();
    expect([told(events), followups]).toEqual([['payment.failed'], []]);
    expect(world.state).toMatchObject({ status, open: [], overdue: 'clear' });
    const kept = world.state.credit + (world.billing.account.credit['USD'] ?? 0n);
    expect(kept).toBe(1000n);
    world.failed({}, paymentId ?? '');
    world.do(isVoid);
    expect(world.state.credit + (world.billing.account.credit['USD'] ?? 0n)).toBe(1000n);
  },
);

test('resuming a blocked subscription neither lifts the block nor charges', () => {
  const world = new SubscriptionWorld();
  world.start({ plan: { ...MONTHLY, interval: 'week' } });
  world.do(pause());
  world.failed({ hard: true });
  world.wait(15 * DAY);
  expect(world.allowances.suspended).toBe('blocked');
  expect(chargesOf(world.do({ kind: 'resume' }).followups)).toEqual([]);
  expect(world.state).toMatchObject({ status: 'active', overdue: 'blocked', waiting: null });
  expect(world.allowances.suspended).toBe('blocked');
  // The debt is paid: the next period begins then.
  const { invoiceId, amount } = must(world.state.open[0], 'what is owed');
  world.collect({ invoiceId, amount });
  const { followups } = world.paid();
  expect(chargesOf(followups)).toHaveLength(1);
  expect(world.state).toMatchObject({ overdue: 'clear', periodStart: world.now });
  expect(world.allowances.suspended).toBeNull();
});

describe('a subscription paused while overdue', () => {
  test('is dunned, blocked, and ended', () => {
    const world = unpaid(1);
    expect(told(world.do(pause()).events)).toEqual(['updated']);
    expect(world.state).toMatchObject({ status: 'paused', overdue: 'warning' });
    expect(world.allowances.suspended).toBe('paused');
    // Each due attempt is made, and fails.
    const goOn = (days: number): void =>
      world.goTo(world.now + days * DAY, () => {
        if (world.state.open.some(({ paymentId }) => paymentId !== null)) world.failed();
      });
    if (world.state.open[0]?.paymentId !== null) world.failed();
    goOn(14);
    expect(world.state).toMatchObject({ status: 'paused', overdue: 'blocked' });
    expect(world.allowances.suspended).toBe('blocked');
    goOn(8);
    expect(world.events.at(-1)).toMatchObject({
      type: 'subscription.expired',
      data: { reason: 'dunning_exhausted' },
    });
  });

  test('stays paused once it is paid', () => {
    const world = unpaid(1);
    world.do(pause());
    world.do({ kind: 'method_changed' });
    world.paid();
    expect(world.state).toMatchObject({ status: 'paused', overdue: 'clear', open: [] });
    expect(world.allowances.suspended).toBe('paused');
  });

  test('blocked past its end, begins no period where it keeps invoices', () => {
    const world = new SubscriptionWorld();
    world.start({ plan: { ...MONTHLY, interval: 'day', intervalCount: 10 } });
    world.failed({ hard: true });
    world.wait(15 * DAY);
    world.failed({ hard: true });
    world.wait(5.5 * DAY);
    const { periodStart, periodEnd } = world.state;
    expect(world.state).toMatchObject({ overdue: 'blocked', status: 'active' });
    expect(periodEnd).toBeLessThan(world.now);
    expect(world.do(pause(true)).followups).toEqual([]);
    expect(world.state).toMatchObject({ status: 'paused', periodStart });
  });
});
