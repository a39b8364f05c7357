// The historian: one client with a customer's meter of its own. It takes one random step after the
// other, as the histories of the reference, and after each one the balance that some node says is
// what the reference settles from the facts.
import { balance, type Customer, type Snapshot } from '../../ledger/metering/meter.ts';
import type { UsageRequest } from '../../ledger/outcome.ts';
import { keyedIds } from '../../src/http/wire/usage.ts';
import type { Plan } from '../ledger/reference/facts.ts';
import { DAY, nth, PLANS, ROLLING, UNLIMITED } from '../ledger/reference/history.ts';
import { settle } from '../ledger/reference/walk.ts';
import { type Random, seeded } from '../support/random.ts';
import * as calls from './calls.ts';
import { GRANT, idsOf, T0 } from './catalogue.ts';
import { send } from './client.ts';
import * as reservations from './reservation-calls.ts';
import { factsBy, type Steps } from './settled-facts.ts';
import * as plans from './settled-plan.ts';
import type { World } from './world.ts';

/** Why a history ends before its time. */
type Stop =
  | 'lost writes'
  | 'an edge'
  | 'no answer'
  | 'a hold denied late'
  | 'a change done late'
  | 'a difference';

export type Compared = {
  /** How often the balance was compared, and how often after something late. */
  compared: number;
  late: number;
  /** How often another process owned the customer than the time before. */
  moved: number;
  stopped: Stop | null;
};

const EVERY_KIND = {
  use: 3,
  correct: 1,
  late: 2,
  lateCorrection: 1,
  grant: 2,
  void: 1,
  change: 1,
  hold: 2,
  commit: 1,
  release: 1,
};
type Kind = keyof typeof EVERY_KIND;
type Kinds = { readonly [K in Kind]?: number };

/** Of those that `reference/ledger.test.ts` compares. */
const HISTORIES: readonly (readonly [kinds: Kinds, plans: readonly Plan[]])[] = [
  [EVERY_KIND, PLANS],
  [EVERY_KIND, ROLLING],
  [{ use: 3, correct: 1, late: 2, lateCorrection: 1, grant: 2, void: 1 }, ROLLING],
  [{ use: 3, correct: 1, late: 2, lateCorrection: 1, change: 2 }, UNLIMITED],
  [{ use: 4, correct: 1, grant: 1, void: 1, change: 2, hold: 1, commit: 1, release: 1 }, UNLIMITED],
];

/** Clocks are at most 100 ms off. What is so near to each other has no certain order. */
const NEAR_MS = 150;
/** Beside what a step waits for its balance. */
const PAUSE_MS = 150;
const LATE_MS_MAX = 5000;
/** A call without an answer is sent again. */
const AGAIN_MS = 1500;
/** No call is sent later. */
const PATIENCE_MS = 4000;

export class Historian {
  readonly compared: Compared = { compared: 0, late: 0, moved: 0, stopped: null };
  readonly #world: World;
  readonly #random: Random;
  readonly #ids;
  readonly #about: calls.About;
  readonly #plans: readonly Plan[];
  readonly #kinds: readonly Kind[];
  readonly #startAt: number;
  readonly #steps: { readonly [K in keyof Steps]: Steps[K][number][] };
  /** What happened at a time that is not known to the millisecond. */
  readonly #blurred: { readonly from: number; readonly to: number }[] = [];
  readonly #taken: string[] = [];
  #isLate = false;
  #sequence = 0n;
  #owner = '';
  #until = 0;

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#random = seeded(seed + 1e6);
    this.#ids = idsOf(this.#random);
    const { customers, meters } = world.catalogue;
    this.#about = { customer: customers[0]!, meter: meters.settled };
    const [kinds, offered] = this.#random.pick(HISTORIES);
    this.#plans = offered;
    this.#kinds = Object.entries(kinds).flatMap(([kind, weight]) =>
      Array.from({ length: weight }, () => kind as Kind),
    );
    // It renews in the run, for the first or the second time.
    const days = this.#random.integer(1, 2);
    this.#startAt = T0 + this.#random.integer(1500, 4500) - days * DAY;
    this.#steps = { plans: [], uses: [], holds: [], grants: [] };
  }

  get customer(): Customer {
    return this.#about.customer;
  }

  /** Takes steps until `until`. */
  async run(until: number): Promise<void> {
    const { schedule } = this.#world;
    this.#until = until;
    await this.#begin();
    while (this.compared.stopped === null && schedule.now < until) {
      await this.#rest(PAUSE_MS);
      await this.#step();
      if (this.compared.stopped !== null) return;
      await this.#rest(2 * NEAR_MS);
      await this.#compare();
    }
  }

  /** Ends its plan. */
  end(): Promise<void> {
    return plans.cancel(this.#world, this.customer);
  }

  async #begin(): Promise<void> {
    const [plan = { limit: 0n }] = this.#plans;
    this.#steps.plans.push({ at: this.#startAt, plan });
    const wanted = { plan, startAt: this.#startAt };
    await this.#known(() => plans.begin(this.#world, this.customer, wanted));
    this.#sequence = plans.planNow(this.#world, this.customer).sequence;
    this.#blurred.push({ from: -Infinity, to: this.#now });
  }

  get #now(): number {
    return Math.floor(T0 + this.#world.schedule.now);
  }

  #stop(why: Stop): void {
    this.#world.trace(`the historian stops: ${why}`);
    this.compared.stopped ??= why;
  }

  /** So long, and until no edge is near. */
  async #rest(ms: number): Promise<void> {
    const { schedule } = this.#world;
    await schedule.wait(ms + this.#random.integer(0, 100), null);
    while (this.#isNearEdge(this.#now - NEAR_MS, this.#now + NEAR_MS)) {
      await schedule.wait(50, null);
    }
  }

  /** At an edge what may be used changes by itself. */
  #isNearEdge(from: number, to: number): boolean {
    const { grants, holds } = this.#steps;
    const { reservations: rows } = this.#world.server.db;
    const renewals = [1, 2, 3].map((days) => this.#startAt + days * DAY);
    const ends = grants.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [expiresAt]));
    const expiries = holds.flatMap(({ id, lasts }) => {
      const row = rows.get(id)?.reservation;
      return row === undefined ? [] : [row.createdAt + lasts];
    });
    return [...renewals, ...ends, ...expiries].some(
      (edge) => edge >= from - NEAR_MS && edge <= to + NEAR_MS,
    );
  }

  /** Sends it until it is answered; returns when it was sent first, and how often. */
  async #known(
    call: () => Promise<'answer' | 'unknown'>,
  ): Promise<{ readonly from: number; readonly tries: number }> {
    const { schedule } = this.#world;
    const from = this.#now;
    for (let tries = 1; schedule.now < this.#until + PATIENCE_MS; tries += 1) {
      const late = schedule.wait(AGAIN_MS, null).then(() => 'unknown' as const);
      if ((await Promise.race([call(), late])) === 'answer') return { from, tries };
      await schedule.wait(this.#random.integer(20, 200), null);
    }
    this.#stop('no answer');
    return { from, tries: Infinity };
  }

  async #step(): Promise<void> {
    const kind = this.#random.pick(this.#kinds);
    const units = (max: number): bigint => BigInt(this.#random.integer(1, max));
    switch (kind) {
      case 'use':
      case 'correct':
        return this.#use(kind === 'use' ? units(60) : -units(60), null);
      case 'late':
      case 'lateCorrection':
        return this.#use(kind === 'late' ? units(60) : -units(60), this.#past());
      case 'grant':
        return this.#grant(units(80));
      case 'void':
        return this.#void();
      case 'change':
        return this.#change();
      case 'hold':
        return this.#hold(units(40));
      case 'commit':
        return this.#resolve({ kind: 'commit', value: units(50) });
      case 'release':
        return this.#resolve({ kind: 'release' });
      default:
        return kind satisfies never;
    }
  }

  /** null: nothing is certain of the times before. */
  #past(): number | null {
    for (let tries = 0; tries < 10; tries += 1) {
      const at = this.#now - 2 * NEAR_MS - this.#random.integer(0, LATE_MS_MAX);
      const isIn = ({ from, to }: { readonly from: number; readonly to: number }): boolean =>
        at >= from - NEAR_MS && at <= to + NEAR_MS;
      if (!this.#blurred.some(isIn)) return at;
    }
    return null;
  }

  async #use(amount: bigint, eventAt: number | null): Promise<void> {
    const { customer, meter } = this.#about;
    const name = `settled ${this.#taken.length}`;
    const said = { body: name, header: null, operation: 'track' };
    const key = { customerId: customer.id, key: said };
    const keyed = keyedIds({ ids: this.#ids, hasFormerKeys: false }, customer, key);
    const request: UsageRequest = {
      ...keyed,
      idempotencyKey: name,
      externalId: null,
      value: amount,
      eventAt,
      member: null,
      admission: 'record',
      fingerprint: 7n,
      metadata: { mark: name },
      exactReplay: true,
    };
    this.#take(`use ${amount}${eventAt === null ? '' : ` at ${eventAt - T0}`}`);
    this.#isLate ||= eventAt !== null;
    const usage = { customer, meter, request, mark: name };
    await this.#known(() => calls.record(this.#world, usage));
    const id = request.keyId ?? '';
    this.#steps.uses.push({ id, amount });
    this.#toldAt(this.#world.server.db.byId.get(id)?.transfer.at);
  }

  async #grant(amount: bigint): Promise<void> {
    const id = this.#ids.next();
    // Not in the future of any node, and after the step before.
    const at = this.#now - NEAR_MS;
    const ends = this.#random.chance(0.5) ? at + this.#random.integer(700, 4000) : null;
    const given = { ...GRANT, id, amount, createdAt: at, effectiveAt: at, expiresAt: ends };
    this.#take(`grant ${amount}${ends === null ? '' : ` until ${ends - T0}`}`);
    const expires = ends === null ? {} : { expiresAt: ends };
    this.#steps.grants.push({ id, amount, effectiveAt: at, ...expires });
    await this.#known(() => calls.grant(this.#world, this.#about, given));
    this.#blur(at);
  }

  async #void(): Promise<void> {
    const { db } = this.#world.server;
    const open = this.#steps.grants.filter(
      ({ id, expiresAt = Infinity }) =>
        expiresAt > this.#now && db.grants.get(id)?.grant.ended === null,
    );
    const { id } = nth(open, this.#random.integer(0, 20)) ?? {};
    if (id === undefined) return;
    this.#take(`void ${this.#steps.grants.findIndex((one) => one.id === id)}`);
    await this.#known(() => calls.voidGrant(this.#world, this.#about, id));
    this.#toldAt(db.grants.get(id)?.grant.ended?.at);
  }

  /** To ask for the same plan twice changes nothing. */
  async #change(): Promise<void> {
    const index = this.#random.integer(0, this.#plans.length - 1);
    const plan = this.#plans[index] ?? { limit: 0n };
    const before = plans.planNow(this.#world, this.customer);
    if (before.index === index) return;
    this.#take(`change to ${index}`);
    const { from } = await this.#known(() =>
      plans.change(this.#world, this.customer, { plan, index }),
    );
    this.#sequence = plans.planNow(this.#world, this.customer).sequence;
    this.#steps.plans.push({ at: from, plan });
    this.#blur(from);
  }

  async #hold(amount: bigint): Promise<void> {
    const id = this.#ids.next();
    const lasts = this.#random.chance(0.5) ? this.#random.integer(800, 3000) : DAY / 2;
    const request = { id, amount, fingerprint: 7n, expiresInMs: lasts };
    this.#take(`hold ${amount} for ${lasts}`);
    this.#steps.holds.push({ id, amount, lasts });
    const { tries } = await this.#known(() =>
      reservations.reserve(this.#world, this.#about, request),
    );
    const row = this.#world.server.db.reservations.get(id)?.reservation;
    // What was refused the second time may still be on its way.
    if (row === undefined && tries > 1) this.#stop('a hold denied late');
    this.#toldAt(row?.createdAt);
  }

  async #resolve(
    act: { readonly kind: 'commit'; readonly value: bigint } | { readonly kind: 'release' },
  ): Promise<void> {
    const { db } = this.#world.server;
    const rowOf = (id: string) => db.reservations.get(id)?.reservation;
    const open = this.#steps.holds.filter(({ id, lasts }) => {
      const row = rowOf(id);
      return row?.status === 'open' && row.createdAt + lasts > this.#now;
    });
    const { id } = nth(open, this.#random.integer(0, 20)) ?? {};
    if (id === undefined) return;
    const index = this.#steps.holds.findIndex((one) => one.id === id);
    this.#take(`${act.kind} ${index}${act.kind === 'commit' ? ` of ${act.value}` : ''}`);
    await this.#known(() => reservations.resolve(this.#world, this.#about, { id, act }));
    this.#toldAt(rowOf(id)?.resolvedAt ?? undefined);
  }

  #take(step: string): void {
    this.#taken.push(`${this.#now - T0} ${step}`);
    this.#world.trace(`the historian: ${step}`);
  }

  /** The step has happened at that time, by the clock of its node. */
  #toldAt(at: number | undefined): void {
    if (at !== undefined && this.#isNearEdge(at, at)) this.#stop('an edge');
  }

  /** The step has happened between then and now. */
  #blur(from: number): void {
    const to = this.#now;
    this.#blurred.push({ from, to });
    if (this.#isNearEdge(from, to)) this.#stop('an edge');
  }

  async #compare(): Promise<void> {
    const { customer, meter } = this.#about;
    let seen: Snapshot | undefined;
    const { from } = await this.#known(async () => {
      const reply = await send(
        this.#world,
        { what: `the settled balance of ${customer.externalId}` },
        async (ledger) => ledger.allBalances(await calls.find(this.#world, ledger, customer)),
        () => undefined,
      );
      if (reply.kind === 'unknown') return reply.kind;
      seen = reply.value.find((one) => one.meter.id === meter.id)?.snapshot;
      return reply.kind;
    });
    const { auditor, server } = this.#world;
    if (auditor.isLossy) return this.#stop('lost writes');
    if (plans.planNow(this.#world, customer).sequence !== this.#sequence) {
      return this.#stop('a change done late');
    }
    if (this.compared.stopped !== null || this.#isNearEdge(from, this.#now)) return;
    const { balance: expected } = settle(factsBy(server.db, this.#steps), this.#now);
    const its = seen === undefined ? 'nothing' : numbersOf({ ...seen, balance: balance(seen) });
    const wanted = numbersOf(expected);
    this.#count();
    if (its === wanted) return;
    auditor.report(`settled: ${its}, not ${wanted}, after ${this.#taken.join('; ')}`);
    this.#stop('a difference');
  }

  #count(): void {
    const { db } = this.#world.server;
    this.compared.compared += 1;
    if (this.#isLate) this.compared.late += 1;
    const node = db.slots[this.customer.slot] ?? 0;
    const owner = `${node} ${db.nodes.get(node)?.holder}`;
    if (this.#owner !== '' && owner !== this.#owner) this.compared.moved += 1;
    this.#owner = owner;
  }
}

type Numbers = Pick<Snapshot, 'limit' | 'consumed' | 'reserved'> & {
  readonly balance: bigint | null;
};

function numbersOf({ limit, consumed, reserved, balance: units }: Numbers): string {
  return `limit ${limit} consumed ${consumed} reserved ${reserved} balance ${units}`;
}
