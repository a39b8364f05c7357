// A change whose payment takes days: that it waits is told, and it can be taken back.
import { describe, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { active, cancel, change, waitingToResume } from './subscription-situations.ts';
import { DEARER, MONTHLY, type SubscriptionWorld } from './subscription-world.ts';
import { DAY } from './world.ts';

const told = (events: readonly { readonly type: string }[]): string[] =>
  events.map(({ type }) => type.replace('subscription.', ''));

/** Half of an answer: the charge is pending. */
function waiting(): SubscriptionWorld {
  const world = active();
  world.do(change());
  world.do({ kind: 'pending', invoiceId: must(world.state.waiting, 'a change').invoiceId });
  return world;
}

const unschedule = { kind: 'unschedule' } as const;

describe('a change that waits for its payment', () => {
  test('is told once, with what it waits for', () => {
    const world = active();
    expect(world.do(change()).events).toEqual([]);
    const { invoiceId, paymentId } = must(world.state.waiting, 'a change');
    const { events } = world.do({ kind: 'pending', invoiceId });
    expect(events.map(({ data }) => data)).toMatchObject([
      {
        changes: ['pendingChange'],
        previous: { pendingChange: null },
        priceId: MONTHLY.priceId,
        pendingChange: { priceId: DEARER.priceId, quantity: 1, invoiceId, paymentId },
      },
    ]);
    expect(world.do({ kind: 'pending', invoiceId }).events).toEqual([]);
    const { events: after } = world.paid();
    expect(after.map(({ data }) => data['changes'])).toEqual([
      undefined,
      ['plan', 'planName', 'phaseName', 'priceId', 'amount', 'pendingChange'],
    ]);
  });

  test('and is declined is told not to wait any more', () => {
    const { events } = waiting().failed();
    expect(told(events)).toEqual(['payment.failed', 'updated']);
    expect(events.at(-1)?.data).toMatchObject({
      changes: ['pendingChange'],
      pendingChange: null,
      priceId: MONTHLY.priceId,
    });
  });

  test.each(['unschedule', 'cancel', 'cancel now'])(
    'is taken back by %s: what is paid of it all the same is given back, and nothing begins',
    (how) => {
      const world = waiting();
      const { invoiceId, paymentId } = must(world.state.waiting, 'a change');
      const mode = how === 'cancel' ? 'at_period_end' : 'immediate';
      const back = world.do(how === 'unschedule' ? unschedule : cancel(mode));
      expect(back.kind).toBe('done');
      expect(back.followups).toMatchObject([{ kind: 'let_go', paymentId }]);
      expect(world.state).toMatchObject({ waiting: null, plan: MONTHLY });
      const credit = [world.state.credit, world.billing.account.credit];
      world.wait(DAY);
      const { events, followups } = world.paid();
      expect(told(events)).toEqual(['payment.succeeded']);
      expect(followups).toMatchObject([{ kind: 'give_back', paymentId, invoiceId }]);
      expect([world.state.credit, world.billing.account.credit]).toEqual(credit);
      expect(world.state).toMatchObject({ plan: MONTHLY, open: [] });
    },
  );

  test('and is taken back leaves a void invoice where its payment fails', () => {
    const world = waiting();
    const { invoiceId } = must(world.state.waiting, 'a change');
    world.do(unschedule);
    const { events, followups } = world.failed();
    expect(told(events)).toEqual(['payment.failed']);
    expect(followups).toMatchObject([{ kind: 'void', invoiceId }]);
    expect(world.state).toMatchObject({ status: 'active', overdue: 'clear', open: [] });
  });

  test('gives the credit back that it was to use', () => {
    const world = active();
    world.do(change({ ...MONTHLY, priceId: 'cheap', unitAmount: 1000n }));
    const { credit } = world.state;
    expect(credit).toBeGreaterThan(0n);
    world.do(change());
    expect(world.state.credit).toBe(0n);
    world.do(unschedule);
    expect(world.state.credit).toBe(credit);
    world.paid();
    expect(world.state.credit).toBe(credit);
  });

  test('and is taken back makes room for another, also before its payment is decided', () => {
    const world = waiting();
    world.do(unschedule);
    world.wait(1);
    expect(world.do(change()).kind).toBe('done');
    expect(world.state.waiting).not.toBeNull();
    expect(world.state.open).toHaveLength(1);
  });

  test('and is canceled after the end of its period renews first, as time stood still', () => {
    const world = waiting();
    world.goTo(world.state.periodEnd + DAY);
    const { events } = world.do(cancel('at_period_end'));
    expect(told(events)).toEqual(['updated', 'canceled']);
    expect(world.state.periodIndex).toBe(1);
    expect(world.state.cancelAt).toBe(world.state.periodEnd);
  });
});

test('a resume that waits for its payment is taken back: it stays paused', () => {
  const world = waitingToResume();
  expect(told(world.do(unschedule).events)).toEqual(['updated']);
  world.paid();
  expect(world.state).toMatchObject({ status: 'paused', waiting: null, open: [] });
});
