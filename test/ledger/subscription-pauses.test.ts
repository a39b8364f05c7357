// What a pause leaves unpaid, and what its end begins: a draft that was charged in vain, and a
// resume at the time that it was paused until.
import { describe, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { decideUpcoming } from '../../ledger/subscriptions/upcoming.ts';
import { after, END, pause } from './subscription-situations.ts';
import { chargesOf, SubscriptionWorld, told } from './subscription-world.ts';
import { DAY, T0 } from './world.ts';

const RESUME = { kind: 'resume' } as const;

/** The invoice of the period that began during the pause. */
function draftOf({ followups }: SubscriptionWorld): string {
  const drafts = followups.flatMap((one) =>
    one.kind === 'bill' && one.invoice.isDraft ? [one.invoice.id] : [],
  );
  return must(drafts.at(-1), 'a draft');
}

/** Paused over the end of a period, whose draft was finalised and charged, and declined. */
function chargedInVain(failure: { readonly hard?: boolean } = {}) {
  const world = after(pause(true));
  world.goTo(END + DAY);
  const draft = draftOf(world);
  world.collect({ invoiceId: draft, amount: 3000n });
  world.failed(failure);
  expect(world.state).toMatchObject({ status: 'paused', overdue: 'warning' });
  return { world, draft };
}

describe('a resume in a period whose draft was charged in vain', () => {
  test('begins a new period with its payment, in the place of that', () => {
    const { world, draft } = chargedInVain();
    const { followups } = world.do(RESUME);
    expect(followups).toMatchObject([
      { kind: 'bill', invoice: { reason: 'subscription_resume', periodStart: world.now } },
      { kind: 'pending' },
    ]);
    const at = world.now;
    const paid = world.paid();
    expect(paid.followups).toMatchObject([
      { kind: 'void', invoiceId: draft },
      { kind: 'overdue', from: 'warning', to: 'clear' },
    ]);
    expect(told(paid.events)).toEqual(['payment.succeeded', 'updated']);
    expect(world.state).toMatchObject({ status: 'active', periodStart: at, open: [] });
  });

  test('that is declined leaves it paused, and what is owed is tried again', () => {
    const { world, draft } = chargedInVain();
    world.do(RESUME);
    world.failed();
    expect(world.state).toMatchObject({ status: 'paused', overdue: 'warning' });
    world.wait(DAY);
    expect(world.state.open).toMatchObject([
      { invoiceId: draft, attempt: 2, paymentId: expect.any(String) },
    ]);
  });

  test('unblocks, where that was blocked for it', () => {
    const { world } = chargedInVain({ hard: true });
    world.wait(15 * DAY);
    expect(world.state).toMatchObject({ overdue: 'blocked', open: [{}] });
    world.do(RESUME);
    const { events } = world.paid();
    expect(told(events)).toEqual(['payment.succeeded', 'blocked', 'updated']);
    expect(world.state).toMatchObject({ status: 'active', overdue: 'clear', open: [] });
    expect(world.allowances.suspended).toBeNull();
  });

  // prettier-ignore
  test.each<[string, (world: SubscriptionWorld, draft: string) => unknown]>([
    ['is charged again',       (world) => world.do({ kind: 'method_changed' })],
    ['was paid in the end',    (world) => { world.do({ kind: 'method_changed' }); world.paid(); }],
    ['was paid otherwise',     (world, invoiceId) => world.do({ kind: 'close_invoice', invoiceId, how: 'paid', paymentId: null })],
  ])('that %s goes on in it', (_what, then) => {
    const { world, draft } = chargedInVain();
    const { periodStart } = world.state;
    then(world, draft);
    expect(world.do(RESUME).followups).toEqual([]);
    expect(world.state).toMatchObject({ status: 'active', periodStart, periodPrice: 3000n });
  });

  test('that is made void is as it was: a resume begins a new period', () => {
    const { world, draft } = chargedInVain();
    world.do({ kind: 'close_invoice', invoiceId: draft, how: 'void', paymentId: null });
    expect(world.state).toMatchObject({ open: [], overdue: 'clear' });
    expect(chargesOf(world.do(RESUME).followups)).toMatchObject([{ amount: 3000n }]);
  });

  test('is not charged beside the resume, by another payment method or by hand', () => {
    for (const answer of ['paid', 'declined']) {
      const { world, draft } = chargedInVain();
      world.do(RESUME);
      expect(world.do({ kind: 'method_changed' }).followups).toEqual([]);
      expect(world.collect({ invoiceId: draft, amount: 3000n }, 1)).toMatchObject({
        kind: 'being_replaced',
        followups: [],
      });
      const { followups } = answer === 'paid' ? world.paid() : world.failed();
      const retried = answer === 'paid' ? [] : [{ invoiceId: draft, attempt: 2 }];
      expect(chargesOf(followups)).toMatchObject(retried);
    }
  });
});

describe('a pause until a time', () => {
  test('after its period begins the next one then, as a renewal does, paid or not', () => {
    const at = END + DAY;
    const world = after(pause(false, at));
    world.goTo(at);
    expect(world.state).toMatchObject({ status: 'active', periodStart: at, resumesAt: null });
    expect(told(world.events).at(-1)).toBe('updated');
    expect(world.followups.slice(1)).toMatchObject([
      { kind: 'bill', invoice: { reason: 'subscription_resume', periodStart: at }, payment: {} },
    ]);
    expect(world.noMethod().followups).toMatchObject([{ kind: 'overdue', to: 'warning' }]);
    expect(world.state).toMatchObject({ status: 'active', overdue: 'warning' });
    expect(world.due).toBe(at + DAY);
    world.wait(DAY);
    expect(world.followups.at(-1)).toMatchObject({ kind: 'collect', payment: { attempt: 2 } });
    world.paid();
    expect(world.state).toMatchObject({ overdue: 'clear', open: [], periodPrice: 3000n });
  });

  test('within a period of drafts begins a new one in its place', () => {
    const at = END + 10 * DAY;
    const world = after(pause(true, at));
    world.goTo(at);
    const draft = draftOf(world);
    expect(world.followups.slice(-2)).toMatchObject([
      { kind: 'void', invoiceId: draft },
      { kind: 'bill', invoice: { reason: 'subscription_resume', isDraft: false } },
    ]);
    expect(world.state).toMatchObject({ status: 'active', periodStart: at, open: [{}] });
  });

  test('within a period whose draft was charged in vain begins a new one, and owes that no more', () => {
    const { world, draft } = chargedInVain({ hard: true });
    world.do(pause(true, world.now + DAY));
    world.wait(DAY);
    const [first, ...others] = world.state.open;
    expect([first?.invoiceId === draft, others]).toEqual([false, []]);
    expect(world.state).toMatchObject({ status: 'active', overdue: 'clear' });
  });

  test.each([false, true])('that is the end of its period renews it, with drafts: %p', (keeps) => {
    const world = after(pause(keeps, END));
    const { anchor } = world.state.cycle;
    world.goTo(END);
    expect(world.followups.slice(1)).toMatchObject([
      { kind: 'bill', invoice: { reason: 'subscription_cycle', isDraft: false } },
    ]);
    expect(world.state).toMatchObject({ status: 'active', periodStart: END, cycle: { anchor } });
  });

  test.each([
    ['within its period', END - DAY],
    ['at the end of its period', END],
    ['after its period', END + DAY],
  ])('%s has the next invoice that is foreseen', (_when, at) => {
    const world = after(pause(false, at));
    const due = Math.max(at, END);
    const context = { ...world.context, now: due };
    const { covers, total } = decideUpcoming(context, world.billing, { id: 'sub', asOf: T0 });
    world.goTo(due);
    const { periodStart: start, periodEnd: end } = world.state;
    expect({ covers, total }).toEqual({ covers: { start, end }, total: 3000n });
  });

  test('past its end, and blocked, goes on, and its next period begins when it is paid', () => {
    const world = after(pause());
    world.goTo(END - 10 * DAY);
    world.collect({ invoiceId: 'other', amount: 100n });
    world.failed({ hard: true });
    world.do(pause(false, END + 5 * DAY));
    world.goTo(END + 5 * DAY);
    expect(world.state).toMatchObject({ status: 'active', overdue: 'blocked', periodEnd: END });
    const { followups } = world.do({ kind: 'method_changed' });
    expect(chargesOf(followups)).toMatchObject([{ invoiceId: 'other' }]);
    world.paid();
    expect(world.state).toMatchObject({ overdue: 'clear', periodStart: world.now });
  });
});

test.each(['declined', 'taken back'])(
  'a resume after a trial that is %s gives the credit that it used back to the customer',
  (how) => {
    const world = new SubscriptionWorld();
    world.start({ trialDays: 14, credit: 500n });
    world.do(pause());
    world.wait(20 * DAY);
    world.do(RESUME);
    expect(world.billing.account.credit).toEqual({});
    if (how === 'declined') world.failed();
    else world.do({ kind: 'unschedule' });
    // A trial keeps none of its own.
    expect(world.state).toMatchObject({ credit: 0n, discount: null, waiting: null });
    expect(world.billing.account.credit).toEqual({ USD: 500n });
  },
);
