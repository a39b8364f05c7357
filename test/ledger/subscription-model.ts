// A second, simple model of a subscription: flat, updated in place, with invoice numbers instead of
// ids. The machine must write exactly what it says.
import type { Discount } from '../../ledger/payments/pricing.ts';
import type { OverdueState } from '../../ledger/subscriptions/dunning.ts';
import { type Plan, amountOf } from '../../ledger/subscriptions/subscription.ts';
import {
  type Answer,
  type Beginning,
  type Bill,
  boundaryOf,
  dunningOf,
  later,
  offOf,
  share,
  type Span,
  type Start,
} from './subscription-bill.ts';
import { POLICY } from './subscription-world.ts';

export class SubscriptionModel {
  now: number;
  /** The events and the orders. */
  readonly events: string[] = [];
  readonly orders: string[] = [];
  readonly bills: Bill[] = [];
  plan: Plan;
  isPaused = false;
  pausedAt = 0;
  keeps = false;
  isTrial: boolean;
  anchor: number;
  period = 0;
  start: number;
  end: number;
  /** The price of a whole period like this one. */
  price: bigint;
  cancelAt: number | null = null;
  resumesAt: number | null = null;
  endedAt: number | null = null;
  /** What the customer's other subscriptions have left, and it leaves to them. */
  left: bigint;
  waiting: Beginning | null = null;
  credit = 0n;
  discount: Discount | null;
  /** Of what was given back of this period, what the last change of plan took off. */
  accounted = 0n;
  overdue: OverdueState = 'clear';
  readonly #zone: string;
  #told = 0;
  #opened = 0;
  /** The invoice of the current period, where it has one of its own. */
  #own: number | null = null;

  constructor({ at, plan, zone, trialEnd, credit, discount, paid }: Start) {
    this.now = at;
    this.plan = plan;
    this.#zone = zone;
    this.left = credit;
    this.discount = discount;
    this.isTrial = trialEnd !== null;
    this.anchor = trialEnd ?? at;
    this.start = at;
    this.end = trialEnd ?? this.boundary(1);
    this.price = paid ?? (trialEnd === null ? amountOf(plan) : 0n);
    this.#tell('created', at);
    if (paid !== null) this.#tell(`payment.succeeded ${paid}`, at);
    else if (trialEnd === null) this.#billPeriod('create', at);
  }

  #off(plan = this.plan): bigint {
    return offOf(this.discount, plan);
  }

  #billPeriod(reason: 'create' | 'cycle' | 'resume', at: number): void {
    this.#bill(reason, amountOf(this.plan), at, { off: this.#off() });
    if (!this.isPaused) this.discount = null;
  }

  /** When period number `n` begins, by the calendar of the zone. */
  boundary(n: number, anchor = this.anchor, plan = this.plan): number {
    return boundaryOf(n, { anchor, plan, zone: this.#zone });
  }

  get open(): Bill[] {
    return this.bills
      .filter(({ state }) => state === 'open')
      .toSorted((a, b) => a.opened - b.opened);
  }

  get isOver(): boolean {
    return this.endedAt !== null && this.open.length === 0;
  }

  get renews(): boolean {
    return this.overdue !== 'blocked' && (!this.isPaused || this.keeps);
  }

  get due(): number {
    if (this.endedAt !== null || this.waiting !== null) return Infinity;
    const times = [this.cancelAt, this.resumesAt, this.renews ? this.end : null];
    for (const bill of this.open) times.push(...dunningOf(bill, this.overdue));
    return Math.min(...times.map((time) => time ?? Infinity));
  }

  /** What time causes until now. */
  advance(): void {
    for (let due = this.due; due <= this.now; due = this.due) this.#happen(due);
  }

  #happen(due: number): void {
    const wasAt = (days: number) => (bill: Bill) =>
      bill.failedAt !== null && later(days, bill.failedAt) === due;
    if (this.cancelAt === due) {
      if (this.isTrial) this.#tell('trial_ended expired', due);
      this.#over(due, this.isTrial ? 'trial_expired' : 'cancellation_effective');
    } else if (this.open.some(wasAt(POLICY.expireAfterDays))) this.#over(due, 'dunning_exhausted');
    else if (this.resumesAt === due && this.end === due) this.#resumeInTime(due);
    else if (this.end === due && this.renews) this.#renew(due);
    else if (this.overdue !== 'blocked' && this.open.some(wasAt(POLICY.blockAfterDays))) {
      this.#look(due);
    } else if (this.resumesAt === due) this.#resumeInTime(due);
    else
      for (const bill of this.open.filter(({ retryAt }) => retryAt === due).slice(0, 1))
        this.try(bill, due);
  }

  #renew(at: number): void {
    this.period = this.isTrial ? 0 : this.period + 1;
    this.start = this.boundary(this.period);
    this.end = this.boundary(this.period + 1);
    this.price = this.isPaused ? 0n : amountOf(this.plan) - this.#off();
    this.accounted = 0n;
    this.#convert(at);
    this.#billPeriod('cycle', at);
  }

  #convert(at: number): void {
    if (this.isTrial) this.#tell('trial_ended converted', at);
    this.isTrial = false;
  }

  /** A period of its own, counted from `at`. */
  #restart(at: number, saidAt = at): void {
    this.anchor = at;
    this.period = 0;
    this.start = at;
    this.end = this.boundary(1);
    this.price = this.isPaused ? 0n : amountOf(this.plan) - this.#off();
    this.accounted = 0n;
    this.#own = null;
    this.#convert(saidAt);
  }

  cancel(mode: 'at_period_end' | 'immediate'): void {
    if (mode === 'at_period_end' && this.end > this.now) {
      if (this.cancelAt !== null) return;
      this.cancelAt = this.end;
      this.#tell('canceled', this.now);
      return;
    }
    this.#tell('canceled', this.now);
    if (this.isTrial) this.#tell('trial_ended expired', this.now);
    this.#over(this.now, 'immediate');
  }

  /** A change that waits does not begin, and its bill is no debt. */
  takeBack(): void {
    const { waiting } = this;
    if (waiting === null || waiting.bill === null) return;
    const { bill } = waiting;
    this.waiting = null;
    this.#giveBack(waiting.credit);
    Object.assign(bill, { state: 'open', isForgone: true, credit: 0n });
    bill.opened = this.#opened += 1;
    this.orders.push(`let_go ${bill.number}.1 at ${this.now}`);
    this.#tell('updated', this.now);
  }

  /** Its charge has no answer at once. */
  wait(bill: Bill): void {
    if (this.waiting === null || this.waiting.bill !== bill || this.waiting.isTold === true) return;
    this.waiting.isTold = true;
    this.#tell('updated', this.now);
  }

  uncancel(): void {
    if (this.cancelAt === null) return;
    this.cancelAt = null;
    this.#tell('updated', this.now);
  }

  pause(resumesAt: number | null, keeps: boolean): void {
    if (this.isPaused && this.resumesAt === resumesAt && this.keeps === keeps) return;
    if (!this.isPaused) this.pausedAt = this.now;
    Object.assign(this, { isPaused: true, resumesAt, keeps });
    this.#tell('updated', this.now);
    if (!this.renews || this.end > this.now) return;
    this.#restart(this.now);
    this.#billPeriod('cycle', this.now);
  }

  /** Whether a resume needs no new period; then it goes on. */
  #goesOn(at: number): boolean {
    const isOwed = this.price === 0n && amountOf(this.plan) > 0n && this.isPausedPeriod;
    const goesOn = at < this.end ? !isOwed : this.overdue === 'blocked';
    if (goesOn) this.#goOn(at);
    return goesOn;
  }

  #goOn(at: number): void {
    this.isPaused = false;
    this.#tell('updated', at);
  }

  get isPausedPeriod(): boolean {
    return this.isPaused && this.start > this.pausedAt;
  }

  /** Its new period begins as another renewal, which may not be paid. */
  #resumeInTime(at: number): void {
    this.resumesAt = null;
    if (at === this.end) return this.#goOn(at);
    if (this.#goesOn(at)) return;
    this.isPaused = false;
    if (at < this.end) this.#replace(at, at);
    this.#restart(at);
    this.#billPeriod('resume', at);
    if (this.cancelAt !== null) this.cancelAt = this.end;
    this.#tell('updated', at);
  }

  resumeAt(at: number): void {
    if (!this.isPaused || this.waiting !== null) return;
    this.resumesAt = null;
    if (this.#goesOn(at)) return;
    const span: Span = [at, this.boundary(1, at)];
    const off = this.#off();
    const { bill, credit } = this.#bill('resume', amountOf(this.plan), at, { span, off });
    this.#await({ kind: 'resume', since: at, bill, credit });
  }

  endTrial(): void {
    this.#restart(this.now);
    this.#billPeriod('cycle', this.now);
  }

  /** `back`: what of the price of the whole period has gone back by now. */
  change(plan: Plan, back: bigint): void {
    const { now, plan: from } = this;
    if (plan.priceId === from.priceId && plan.quantity === from.quantity) return;
    const atOnce = { kind: 'change', since: now, plan, back, bill: null, credit: 0n } as const;
    if (this.isTrial) return this.#begin(atOnce, now);
    const restarts = plan.interval !== from.interval || plan.intervalCount !== from.intervalCount;
    const rest = (price: bigint): bigint => share(price, this.end - now, this.end - this.start);
    const worth = rest(this.price) - rest(back) + rest(this.accounted);
    const cost = (restarts ? amountOf(plan) : rest(amountOf(plan))) - (worth > 0n ? worth : 0n);
    const span: Span = [now, restarts ? this.boundary(1, now, plan) : this.end];
    const off = restarts ? this.#off(plan) : 0n;
    const { bill, credit } = this.#bill('update', cost, now, { span, off });
    return this.#await({ ...atOnce, bill, credit });
  }

  #await(what: Beginning): void {
    if (what.bill === null || what.bill.amount === 0n) return this.#begin(what, what.since);
    what.bill.state = 'waiting';
    this.waiting = what;
    this.orders.push(`pending ${what.bill.number} at ${what.since}`);
  }

  #begin(what: Beginning, at: number): void {
    this.waiting = null;
    if (what.kind === 'resume') {
      this.isPaused = false;
      if (what.since < this.end) this.#replace(at, this.now);
      this.#restart(what.since, at);
      this.discount = null;
      if (this.cancelAt !== null) this.cancelAt = this.end;
    } else {
      const { interval, intervalCount } = this.plan;
      const { plan } = what;
      this.plan = plan;
      const isSame = plan.interval === interval && plan.intervalCount === intervalCount;
      const isWhole = !this.isTrial && !isSame;
      if (isWhole) this.#restart(what.since, at);
      this.price = this.isTrial ? 0n : amountOf(plan) - (isWhole ? this.#off() : 0n);
      if (isWhole) this.discount = null;
      else this.accounted = this.isTrial ? 0n : what.back;
      if (this.cancelAt !== null) this.cancelAt = this.end;
    }
    this.#tell('updated', at);
  }

  /** Whether it is the draft that a resume replaces once it is paid. */
  isReplaced(bill: Bill): boolean {
    const { waiting } = this;
    return waiting?.kind === 'resume' && waiting.since < this.end && bill.number === this.#own;
  }

  /** An order to charge it. */
  try(bill: Bill, at: number): void {
    if (bill.isUnderWay) return;
    if (bill.state === 'draft' && bill.number === this.#own) this.price = bill.amount;
    this.#worth(bill, bill.amount);
    if (bill.state !== 'open') {
      const isLeft = this.endedAt !== null;
      Object.assign(bill, { opened: (this.#opened += 1), credit: 0n, isLeft });
    }
    Object.assign(bill, {
      state: 'open',
      isUnderWay: true,
      again: false,
      attempt: bill.attempt + 1,
      retryAt: null,
    });
    this.orders.push(`collect ${bill.number}.${bill.attempt} ${bill.amount} at ${at}`);
  }

  /** `isNamed`: its pending charge is known never to begin. */
  close(bill: Bill, how: 'paid' | 'void', { isNamed }: { readonly isNamed: boolean }): void {
    const isAwaited = bill.isUnderWay && !isNamed;
    bill.isVoid ||= isAwaited && how === 'void' && bill.state === 'open';
    if (isAwaited) return;
    bill.isUnderWay &&= bill.state !== 'open';
    this.#unblocking(() => this.#close(bill, how));
  }

  /** A block that ends after the period continues with a new period from now. */
  #unblocking(act: () => void): void {
    const before = this.overdue;
    act();
    this.#look(this.now);
    if (before !== 'blocked' || this.endedAt !== null || this.waiting !== null) return;
    if (!this.renews || this.end > this.now) return;
    this.#restart(this.now);
    this.#billPeriod('cycle', this.now);
  }

  #close(bill: Bill, how: 'paid' | 'void'): void {
    if (bill.state !== 'open') return;
    bill.state = 'closed';
    if (how === 'void') this.#giveBack(bill.credit);
    if (how === 'void' && bill.number === this.#own) this.price = 0n;
    if (how === 'paid') this.#worth(bill, bill.amount);
  }

  answer(bill: Bill, answer: Answer): void {
    if (bill.state === 'open') this.#unblocking(() => this.#answer(bill, answer));
    else this.#answer(bill, answer);
  }

  #forgo(bill: Bill, { how, at }: Answer): void {
    Object.assign(bill, { isUnderWay: false, state: 'closed' });
    if (how === 'paid') {
      this.#tell(`payment.succeeded ${bill.amount}`, at);
      this.orders.push(`give_back ${bill.number}.1 at ${at}`);
      return;
    }
    const type = how === 'errored' ? 'errored' : 'failed';
    if (how !== 'no_method') this.#tell(`payment.${type} ${bill.amount}`, at);
    this.orders.push(`void ${bill.number} at ${at}`);
    const isLost = how === 'mandate_lost' && this.endedAt === null && this.waiting === null;
    if (isLost) this.#over(at, 'mandate_lost');
  }

  #answer(bill: Bill, answer: Answer): void {
    if (bill.isForgone === true) return this.#forgo(bill, answer);
    const { how, at } = answer;
    const { state } = bill;
    bill.isUnderWay = false;
    if (how === 'paid') {
      bill.state = 'closed';
      this.#tell(`payment.succeeded ${bill.amount}`, at);
      if (state === 'waiting' && this.waiting !== null) this.#begin(this.waiting, at);
    } else {
      const isVoid = state === 'open' && bill.isVoid === true;
      const isChased = state === 'open' && this.endedAt === null && !isVoid;
      if (isChased) this.#chase(bill, how, at);
      const type = how === 'errored' ? 'errored' : 'failed';
      if (how !== 'no_method') this.#tell(`payment.${type} ${bill.amount}`, at);
      if (isVoid) this.#close(bill, 'void');
      else if (!isChased) this.#giveUp(bill, at);
      if (how === 'mandate_lost' && this.endedAt === null && this.waiting === null) {
        this.#over(at, 'mandate_lost');
      }
    }
  }

  /** What a period that began in a pause is worth: what was paid for it, or is being. */
  #worth(bill: Bill, price: bigint): void {
    if (this.isPausedPeriod && bill.number === this.#own) this.price = price;
  }

  /** Of the period that a new one replaces: a draft, or what was charged in vain. */
  #replace(at: number, asOf: number): void {
    this.orders.push(`void ${this.#own} at ${at}`);
    for (const bill of this.bills.filter(({ number }) => number === this.#own)) {
      const wasOpen = bill.state === 'open';
      bill.state = 'closed';
      if (!wasOpen) continue;
      this.#giveBack(bill.credit);
      this.#look(asOf);
    }
  }

  #chase(bill: Bill, how: Answer['how'], at: number): void {
    const { failedAt } = Object.assign(bill, { failedAt: bill.failedAt ?? at });
    const times = POLICY.retryDays.map((days) => later(days, failedAt));
    const isHard = how === 'hard' || how === 'mandate_lost';
    const next = isHard ? null : (times.find((time) => time > at) ?? null);
    bill.retryAt = bill.again ? this.now : next;
    this.#worth(bill, 0n);
  }

  #giveUp(bill: Bill, at: number): void {
    if (bill.isLeft) {
      bill.state = 'draft';
      return;
    }
    const isTold = bill.state === 'waiting' && this.waiting?.isTold === true;
    if (bill.state === 'waiting') {
      this.#giveBack(this.waiting?.credit ?? 0n);
      this.waiting = null;
    } else this.#giveBack(bill.credit);
    bill.state = 'closed';
    this.orders.push(`void ${bill.number} at ${at}`);
    if (isTold) this.#tell('updated', at);
  }

  #giveBack(credit: bigint): void {
    if (this.endedAt === null && !this.isTrial) this.credit += credit;
    else this.left += credit;
  }

  #over(at: number, reason: string): void {
    for (const bill of this.open.filter(({ isUnderWay }) => !isUnderWay)) this.#giveUp(bill, at);
    this.left += this.credit;
    this.credit = 0n;
    this.endedAt = at;
    this.cancelAt = at;
    this.resumesAt = null;
    this.#overdue('clear', at);
    // The customer did not ask for it, and so is told.
    if (['dunning_exhausted', 'mandate_lost'].includes(reason)) this.orders.push(`ended at ${at}`);
    this.#tell(`expired ${reason}`, at);
  }

  #look(at: number): void {
    if (this.endedAt !== null) return;
    const failed = this.open.flatMap(({ failedAt }) => (failedAt === null ? [] : [failedAt]));
    const asOf = this.waiting?.since ?? at;
    const isBlocked = failed.some((since) => later(POLICY.blockAfterDays, since) <= asOf);
    const before = this.overdue;
    this.#overdue(isBlocked ? 'blocked' : failed.length > 0 ? 'warning' : 'clear', at);
    if (isBlocked !== (before === 'blocked')) this.#tell(`blocked ${isBlocked}`, at);
  }

  #overdue(next: OverdueState, at: number): void {
    if (next !== this.overdue) this.orders.push(`overdue ${this.overdue} ${next} at ${at}`);
    this.overdue = next;
  }

  #bill(
    reason: string,
    price: bigint,
    at: number,
    { span, off: discount }: { readonly span?: Span; readonly off: bigint },
  ) {
    const [start, end] = span ?? [this.start, this.end];
    const isDraft = this.isPaused && reason === 'cycle';
    const off = isDraft ? 0n : discount;
    const total = price - off;
    // Its own, then what others have left. Below nothing, the rest is kept.
    const own = this.credit < total ? this.credit : total;
    const others = total < 0n || this.left < total - own ? this.left : total - own;
    const credit = isDraft ? 0n : total < 0n ? total : own + others;
    if (!isDraft) this.credit -= total < 0n ? total : own;
    if (!isDraft && total >= 0n) this.left -= others;
    const amount = total - credit;
    const number = this.bills.length;
    const isUnderWay = !isDraft && amount > 0n;
    const state = isDraft ? 'draft' : isUnderWay ? 'open' : 'closed';
    const attempt = isUnderWay ? 1 : 0;
    const opened = (this.#opened += 1);
    const since = { again: false, retryAt: null, failedAt: null, isLeft: false };
    const bill: Bill = { number, amount, credit, opened, state, attempt, isUnderWay, ...since };
    this.bills.push(bill);
    if (span === undefined) this.#own = number;
    const charge = isUnderWay ? `${number}.1 ${amount}` : isDraft ? 'draft' : 'nothing';
    this.orders.push(
      `bill ${number} ${reason} ${start} ${end} ${price} -${off} -${credit} ${charge} at ${at}`,
    );
    return { bill, credit };
  }

  #tell(what: string, at: number): void {
    this.#told = Math.max(at, this.#told + 1);
    this.events.push(`${what} at ${this.#told}`);
  }
}
