// Random lives of a subscription. The machine writes what the model says, whether time comes in
// steps or in one jump; and the invariants hold, whatever either of them says.
import { totalOf } from '../../ledger/subscriptions/bills.ts';
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { unreachable } from '../../ledger/kernel/assert.ts';
import type { LedgerEvent } from '../../ledger/event.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type { Plan } from '../../ledger/subscriptions/subscription.ts';
import { holds, seeded } from './property.ts';
import type { Answer, Bill } from './subscription-bill.ts';
import { SubscriptionModel } from './subscription-model.ts';
import { perform, refusal } from './subscription-model-commands.ts';
import { type Followup, POLICY, SubscriptionWorld, chargesOf } from './subscription-world.ts';
import { plans, type Start, starts } from './subscription-starts.ts';
import { DAY, HOUR } from './world.ts';

type Simple = 'uncancel' | 'resume' | 'unschedule' | 'end_trial' | 'method_changed';

type Step =
  | { readonly kind: 'cancel'; readonly mode: 'at_period_end' | 'immediate' }
  | { readonly kind: Simple }
  | { readonly kind: 'pending' }
  | { readonly kind: 'pause'; readonly in: number | null; readonly keepInvoices: boolean }
  | { readonly kind: 'change'; readonly plan: Plan; readonly backQuarters: bigint }
  | {
      readonly kind: 'settle';
      readonly of: 'under way' | 'any' | 'nobody';
      readonly which: number;
      readonly how: Answer['how'];
      readonly late: number;
      readonly twice: boolean;
    }
  | { readonly kind: 'close_invoice' | 'collect'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number };

const waits = fc.oneof(
  fc.integer({ min: 1, max: HOUR }),
  fc.integer({ min: 1, max: 45 * DAY }),
  fc.constantFrom(1, DAY, 6 * DAY, 14 * DAY, 21 * DAY, 31 * DAY),
);

const alone = (...kinds: (Simple | 'pending')[]) => fc.record({ kind: fc.constantFrom(...kinds) });

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('settle' as const),
        of: fc.oneof(
          { weight: 8, arbitrary: fc.constant('under way' as const) },
          fc.constantFrom('any' as const, 'nobody' as const),
        ),
        which: fc.nat(5),
        how: fc.oneof(
          { weight: 3, arbitrary: fc.constant('paid' as const) },
          { weight: 3, arbitrary: fc.constantFrom('failed' as const, 'no_method' as const) },
          fc.constantFrom('hard' as const, 'errored' as const, 'mandate_lost' as const),
        ),
        late: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * DAY })),
        twice: fc.boolean(),
      }),
    },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: waits }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('cancel' as const),
        mode: fc.constantFrom('at_period_end', 'at_period_end', 'at_period_end', 'immediate'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('pause' as const),
        in: fc.option(waits),
        keepInvoices: fc.boolean(),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('change' as const),
        plan: plans,
        // Of the price of the period, refunded by then.
        backQuarters: fc.constantFrom(0n, 0n, 0n, 1n, 2n, 4n),
      }),
    },
    { weight: 6, arbitrary: alone('uncancel', 'resume', 'end_trial', 'method_changed') },
    { weight: 3, arbitrary: alone('unschedule', 'pending') },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constantFrom('close_invoice' as const, 'collect' as const),
        which: fc.nat(5),
      }),
    },
  ),
  { maxLength: 40, size: '+1' },
) as fc.Arbitrary<Step[]>;

type Asked =
  | Command
  | { readonly kind: 'collect'; readonly invoiceId: string; readonly bill: Bill };

/** The machine twice, with time in steps and in jumps, and the model. */
class Lives {
  readonly stepped = new SubscriptionWorld();
  readonly jumped = new SubscriptionWorld();
  readonly model: SubscriptionModel;
  /** The machine's ids by the model's names, and the reverse. */
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();
  #events = 0;
  #followups = 0;
  #agreed = 0;

  constructor({ at, plan, zone, trialDays, credit, paidQuarters, ...start }: Start) {
    const trialEnd = trialDays === null ? null : at + trialDays * DAY;
    const discount = trialEnd === null ? null : start.discount;
    const price = plan.unitAmount * BigInt(plan.quantity);
    const amount = trialEnd !== null ? 0n : (price * (paidQuarters ?? 0n)) / 4n;
    const paid = paidQuarters === null ? null : amount;
    this.model = new SubscriptionModel({ at, plan, zone, trialEnd, credit, discount, paid });
    const payment = {
      paymentId: 'signup',
      amount,
      customerEmail: null,
      invoiceId: null,
      method: null,
    };
    for (const world of [this.stepped, this.jumped]) {
      world.now = at;
      const signup = paid === null ? null : payment;
      world.start({ startAt: at, plan, zone, trialEnd, credit, discount, paid: signup });
    }
    this.#agree();
  }

  /** A command takes time: no two commands have the same time. */
  obey(step: Step): void {
    const ms = step.kind === 'wait' ? step.ms : 1;
    this.model.now += ms;
    this.jumped.now = this.model.now;
    this.stepped.goTo(this.model.now);
    this.model.advance();
    this.#learn();
    if (step.kind === 'wait') return;
    const isTwice = step.kind === 'settle' && step.twice;
    const command = this.#command(step);
    for (let times = isTwice ? 2 : 1; times > 0; times -= 1) {
      const collected = command.kind === 'collect' ? { ...command.bill } : null;
      const expected = this.#tell(command);
      for (const world of [this.stepped, this.jumped]) {
        const { kind } =
          command.kind === 'collect'
            ? world.collect({ ...command, ...collected! }, collected!.attempt)
            : world.do(command);
        expect(kind).toBe(expected);
      }
      this.#agree();
    }
  }

  finish(): void {
    this.jumped.do({ kind: 'tick' });
    this.#agree();
  }

  #command(step: Exclude<Step, { kind: 'wait' }>): Asked {
    const { bills, now } = this.model;
    const idOf = (name: string): string => this.#ids.get(name) ?? `nobody's ${name}`;
    switch (step.kind) {
      case 'pause': {
        const { keepInvoices, in: ms } = step;
        return { kind: 'pause', keepInvoices, resumesAt: ms === null ? null : now + ms };
      }
      case 'change': {
        const { start, end, price } = this.model;
        const back = { invoiceId: 'period', amount: (price * step.backQuarters) / 4n, start, end };
        return { kind: 'change', plan: step.plan, allowances: [], givenBack: [back] };
      }
      case 'close_invoice':
      case 'collect': {
        const isMeant = ({ state }: Bill): boolean =>
          step.kind === 'collect' ? state !== 'closed' : state === 'open';
        const meant = bills.filter(isMeant);
        const bill = meant[step.which % Math.max(1, meant.length)];
        if (bill === undefined) return { kind: 'tick' };
        const invoiceId = idOf(String(bill.number));
        if (step.kind === 'collect') return { kind: 'collect', invoiceId, bill };
        const how = step.which % 2 === 0 ? 'void' : 'paid';
        // A charge that never begins, the wrong one, or none.
        const attempt = [bill.attempt, bill.attempt - 1][step.which % 3];
        const paymentId = attempt === undefined ? null : idOf(`${bill.number}.${attempt}`);
        return { kind: 'close_invoice', invoiceId, how, paymentId };
      }
      case 'settle': {
        const meant = bills.filter(({ isUnderWay }) => isUnderWay || step.of === 'any');
        const bill = meant[step.which % Math.max(1, meant.length)];
        const attempt = step.of === 'any' ? 1 : bill?.attempt;
        const name = step.of === 'nobody' ? 'charge' : `${bill?.number}.${attempt}`;
        return { kind: 'settle', settlement: this.#settlement(idOf(name), step) };
      }
      case 'pending': {
        const bill = bills.find(({ state }) => state === 'waiting');
        const invoiceId = idOf(String(bill?.number ?? bills.length - 1));
        return { kind: 'pending', invoiceId };
      }
      case 'cancel':
      case 'uncancel':
      case 'resume':
      case 'unschedule':
      case 'end_trial':
      case 'method_changed':
        return step;
      default:
        return unreachable(step);
    }
  }

  #settlement(paymentId: string, { how, late }: Extract<Step, { kind: 'settle' }>) {
    const { now } = this.model;
    if (how === 'paid')
      return { kind: how, paymentId, at: now - late, transactionId: 't' } as const;
    if (how === 'no_method') return { kind: how, paymentId, at: now, policy: POLICY } as const;
    const kind = how === 'errored' ? 'errored' : 'failed';
    const hard = how === 'hard' || how === 'mandate_lost';
    const why = { code: how, message: '', hard, policy: POLICY };
    return { kind, paymentId, at: now, ...why } as const;
  }

  /** Tells the model; returns the expected outcome. */
  #tell(command: Asked): string {
    const { model } = this;
    if (command.kind === 'collect') {
      if (model.isReplaced(command.bill)) return 'being_replaced';
      if (command.bill.state !== 'waiting') model.try(command.bill, model.now);
      return 'ordered';
    }
    if (model.isOver) return 'unknown';
    if (command.kind === 'cancel' && model.waiting !== null) {
      model.takeBack();
      model.advance();
    }
    const refused = refusal(model, command);
    if (refused !== null) return refused;
    const bill = this.#meant(command);
    const names = command.kind === 'close_invoice' ? command.paymentId : null;
    const isNamed = this.#names.get(names ?? '') === `${bill?.number}.${bill?.attempt}`;
    perform(model, command, { bill, isNamed });
    model.advance();
    return 'done';
  }

  /** The invoice that it is about. */
  #meant(command: Command): Bill | undefined {
    const { bills } = this.model;
    if (command.kind === 'close_invoice' || command.kind === 'pending') {
      return bills[Number(this.#names.get(command.invoiceId))];
    }
    if (command.kind !== 'settle') return undefined;
    const name = this.#names.get(command.settlement.paymentId);
    return bills.find(
      ({ number, attempt, isUnderWay }) => isUnderWay && name === `${number}.${attempt}`,
    );
  }

  /** Events and orders are the same in all three, and so are their states. */
  #agree(): void {
    const { stepped, jumped, model } = this;
    this.#learn();
    const [events, followups] = [this.#events, this.#agreed];
    const told = stepped.events.slice(events);
    const ordered = stepped.followups.slice(followups);
    expect(told.map(tellOf)).toEqual(model.events.slice(events));
    expect(ordered.map((one) => this.#order(one))).toEqual(model.orders.slice(followups));
    expect(this.standing()).toEqual(standingOf(model));
    expect(jumped.events.slice(events).map(withoutId)).toEqual(told.map(withoutId));
    expect(jumped.followups.slice(followups).map(withoutId)).toEqual(ordered.map(withoutId));
    expect(jumped.state).toEqual(stepped.state);
    expect(jumped.allowances).toEqual(stepped.allowances);
    expect(stepped.due).toBeGreaterThan(stepped.now);
    this.#events = stepped.events.length;
    this.#agreed = stepped.followups.length;
  }

  #learn(): void {
    const { followups } = this.stepped;
    for (const followup of followups.slice(this.#followups)) this.#name(followup);
    this.#followups = followups.length;
  }

  #name(followup: Followup): void {
    const learn = (name: string, id: string): void => {
      this.#ids.set(name, id);
      this.#names.set(id, name);
    };
    if (followup.kind === 'bill') {
      const count = [...this.#ids.keys()].filter((name) => !name.includes('.')).length;
      learn(String(count), followup.invoice.id);
    }
    if (followup.kind !== 'bill' && followup.kind !== 'collect') return;
    const { payment } = followup;
    if (payment === null) return;
    learn(`${this.#names.get(payment.invoiceId)}.${payment.attempt}`, payment.id);
  }

  #order(followup: Followup): string {
    const { kind, at } = followup;
    switch (kind) {
      case 'bill': {
        const { invoice, payment } = followup;
        const { periodStart, periodEnd, isDraft, lines, discount: off = 0n } = invoice;
        const reason = invoice.reason.replace('subscription_', '');
        const sum = (isCredit: boolean): bigint =>
          totalOf(lines.filter(({ type }) => (type === 'credit') === isCredit));
        const charge =
          payment === null
            ? isDraft
              ? 'draft'
              : 'nothing'
            : `${this.#names.get(payment.id)} ${payment.amount}`;
        const period = `${periodStart} ${periodEnd}`;
        const name = this.#names.get(invoice.id);
        const sums = `${sum(false)} -${off} -${-sum(true)}`;
        return `bill ${name} ${reason} ${period} ${sums} ${charge} at ${at}`;
      }
      case 'collect': {
        const { id, amount } = followup.payment;
        return `collect ${this.#names.get(id)} ${amount} at ${at}`;
      }
      case 'void':
        return `void ${this.#names.get(followup.invoiceId)} at ${at}`;
      case 'pending':
        return `pending ${this.#names.get(followup.invoiceId)} at ${at}`;
      case 'let_go':
      case 'give_back':
        return `${kind} ${this.#names.get(followup.paymentId)} at ${at}`;
      case 'overdue':
        return `overdue ${followup.from} ${followup.to} at ${at}`;
      case 'ended':
        return `ended at ${at}`;
      default:
        return unreachable(followup);
    }
  }

  standing() {
    const { state, allowances, due } = this.stepped;
    const { waiting } = state;
    const name = (id: string | null): string | null =>
      id === null ? null : (this.#names.get(id) ?? 'unknown');
    return {
      status: state.status,
      plan: state.plan,
      isTrial: state.periodIndex < 0,
      period: [state.periodStart, state.periodEnd],
      cancelAt: state.cancelAt,
      resumesAt: state.resumesAt,
      endedAt: state.endedAt,
      credit: state.credit,
      left: this.stepped.billing.account.credit[state.plan.currency] ?? 0n,
      overdue: state.overdue,
      waiting: waiting && `${name(waiting.paymentId)} ${waiting.amount}`,
      open: state.open.map(({ invoiceId, amount, attempt, paymentId, retryAt, dunning }) => [
        `${name(invoiceId)}.${attempt} ${amount}`,
        paymentId === null ? null : name(paymentId),
        retryAt,
        dunning?.failedAt ?? null,
      ]),
      due,
      allowances: {
        held: allowances.held,
        suspended: allowances.held ? allowances.suspended : null,
        anchor: allowances.held ? allowances.anchor : null,
        expiresAt: allowances.held ? allowances.expiresAt : null,
      },
    };
  }
}

function standingOf(model: SubscriptionModel): ReturnType<Lives['standing']> {
  const { endedAt, isPaused, overdue, waiting } = model;
  const isHeld = endedAt === null;
  const paused = isPaused ? 'paused' : null;
  return {
    status: endedAt === null ? (isPaused ? 'paused' : 'active') : 'canceled',
    plan: model.plan,
    isTrial: model.isTrial,
    period: [model.start, model.end],
    cancelAt: model.cancelAt,
    resumesAt: model.resumesAt,
    endedAt,
    credit: model.credit,
    left: model.left,
    overdue,
    waiting: waiting && `${waiting.bill?.number}.1 ${waiting.bill?.amount}`,
    open: model.open.map(({ number, attempt, amount, isUnderWay, retryAt, failedAt }) => [
      `${number}.${attempt} ${amount}`,
      isUnderWay ? `${number}.${attempt}` : null,
      retryAt,
      failedAt,
    ]),
    due: model.due,
    allowances: {
      held: isHeld,
      suspended: isHeld ? (overdue === 'blocked' ? 'blocked' : paused) : null,
      anchor: isHeld ? model.anchor : null,
      expiresAt: isHeld ? model.cancelAt : null,
    },
  };
}

function tellOf({ type, timestamp, data }: LedgerEvent): string {
  const { amount, blockChange, outcome, reason } = data;
  const coins = type.startsWith('payment.') ? BigInt(String(amount).replace('.', '')) : undefined;
  const isBlocked = type === 'subscription.blocked' ? blockChange : undefined;
  const more = [coins, isBlocked, outcome, reason].filter((one) => one !== undefined);
  return [type.replace('subscription.', ''), ...more.map(String), 'at', timestamp].join(' ');
}

const withoutId = <T extends { readonly id: string }>({ id: _id, ...rest }: T): Omit<T, 'id'> =>
  rest;

/** Whatever the model says. */
function mustHold({ events, followups, state }: SubscriptionWorld): void {
  events.forEach(({ sequence, timestamp }, n) => {
    expect(sequence).toBe(BigInt(n + 1));
    expect(timestamp).toBeGreaterThan(events[n - 1]?.timestamp ?? 0);
  });
  const ids = followups.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const charges = chargesOf(followups);
  expect(new Set(charges.map(({ id }) => id)).size).toBe(charges.length);
  const expired = events.filter(({ type }) => type === 'subscription.expired').length;
  expect(expired).toBe(state.status === 'canceled' ? 1 : 0);
  const { endedAt } = state;
  if (endedAt === null) return;
  // What becomes of a charge that was under way.
  const after = ['void', 'collect', 'let_go', 'give_back'];
  expect(followups.filter(({ kind, at }) => !after.includes(kind) && at > endedAt)).toEqual([]);
  expect(state.open.every(({ paymentId }) => paymentId !== null)).toBe(true);
}

function live(start: Start, commands: readonly Step[]): SubscriptionWorld {
  const lives = new Lives(start);
  for (const command of commands) lives.obey(command);
  lives.finish();
  return lives.stepped;
}

test(
  seeded('any life of a subscription is as its model says'),
  () => {
    const property = fc.property(starts, steps, (start, commands) =>
      mustHold(live(start, commands)),
    );
    holds(property, 1200);
  },
  30_000,
);

const settled = { kind: 'settle', of: 'under way', which: 0, late: 0, twice: false } as const;
/** What is rare at random: a period of a pause whose draft is charged in vain. */
const CHARGED_IN_VAIN: readonly Step[] = [
  { ...settled, how: 'paid' },
  { kind: 'pause', in: null, keepInvoices: true },
  { kind: 'wait', ms: 45 * DAY },
  { kind: 'collect', which: 0 },
  { ...settled, how: 'failed' },
];

test(
  seeded(
    'any life of a subscription from a pause with a draft that was declined is as its model says',
  ),
  () => {
    // Time stands still for a resume that waits: what is closed meanwhile may be later than an end.
    const property = fc.property(starts, steps, (start, then) => {
      live(start, [...CHARGED_IN_VAIN, ...then]);
    });
    holds(property, 600);
  },
  30_000,
);
