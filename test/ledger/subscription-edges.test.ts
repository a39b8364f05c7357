// Two things at one moment, things that come twice, and things without effect.
import { describe, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { type Command, decideCommand } from '../../ledger/subscriptions/commands.ts';
import type { Subscription } from '../../ledger/subscriptions/subscription.ts';
import { MONTHLY, SubscriptionWorld, chargesOf, told } from './subscription-world.ts';
import {
  END,
  active,
  after,
  cancel,
  change,
  pause,
  trial,
  unpaid,
} from './subscription-situations.ts';
import { DAY, HOUR, T0 } from './world.ts';

const MARCH = Date.UTC(2026, 2, 31, 12);

const firstOpen = ({ open }: Subscription) => must(open[0], 'an invoice that is unpaid');

/** Two invoices, with a pending charge of each. */
function chargedTwice(world: SubscriptionWorld): SubscriptionWorld {
  world.collect(firstOpen(world.state));
  world.collect({ invoiceId: 'finalised', amount: 100n });
  expect(world.state.open.map(({ paymentId }) => paymentId === null)).toEqual([false, false]);
  return world;
}

describe('an invoice of a plan change that its merchant closes', () => {
  function withCredit(): SubscriptionWorld {
    const world = new SubscriptionWorld();
    world.start({ credit: 500n });
    world.failed({ hard: true });
    return world;
  }
  // prettier-ignore
  test.each([
    ['paid otherwise: its credit is spent, and its period has its price', 'paid', { credit: 0n, periodPrice: 3000n }],
    ['void: its credit is there again, and its period is worth nothing',  'void', { credit: 500n, periodPrice: 0n }],
  ] as const)('is %s', (_what, how, left) => {
    const world = withCredit();
    const { invoiceId, amount } = firstOpen(world.state);
    expect(amount).toBe(2500n);
    world.do({ kind: 'close_invoice', invoiceId, how, paymentId: null });
    expect(world.state).toMatchObject({ open: [], overdue: 'clear', ...left });
  });

  test('of another subscription writes nothing', () => {
    for (const how of ['paid', 'void'] as const) {
      const world = withCredit();
      const before = world.state;
      world.do({ kind: 'close_invoice', invoiceId: 'another', how, paymentId: null });
      expect(world.state).toBe(before);
    }
  });
});

describe('a subscription ended with two charges under way', () => {
  test('knows each until it is answered', () => {
    const world = chargedTwice(unpaid(1));
    const invoices = world.state.open;
    world.do(cancel('immediate'));
    for (const invoice of invoices) {
      expect(world.collect(invoice)).toMatchObject({
        kind: 'ordered',
        followups: [],
      });
    }
    // One that it never chased is charged by itself, and left open where that is declined.
    const { followups } = world.collect({ invoiceId: 'other', amount: 1n }, 2);
    expect(chargesOf(followups)).toMatchObject([{ invoiceId: 'other', attempt: 3 }]);
    expect(world.failed({}, chargesOf(followups)[0]?.id).followups).toEqual([]);
    expect(world.state.open).toEqual(invoices);
  });

  test('is not blocked any more by what is unpaid', () => {
    const world = chargedTwice(unpaid(15));
    const [, second] = world.state.open;
    world.do(cancel('immediate'));
    expect(world.state.overdue).toBe('clear');
    expect(told(world.failed({}, second?.paymentId ?? '').events)).toEqual(['payment.failed']);
    expect(world.state).toMatchObject({ overdue: 'clear', status: 'canceled' });
  });
});

describe('an overdue subscription tells its next step', () => {
  const overdue = ({ followups }: SubscriptionWorld) =>
    followups.flatMap((one) => (one.kind === 'overdue' ? [[one.to, one.nextAt]] : []));

  test('blocked next, then over, then nothing', () => {
    const world = unpaid(22);
    expect(overdue(world)).toEqual([
      ['warning', END + 14 * DAY],
      ['blocked', END + 21 * DAY],
      ['clear', null],
    ]);
  });

  test('of several, the first to come', () => {
    const world = new SubscriptionWorld();
    for (const id of ['sub', 'other', 'paid']) world.start({ id });
    const [first, second] = chargesOf(world.followups);
    world.noMethod(first?.id);
    world.wait(HOUR);
    world.noMethod(second?.id, 'other');
    world.goTo(T0 + 15 * DAY);
    expect(overdue(world)).toEqual([
      ['warning', T0 + 14 * DAY],
      ['blocked', T0 + 14 * DAY + HOUR],
    ]);
  });
});

describe('a pause', () => {
  test('of a paused subscription goes on from when it began', () => {
    const world = after(pause(), pause(true));
    expect(world.state).toMatchObject({ pausedAt: T0 + HOUR, keepInvoices: true });
  });

  test('that ends with its period begins a new one', () => {
    const world = after(pause());
    world.goTo(END);
    expect(chargesOf(world.do({ kind: 'resume' }).followups)).toMatchObject([{ amount: 3000n }]);
  });

  test('that ends a moment before its period goes on in it', () => {
    const world = after(pause());
    world.goTo(END - 1);
    expect(world.do({ kind: 'resume' }).followups).toEqual([]);
    expect(world.state).toMatchObject({ status: 'active', periodEnd: END });
  });

  test('from the first moment of a period that was made free leaves it free', () => {
    const world = new SubscriptionWorld();
    world.start();
    world.failed({ hard: true });
    const { invoiceId } = firstOpen(world.state);
    world.do({ kind: 'close_invoice', invoiceId, how: 'void', paymentId: null });
    world.do(pause());
    expect(world.state).toMatchObject({ pausedAt: T0, periodStart: T0, periodPrice: 0n });
    expect(world.do({ kind: 'resume' }).followups).toEqual([]);
    expect(world.state.status).toBe('active');
  });

  // prettier-ignore
  test.each([
    ['a plan that costs nothing goes on with the period', 0n, END],
    ['a plan that costs a coin begins a new one',         1n, END + DAY],
  ])('over the start of a period, %s', (_what, unitAmount, periodStart) => {
    const world = new SubscriptionWorld();
    world.start({ plan: { ...MONTHLY, unitAmount } });
    if (unitAmount > 0n) world.paid();
    world.wait(HOUR);
    world.do(pause(true));
    world.goTo(END + DAY);
    world.do({ kind: 'resume' });
    if (unitAmount > 0n) world.paid();
    expect(world.state).toMatchObject({ status: 'active', periodStart });
  });

  test('whose resume begins a new period moves a scheduled end to the end of that', () => {
    const world = after(pause(true));
    world.goTo(END + DAY);
    world.do(cancel('at_period_end'));
    expect(world.state.cancelAt).toBe(MARCH);
    world.do({ kind: 'resume' });
    const { orders } = world.paid();
    const { periodEnd, cancelAt } = world.state;
    expect(periodEnd).toBeGreaterThan(MARCH);
    expect(cancelAt).toBe(periodEnd);
    expect(world.allowances.expiresAt).toBe(periodEnd);
    expect(orders.map(({ kind }) => kind)).toEqual(['restart', 'expire_at']);
  });
});

describe('an entitlement that a product has by then', () => {
  const renewed = (world: SubscriptionWorld) => {
    world.now = END;
    return world.do({ kind: 'tick', allowances: [] }).orders;
  };

  test('is ordered with the next period', () => {
    expect(renewed(active())).toMatchObject([{ kind: 'refresh', allowances: [] }]);
  });

  test('cannot be used while the subscription is paused', () => {
    expect(renewed(after(pause(true)))).toMatchObject([
      { kind: 'refresh' },
      { kind: 'suspend', why: 'paused' },
    ]);
  });

  test('is not ordered where no period begins', () => {
    const world = active();
    expect(world.do({ kind: 'tick', allowances: [] }).orders).toEqual([]);
  });
});

test('a decision on a subscription tells whether it owes others something to do', () => {
  const owes = (world: SubscriptionWorld, command: Command): boolean => {
    const { outcome } = decideCommand(world.context, world.billing, { id: 'sub', command });
    return outcome?.kind === 'done' && outcome.owes;
  };
  expect(owes(active(), change())).toBe(true);
  expect(owes(active(), pause())).toBe(false);
});

test('a trial costs nothing, whatever its plan does', () => {
  expect(trial().state.periodPrice).toBe(0n);
});

test.each([
  ['a change', active, change()],
  ['a resume', () => after(pause(true)), { kind: 'resume' }],
] as const)(
  '%s that is tried again at the same time has an invoice of its own',
  (what, of, act) => {
    const world = of();
    if (what === 'a resume') world.goTo(END + DAY);
    const tries = [1, 2].map(() => {
      world.do(act);
      const { waiting } = world.state;
      world.failed();
      return must(waiting, 'what waits for its payment');
    });
    expect(new Set(tries.map(({ invoiceId }) => invoiceId)).size).toBe(2);
    expect(new Set(tries.map(({ paymentId }) => paymentId)).size).toBe(2);
  },
);
