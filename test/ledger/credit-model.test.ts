// Random histories of two pools and what they pay for: after each step the ledger says what the
// sums of docs/spec/usage.md#credits say, whether its alarms come or not.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { one } from '../../ledger/kernel/quantity.ts';
import { breakdown } from '../../ledger/metering/meter.ts';
import { CreditModel } from './credit-model.ts';
import { type Costs, CreditWorld, type PoolSlug, SLUGS, type Slug } from './credit-world.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR, T0 } from './world.ts';

const MEMBERS = ['chat', 'images', 'tokens', 'calls'] as const;
const POOLS = ['credits', 'minutes'] as const;

const COSTS: readonly (readonly [PoolSlug, Costs])[] = [
  ['credits', { chat: '2', images: '5', tokens: '0.5' }],
  ['credits', { chat: '3', tokens: '0.000001' }],
  ['credits', { chat: '0.25', images: '1' }],
  ['minutes', { calls: '1.5' }],
  ['minutes', { calls: '4' }],
];

type Command =
  | {
      readonly kind: 'use';
      readonly slug: Slug;
      readonly value: number;
      readonly admission: 'record' | 'consume' | 'reject';
    }
  | { readonly kind: 'late'; readonly slug: Slug; readonly value: number; readonly ago: number }
  | {
      readonly kind: 'grant';
      readonly slug: Slug;
      readonly size: number;
      readonly ms: number | null;
    }
  | {
      readonly kind: 'plan';
      readonly slug: Slug;
      readonly size: number | null;
      readonly rolls: boolean;
    }
  | { readonly kind: 'change'; readonly slug: Slug; readonly size: number | null }
  | { readonly kind: 'rest'; readonly slug: Slug; readonly rests: boolean }
  | { readonly kind: 'costs'; readonly which: number }
  | {
      readonly kind: 'reserve';
      readonly slug: Slug;
      readonly amount: number;
      readonly seconds: number;
    }
  | { readonly kind: 'commit'; readonly which: number; readonly value: number }
  | { readonly kind: 'release'; readonly which: number }
  | { readonly kind: 'extend'; readonly which: number; readonly more: number }
  | { readonly kind: 'wait'; readonly ms: number; readonly rings: 'no' | 'yes' | 'apart' };

const just = <const T>(value: T) => fc.constant(value);
const sizes = fc.integer({ min: 1, max: 40 });
const members = fc.constantFrom(...MEMBERS, 'chat', 'chat', 'tokens');
const meters = fc.oneof({ weight: 4, arbitrary: members }, fc.constantFrom(...POOLS, 'credits'));
const waits = fc.oneof(just(60_000), just(DAY), just(HOUR), fc.integer({ min: 1, max: 2 * DAY }));

const commands = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: just('use'),
        slug: meters,
        value: fc.integer({ min: -6, max: 12 }),
        admission: fc.constantFrom('record', 'consume', 'reject'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: just('late'),
        slug: meters,
        value: fc.integer({ min: -4, max: 9 }),
        ago: fc.integer({ min: 1, max: 4 * DAY }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: just('grant'),
        slug: meters,
        size: sizes,
        ms: fc.option(waits),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: just('plan'),
        slug: meters,
        size: fc.option(sizes, { freq: 10 }),
        rolls: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: just('change'),
        slug: meters,
        size: fc.option(sizes, { freq: 10 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: just('rest'), slug: meters, rests: fc.boolean() }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: just('costs'), which: fc.nat(COSTS.length - 1) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: just('reserve'),
        slug: meters,
        amount: fc.integer({ min: 1, max: 12 }),
        seconds: fc.oneof(just(60), fc.integer({ min: 1, max: 350_000 })),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: just('commit'),
        which: fc.nat(5),
        value: fc.integer({ min: 0, max: 14 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: just('release'), which: fc.nat(5) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: just('extend'),
        which: fc.nat(5),
        more: fc.integer({ min: 0, max: 4 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: just('wait'),
        ms: waits,
        rings: fc.constantFrom('no', 'yes', 'apart'),
      }),
    },
  ),
  { maxLength: 30, size: '+1' },
) as fc.Arbitrary<Command[]>;

class Pair {
  readonly world = new CreditWorld({ credits: COSTS[0]![1], minutes: COSTS[3]![1] });
  readonly model = new CreditModel(T0);
  #count = 0;

  constructor() {
    this.#list(COSTS[0]!, 0);
    this.#list(COSTS[3]!, 0);
  }

  obey(command: Command): void {
    const { world, model } = this;
    this.#wait(1);
    const id = `made ${(this.#count += 1)}`;
    switch (command.kind) {
      case 'use':
        return this.#use(command);
      case 'late': {
        const value = command.value === 0 ? 1 : command.value;
        const at = world.now - command.ago;
        const isKept = world.period(command.slug, model.startAt(command.slug, at)) !== undefined;
        // Nothing is left of an unused period of a plan without a limit that has ended.
        if (!isKept && model.hasEnded(command.slug, at)) return;
        expect(world.use(command.slug, value, { eventAt: at })).toStartWith('recorded');
        return model.use(command.slug, this.#counted(command.slug, value), at);
      }
      case 'grant': {
        const expiresAt = command.ms === null ? null : world.now + command.ms;
        world.grant(command.slug, command.size, { expiresAt });
        return model.granted(command.slug);
      }
      case 'plan': {
        if (model.planOf(command.slug) !== undefined) {
          world.withdrawPlan(command.slug);
          return model.end(command.slug);
        }
        const max = world.units(command.slug, 7);
        world.plan(command.slug, command.size, {
          resetInterval: 'day',
          rollover: command.rolls ? { max, expiresAfterPeriods: 2 } : null,
        });
        return model.begin(command.slug);
      }
      case 'change': {
        const plan = model.planOf(command.slug);
        if (plan === undefined) return;
        const cycle = { anchor: plan.start, zone: 'UTC' };
        world.replacePlan(command.slug, command.size, { resetInterval: 'day', cycle });
        return;
      }
      case 'rest':
        world.suspendPlan(command.slug, command.rests ? 'paused' : null);
        return;
      case 'costs': {
        const list = COSTS[command.which]!;
        world.patch(...list);
        return this.#list(list, world.now);
      }
      case 'reserve': {
        const { slug, amount, seconds } = command;
        const expected = this.#expected(slug, amount);
        expect(world.reserve(slug, amount, id, seconds)).toMatch(
          new RegExp(`^${expected.allowed ? 'reserved' : 'denied'} \\S+${expected.paid}$`),
        );
        if (!expected.allowed) return;
        model.held.push({
          id,
          slug,
          start: model.startAt(slug, world.now),
          amount: world.units(slug, amount),
          expiresAt: world.now + seconds * 1000,
          status: 'open',
        });
        return;
      }
      case 'wait':
        this.#wait(command.ms);
        if (command.rings !== 'no') world.ringUntil(world.now, command.rings === 'apart');
        return;
      case 'commit':
      case 'release':
      case 'extend':
        this.#resolve(command);
        return;
      default:
        command satisfies never;
    }
  }

  #use({ slug, value: wanted, admission }: Extract<Command, { kind: 'use' }>): void {
    const { world, model } = this;
    const value = wanted === 0 ? 1 : slug === 'images' ? Math.sign(wanted) : wanted;
    const units = this.#counted(slug, value);
    if (admission === 'record' || value < 0) {
      expect(world.use(slug, value)).toStartWith('recorded');
      return model.use(slug, units);
    }
    const isNegative = model.sum(slug, model.startAt(slug, world.now)) < 0n;
    const expected = this.#expected(slug, value);
    const said = world.use(slug, value, { admission });
    if (admission === 'consume') {
      expect(said).toStartWith(expected.allowed ? 'recorded' : 'refused');
      // What is below 0 is made up for first: less is paid then.
      if (!isNegative) expect(said).toEndWith(expected.paid);
    } else if (!isNegative) {
      expect(said.startsWith('recorded')).toBe(this.#fits(slug, units));
    }
    if (said.startsWith('recorded')) model.use(slug, units);
  }

  #resolve(command: Extract<Command, { kind: 'commit' | 'release' | 'extend' }>): void {
    const { world, model } = this;
    const held = model.held[command.which % (model.held.length || 1)];
    if (held === undefined) return;
    const { id, status } = held;
    const slug = held.slug as Slug;
    if (command.kind === 'release') {
      expect(world.release(slug, id)).toStartWith(
        status === 'committed' ? 'not_open' : status === 'open' ? 'released' : status,
      );
      if (status === 'open') held.status = 'released';
      return;
    }
    if (command.kind === 'commit') {
      if (status === 'committed' || status === 'released') return;
      const value = world.units(slug, command.value);
      expect(world.commit(slug, id, command.value)).toStartWith('committed');
      const inIt = status === 'expired' ? 0n : value < held.amount ? value : held.amount;
      held.status = 'committed';
      if (inIt > 0n) model.add(slug, held.start, inIt);
      if (value > inIt) model.use(slug, value - inIt);
      return;
    }
    const amount = held.amount + world.units(slug, command.more);
    const isOver = held.start !== model.startAt(slug, world.now);
    const isAllowed = command.more === 0 || (!isOver && this.#expected(slug, command.more).allowed);
    const said = world.extend(slug, id, world.number(slug, amount));
    expect(said.startsWith('open')).toBe(status === 'open' && isAllowed);
    if (said.startsWith('open')) held.amount = amount;
  }

  /** What a check of so many says, and what pays for it. */
  #expected(slug: Slug, value: number): { readonly allowed: boolean; readonly paid: string } {
    const { world, model } = this;
    const pool = model.poolOf(slug) as PoolSlug | null;
    const units = world.units(slug, value);
    const own = this.#mayUse(slug) && this.#leaves(slug, units);
    if (pool === null) return { allowed: own, paid: ' by nobody' };
    const { cost, more } = this.#asked(slug, units);
    const allowed = own || (cost !== null && this.#mayUse(pool) && this.#leaves(pool, cost));
    const parts: string[] = [];
    if (units > more) parts.push(`${world.number(slug, units - more)} ${slug}`);
    if (more > 0n) parts.push(`${world.number(pool, cost ?? 0n)} ${pool}`);
    return { allowed, paid: allowed && parts.length > 0 ? ` by ${parts.join(' and ')}` : '' };
  }

  /** As `#expected`, without a look at whether anything is granted. */
  #fits(slug: Slug, units: bigint): boolean {
    const pool = this.model.poolOf(slug) as PoolSlug | null;
    if (pool === null || this.#leaves(slug, units)) return this.#leaves(slug, units);
    const { cost } = this.#asked(slug, units);
    return cost !== null && this.#leaves(pool, cost);
  }

  /** What is beyond its own, and what that costs; null where the pool may not pay. */
  #asked(slug: Slug, units: bigint): { readonly more: bigint; readonly cost: bigint | null } {
    const { world, model } = this;
    const start = model.startAt(slug, world.now);
    const limit = this.#limitOf(slug, start);
    const taken = model.consumed(slug, start) + model.reserved(slug, start);
    const more = model.beyond(limit, taken + units) - model.beyond(limit, taken);
    const rate = model.rate(slug, start);
    // What is suspended of its own comes first.
    const mayPay = rate !== null && this.#resting(slug) === 0n;
    return { more, cost: mayPay ? rate * more : null };
  }

  #mayUse(slug: Slug): boolean {
    const grants = this.world.seen(slug).grants.filter(({ started }) => started);
    return grants.some(({ suspended }) => suspended === null);
  }

  /** What is left of what is suspended. */
  #resting(slug: Slug): bigint {
    let resting = 0n;
    for (const { grant, remaining } of breakdown(this.world.seen(slug))) {
      if (grant.suspended !== null) resting += remaining ?? 0n;
    }
    return resting;
  }

  #leaves(slug: Slug, units: bigint): boolean {
    const start = this.model.startAt(slug, this.world.now);
    const limit = this.#limitOf(slug, start);
    if (limit === null) return true;
    const rest = limit - this.#taken(slug);
    const isPaid = this.model.rate(slug, start) !== null;
    return (isPaid && rest < 0n ? 0n : rest) - this.#resting(slug) >= units;
  }

  /** What is used and held of a pool, by what its members have. */
  #taken(slug: Slug): bigint {
    const { world, model } = this;
    const start = model.startAt(slug, world.now);
    return model.consumed(slug, start) + this.#heldOf(slug, start);
  }

  #heldOf(slug: Slug, start: number): bigint {
    const { world, model } = this;
    if (!POOLS.includes(slug as PoolSlug)) return model.reserved(slug, start);
    const held = world.period(slug, start)?.reserved ?? 0n;
    return held;
  }

  #limitOf(slug: string, start: number): bigint | null {
    const state = this.world.seen(slug as Slug);
    const isCurrent = state.current.start === start;
    const isUnlimited = state.grants.some(
      ({ started, amount, suspended }) => started && amount === null && suspended === null,
    );
    if (isCurrent && isUnlimited) return null;
    return this.world.period(slug as Slug, start)?.granted ?? 0n;
  }

  #counted(slug: Slug, value: number): bigint {
    if (slug === 'images') return BigInt(Math.sign(value)) * one(0);
    return this.world.units(slug, value);
  }

  #list([pool, costs]: (typeof COSTS)[number], since: number): void {
    const { world, model } = this;
    const rates = Object.entries(costs).map(([slug, cost]) => {
      const { scale } = world.meter(slug as Slug);
      return [slug, world.units(pool, Number(cost)) / one(scale)] as const;
    });
    model.list(pool, since, new Map(rates));
  }

  #wait(ms: number): void {
    this.world.now += ms;
    this.model.now = this.world.now;
    this.model.expire();
  }

  compare(): void {
    const { world, model } = this;
    model.settle(MEMBERS, (slug, start) => this.#limitOf(slug, start));
    for (const slug of SLUGS) {
      const state = world.seen(slug);
      expect([slug, state.current.start]).toEqual([slug, model.startAt(slug, world.now)]);
      const isPool = POOLS.includes(slug as PoolSlug);
      const pool = model.poolOf(slug) as PoolSlug | null;
      if (pool !== null && model.planOf(slug) === undefined) {
        expect([slug, state.current.end]).toEqual([slug, world.seen(pool).current.end]);
      }
      for (const start of model.startsOf(slug)) {
        const period = world.period(slug, start);
        const sum = model.sum(slug, start);
        expect([slug, start, period?.aggregate ?? 0n]).toEqual([slug, start, sum]);
        if (!isPool) {
          expect(period?.reserved ?? 0n).toBe(model.reserved(slug, start));
        }
      }
      expect(world.numbers(slug)[3]).toBe(this.#balance(slug));
      for (const value of [0, 1, 5]) {
        const { allowed, paid } = this.#expected(slug, value);
        expect(`${slug} ${value} ${world.check(slug, value)}`).toMatch(
          new RegExp(`^${slug} ${value} ${allowed ? 'allowed' : 'denied'} \\S+${paid}$`),
        );
      }
    }
    for (const pool of POOLS) {
      let held = 0n;
      for (const start of model.startsOf(pool)) held += model.reserved(pool, start);
      for (const slug of MEMBERS) {
        if (model.poolOf(slug) !== pool) continue;
        for (const start of model.startsOf(slug)) {
          held += model.heldFor(slug, start, this.#limitOf(slug, start));
        }
      }
      const { current, others, reservations } = world.seen(pool);
      let sum = 0n;
      for (const { reserved } of [current, ...others]) sum += reserved;
      expect([pool, sum]).toEqual([pool, held]);
      let open = 0n;
      for (const { amount } of reservations) open += amount;
      expect([pool, open]).toEqual([pool, held]);
    }
  }

  #balance(slug: Slug): number | null {
    const { world, model } = this;
    const start = model.startAt(slug, world.now);
    const limit = this.#limitOf(slug, start);
    if (limit === null) return null;
    const rest = limit - this.#taken(slug);
    const isPaid = model.rate(slug, start) !== null;
    return world.number(slug, isPaid && rest < 0n ? 0n : rest);
  }

  /**
   * Each hold is resolved once, and by what became of it; the accounts are the fold of the
   * transfers.
   */
  close(): void {
    const { world, model } = this;
    this.#wait(5 * DAY);
    for (const slug of SLUGS) if (world.actor.customerMeters.has(slug)) world.tick(slug);
    this.compare();
    for (const { id, status } of model.held) {
      expect(world.written.reservations.get(id)?.status).toBe(status);
    }
    const resolved = new Map<string, number>();
    for (const { hold } of world.written.transfers) {
      if (hold !== null) resolved.set(hold.id, (resolved.get(hold.id) ?? 0) + 1);
    }
    for (const { id, kind } of world.written.transfers) {
      if (kind === 'pending') expect(resolved.get(id)).toBe(1);
    }
    const folded = world.written.refold();
    expect(folded.size).toBe(world.written.accounts.size);
    for (const [id, totals] of folded) {
      expect(world.written.accounts.get(id)).toEqual(totals);
      expect([id, totals.debitsPending, totals.creditsPending]).toEqual([id, 0n, 0n]);
    }
  }
}

test(
  seeded('credit pools pay what the sums say, for any history'),
  () => {
    const property = fc.property(commands, (history) => {
      const pair = new Pair();
      for (const command of history) {
        pair.obey(command);
        pair.compare();
      }
      pair.close();
    });
    holds(property, 300);
  },
  60_000,
);
