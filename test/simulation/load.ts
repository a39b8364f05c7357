// The clients' load: drawn from the seed, retried as clients do.
import type { DisputeNews } from '../../ledger/payments/dispute.ts';
import { DISPUTE_STATUSES } from '../../ledger/payments/payment.ts';
import type { Grant } from '../../ledger/metering/grants.ts';
import type { Customer, Meter } from '../../ledger/metering/meter.ts';
import type { UsageRequest } from '../../ledger/outcome.ts';
import { keyedIds } from '../../src/http/wire/usage.ts';
import { type Catalogue, EARLIER, GRANT, T0, idsOf } from './catalogue.ts';
import * as calls from './calls.ts';
import * as credits from './credit-calls.ts';
import * as reservations from './reservation-calls.ts';
import * as sold from './sold-calls.ts';
import type { Historian } from './historian.ts';
import { allowancesOf, levelled } from './level-load.ts';
import { HARD_KINDS, hardMetadata } from './hard.ts';
import type { World } from './world.ts';

type Call = () => Promise<'answer' | 'unknown'>;

export class Load {
  readonly #world: World;
  readonly #ids;
  /** Calls with a key that were sent before: any client may send them again. */
  readonly #sent: Call[] = [];
  readonly #grants: { readonly about: calls.About; readonly id: string }[] = [];
  readonly #refunds: { readonly paymentId: string; readonly id: string }[] = [];
  readonly #held: { readonly about: calls.About; readonly id: string; readonly amount: bigint }[] =
    [];
  /** Keys, each with the customers that it was used for. */
  readonly #keys = new Map<string, Set<string>>();
  #count = 0;
  readonly #hasHard: boolean;
  /** Clients that still send. */
  running = 0;

  constructor(world: World) {
    this.#world = world;
    this.#ids = idsOf(world.random);
    this.#hasHard = world.isCalm || world.random.chance(0.2);
  }

  /** Starts, and sends until `until`. */
  start(until: number): void {
    for (const customer of this.#world.sells ? this.#world.catalogue.customers : []) {
      const renewsIn = this.#world.random.integer(500, until);
      this.#subscribe(customer, renewsIn).catch((error: unknown) =>
        this.#world.auditor.said('a signup', 'failed', error),
      );
    }
    if (this.#world.hasLevels) this.#allow(until);
    const clients = this.#world.random.integer(1, 5);
    const pauseMs = this.#world.random.pick([100, 200, 400]);
    for (let i = 0; i < clients; i += 1) {
      this.running += 1;
      this.#client(until, pauseMs)
        .finally(() => {
          this.running -= 1;
        })
        .catch((error: unknown) => this.#world.auditor.said('a client', 'failed', error));
    }
  }

  tell(historian: Historian, until: number): void {
    this.running += 1;
    historian
      .run(until)
      .finally(() => {
        this.running -= 1;
      })
      .catch((error: unknown) => this.#world.auditor.said('the historian', 'failed', error));
  }

  async #subscribe(customer: Customer, renewsIn: number): Promise<void> {
    this.running += 1;
    while ((await sold.begin(this.#world, customer, renewsIn)) === 'unknown') {
      await this.#world.schedule.wait(100, null);
    }
    this.running -= 1;
  }

  /** Allowances of the meter that carries its level, to each customer. */
  #allow(until: number): void {
    const { random, catalogue, auditor } = this.#world;
    for (const customer of catalogue.customers) {
      for (const allowance of allowancesOf(random, until)) {
        const grant: Grant = { ...GRANT, ...allowance, id: this.#ids.next() };
        const about = { customer, meter: catalogue.meters.disk };
        calls
          .grant(this.#world, about, grant)
          .catch((error: unknown) => auditor.said('an allowance', 'failed', error));
      }
    }
  }

  async #client(until: number, pauseMs: number): Promise<void> {
    const { schedule, random } = this.#world;
    for (let asked = 0; asked < 60 && schedule.now < until; asked += 1) {
      await schedule.wait(schedule.between(0, random.chance(0.3) ? 2 : pauseMs), null);
      const call = this.#next();
      for (let tries = 0; tries < 4; tries += 1) {
        const became = await call.send();
        if (became === 'answer' || !call.mayRepeat || random.chance(0.3)) break;
        await schedule.wait(schedule.between(0, 300), null);
      }
    }
  }

  #next(): { readonly send: Call; readonly mayRepeat: boolean } {
    const { random } = this.#world;
    const again = this.#sent.at(random.integer(0, this.#sent.length));
    if (again !== undefined && random.chance(0.1)) return { send: again, mayRepeat: true };
    const also = this.#world.pool === null ? [] : this.#world.isUnwatched ? RELIEVED : POOLED;
    const more = this.#world.hasLevels ? LEVELS : this.#world.sells ? SALES : DISPUTED;
    const kind = random.pick([...KINDS, ...more, ...also]);
    const [send, mayRepeat] = this[kind]();
    if (mayRepeat) this.#sent.push(send);
    return { send, mayRepeat };
  }

  record(): [Call, boolean] {
    const usage = this.#usage();
    return [() => calls.record(this.#world, usage), usage.request.keyId !== null];
  }

  batch(): [Call, boolean] {
    const { random } = this.#world;
    const isKeyed = random.chance(0.7);
    const usages = Array.from({ length: random.integer(1, 4) }, () =>
      this.#usage({ admission: 'record', isKeyed }),
    );
    return [() => calls.recordAll(this.#world, usages), isKeyed];
  }

  each(): [Call, boolean] {
    const { random } = this.#world;
    const usages = Array.from({ length: random.integer(1, 6) }, () => this.#usage());
    // A key may stand twice in a call.
    const [first] = usages;
    if (first !== undefined && first.request.keyId !== null && random.chance(0.3)) {
      usages.push(first);
    }
    const isKeyed = usages.every(({ request }) => request.keyId !== null);
    return [() => calls.recordEach(this.#world, usages), isKeyed];
  }

  /** What a member may use. */
  ask(): [Call, boolean] {
    const about = this.#about(['tokens', 'images']);
    return [() => credits.checkMember(this.#world, about), false];
  }

  check(): [Call, boolean] {
    const { customer, meter } = this.#about(['open', 'strict']);
    return [() => calls.check(this.#world, { customer, meter }), false];
  }

  balances(): [Call, boolean] {
    const { meters } = this.#world.catalogue;
    const { customer } = this.#about(['open']);
    const asked = { customer, meters: [meters.open, meters.strict] };
    return [() => calls.balances(this.#world, asked), false];
  }

  grant(): [Call, boolean] {
    return this.#grantOf(['open', 'strict', 'timed']);
  }

  /** To the pool, or of a member's own. */
  fund(): [Call, boolean] {
    return this.#grantOf(['credits', 'credits', 'tokens', 'images']);
  }

  #grantOf(slugs: readonly (keyof Catalogue['meters'])[]): [Call, boolean] {
    const { random, schedule, catalogue, isLavish } = this.#world;
    const about = this.#about(slugs);
    const isPool = about.meter === catalogue.meters.credits;
    const isMember =
      about.meter === catalogue.meters.tokens || about.meter === catalogue.meters.images;
    const isUnlimited = isLavish && isMember && random.chance(0.3);
    const isTimed = !EXACT.has(about.meter.slug);
    const in_ = (ms: number): number => Math.floor(T0 + schedule.now + random.integer(1, ms));
    const now = Math.floor(T0 + schedule.now);
    const id = this.#ids.next();
    const amount = isUnlimited ? null : BigInt(random.integer(1, isPool ? 90 : 30));
    const effectiveAt = isTimed && random.chance(0.3) ? in_(5000) : isPool ? now : EARLIER;
    const ends = isTimed && random.chance(0.7) ? in_(10_000) + 5000 : null;
    // What has no limit ends soon, so that the pool pays again.
    const expiresAt = isUnlimited ? Math.max(effectiveAt, now) + random.integer(1, 3000) : ends;
    const createdAt = isPool ? now : EARLIER;
    const grant: Grant = { ...GRANT, id, amount, createdAt, effectiveAt, expiresAt };
    if (isTimed) this.#grants.push({ about, id: grant.id });
    return [() => calls.grant(this.#world, about, grant), true];
  }

  void(): [Call, boolean] {
    const given = this.#grants.at(this.#world.random.integer(0, this.#grants.length));
    if (given === undefined) return this.grant();
    return [() => calls.voidGrant(this.#world, given.about, given.id), true];
  }

  /** For so short that it may expire where no check is compared to the unit. */
  reserve(): [Call, boolean] {
    const { random } = this.#world;
    const members = this.#world.pool === null ? [] : MEMBERS;
    const about = this.#about(['strict', 'strict', 'timed', ...members]);
    const isShort = about.meter.slug !== 'strict' && random.chance(0.8);
    const request = {
      id: this.#ids.next(),
      amount: BigInt(random.integer(1, reservations.UNITS_MAX)),
      fingerprint: 7n,
      expiresInMs: isShort ? random.integer(100, 3000) : 86_400_000,
    };
    this.#held.push({ about, id: request.id, amount: request.amount });
    return [() => reservations.reserve(this.#world, about, request), true];
  }

  /**
   * One member uses credits and has units of its own a little later, which gives them back: at that
   * moment another one is used.
   */
  relieve(): [Call, boolean] {
    const { random, catalogue, schedule } = this.#world;
    const { customer } = this.#about(MEMBERS);
    const { tokens, images } = catalogue.meters;
    const [first, then] = random.chance(0.5) ? [tokens, images] : [images, tokens];
    const usageOf = (meter: Meter, admission: 'record' | 'consume'): calls.Usage => {
      const usage = this.#usage({ isKeyed: false });
      const value = BigInt(meter.aggregation === 'count' ? 1 : random.integer(1, 12));
      const request = { ...usage.request, admission, value, member: null, eventAt: null };
      return { ...usage, customer, meter, request };
    };
    const [before, after] = [usageOf(first, 'record'), usageOf(then, 'consume')];
    const id = this.#ids.next();
    const amount = BigInt(random.integer(1, 30));
    const send = async (): Promise<'answer' | 'unknown'> => {
      await calls.record(this.#world, before);
      const now = Math.floor(T0 + schedule.now);
      const effectiveAt = now + RELIEF_MS;
      const relief = { ...GRANT, id, amount, createdAt: now, effectiveAt, expiresAt: null };
      await calls.grant(this.#world, { customer, meter: first }, relief);
      await schedule.wait(effectiveAt - T0 - schedule.now + random.integer(1, 20), null);
      return calls.record(this.#world, after);
    };
    return [send, false];
  }

  /** Two clients may say different things of one. */
  resolve(): [Call, boolean] {
    const { random, catalogue } = this.#world;
    const one = this.#held.at(random.integer(0, this.#held.length));
    if (one === undefined) return this.reserve();
    const { about, id } = one;
    const kind = random.pick(['commit', 'commit', 'release', 'extend'] as const);
    const act =
      kind === 'commit'
        ? { kind, value: BigInt(random.integer(0, reservations.UNITS_MAX)) }
        : kind === 'release' || about.meter === catalogue.meters.strict
          ? { kind: 'release' as const }
          : { kind, amount: one.amount + BigInt(random.integer(0, 3)), expiresInMs: 2000 };
    return [() => reservations.resolve(this.#world, about, { id, act }), true];
  }

  refund(): [Call, boolean] {
    const { random, catalogue } = this.#world;
    const paymentId = random.pick(catalogue.payments).payment.id;
    const isKeyed = random.chance(0.6);
    const request = {
      id: this.#ids.next(),
      fingerprint: isKeyed ? 7n : null,
      amount: random.chance(0.2) ? null : BigInt(random.integer(1, 60)),
    };
    this.#refunds.push({ paymentId, id: request.id });
    return [() => calls.refund(this.#world, paymentId, request), isKeyed];
  }

  settle(): [Call, boolean] {
    const made = this.#refunds.at(this.#world.random.integer(0, this.#refunds.length));
    if (made === undefined) return this.refund();
    return [() => calls.settle(this.#world, made.paymentId, made.id), true];
  }

  /** A few disputes of each payment, of which each answer may say something else. */
  dispute(): [Call, boolean] {
    const { random, catalogue } = this.#world;
    const paymentId = random.pick(catalogue.payments).payment.id;
    const news: DisputeNews = {
      reference: random.pick(['dp_1', 'dp_2', 'dp_3']),
      amount: BigInt(random.integer(1, 60)),
      currency: random.chance(0.95) ? 'USD' : 'EUR',
      reason: 'fraudulent',
      status: random.pick(DISPUTE_STATUSES),
      at: T0,
    };
    return [() => calls.dispute(this.#world, paymentId, news), true];
  }

  /** Usage that is sold, now or some time ago. */
  sell(): [Call, boolean] {
    const { random, schedule, catalogue } = this.#world;
    const usage = this.#usage({ admission: 'record' });
    const ago = random.chance(0.5) ? null : random.integer(200, 5000);
    const request = {
      ...usage.request,
      value: BigInt(random.integer(1, 12)),
      member: null,
      eventAt: ago === null ? null : Math.floor(T0 + schedule.now - ago),
    };
    const late = { ...usage, meter: catalogue.meters.sold, request };
    return [() => calls.record(this.#world, late), request.keyId !== null];
  }

  /** A level, and several at once. */
  level(): [Call, boolean] {
    const usage = levelled(this.#world, this.#usage({ admission: 'record' }));
    return [() => calls.record(this.#world, usage), usage.request.keyId !== null];
  }

  levels(): [Call, boolean] {
    const { random } = this.#world;
    const isKeyed = random.chance(0.7);
    const usages = Array.from({ length: random.integer(2, 5) }, () =>
      levelled(this.#world, this.#usage({ admission: 'record', isKeyed })),
    );
    const record = random.chance(0.5) ? calls.recordAll : calls.recordEach;
    return [() => record(this.#world, usages), isKeyed];
  }

  /** Repeated as often as it has no answer, so it may happen again later. */
  act(): [Call, boolean] {
    const { random, catalogue } = this.#world;
    const customer = random.pick(catalogue.customers);
    const kind = random.pick(this.#world.pool === null ? ACTS : POOLED_ACTS);
    return [() => sold.act(this.#world, customer, { kind }), true];
  }

  #about(slugs: readonly (keyof Catalogue['meters'])[]): calls.About {
    const { random, catalogue } = this.#world;
    const meter = catalogue.meters[random.pick(slugs)];
    return { customer: random.pick(catalogue.customers), meter };
  }

  /** Of a member, or of the pool itself; now or late, and sometimes taken back. */
  #draw(usage: calls.Usage, mustRecord: boolean): calls.Usage {
    const { random, schedule } = this.#world;
    const { meter } = this.#about([...MEMBERS, ...MEMBERS, 'credits']);
    const admission = mustRecord ? 'record' : random.pick(ADMISSIONS);
    const ago = admission === 'consume' || random.chance(0.6) ? null : random.integer(200, 5000);
    const units = meter.aggregation === 'count' ? 1 : random.integer(1, 12);
    const isTaken = admission === 'record' && random.chance(0.15);
    const request = {
      ...usage.request,
      admission,
      value: BigInt(isTaken ? -units : units),
      member: null,
      eventAt: ago === null ? null : Math.floor(T0 + schedule.now - ago),
    };
    return { ...usage, meter, request };
  }

  #usage(fields: { admission?: 'record'; isKeyed?: boolean } = {}): calls.Usage {
    const { random } = this.#world;
    const { customer, meter } = this.#about(
      fields.admission === undefined
        ? ['open', 'strict', 'strict', 'timed', 'seats']
        : ['open', 'timed', 'seats'],
    );
    this.#count += 1;
    const mark = `u${this.#count}`;
    const isKeyed = fields.isKeyed ?? random.chance(0.6);
    const key = this.#keyFor(customer);
    const said = { body: isKeyed ? key : undefined, header: null, operation: 'track' };
    const isStrict = meter.slug === 'strict';
    const isHard = this.#hasHard && random.chance(HARD_RATE);
    const isSeats = meter.slug === 'seats';
    const request: UsageRequest = {
      ...keyedIds({ ids: this.#ids, hasFormerKeys: false }, customer, {
        customerId: customer.id,
        key: said,
      }),
      idempotencyKey: isKeyed ? key : null,
      externalId: null,
      value: isSeats ? 0n : BigInt(random.integer(1, 12)),
      eventAt: null,
      member: isSeats ? BigInt(random.integer(1, 6)) : null,
      admission: isStrict ? random.pick(['consume', 'reject'] as const) : 'record',
      fingerprint: isKeyed ? 7n : null,
      metadata: { mark, ...(isHard && hardMetadata(random.pick(HARD_KINDS))) },
      exactReplay: isKeyed,
    };
    const usage = { customer, meter, request, mark };
    const isOther = this.#world.pool === null || random.chance(0.6);
    return isOther ? usage : this.#draw(usage, fields.admission !== undefined);
  }

  /** A key that the customer has not used; often one that another customer has. */
  #keyFor(customer: Customer): string {
    const { random } = this.#world;
    const others = [...this.#keys].filter(([, used]) => !used.has(customer.id));
    const [key, used] =
      others.length > 0 && random.chance(0.4)
        ? random.pick(others)
        : ([`key ${this.#keys.size}`, new Set<string>()] as const);
    this.#keys.set(key, used.add(customer.id));
    return key;
  }
}

/** The marked share of the usages, in a run that has any. */
const HARD_RATE = 0.03;

const KINDS = [
  'record',
  'record',
  'record',
  'record',
  'batch',
  'each',
  'check',
  'check',
  'balances',
  'grant',
  'void',
  'reserve',
  'resolve',
  'resolve',
  'refund',
  'settle',
] as const;
/** Meters on which each answer is compared to the unit. */
const EXACT: ReadonlySet<string> = new Set(['open', 'strict']);
const MEMBERS = ['tokens', 'images'] as const;
const ADMISSIONS = ['record', 'record', 'consume', 'reject'] as const;
const POOLED = ['fund', 'fund', 'ask'] as const;
const RELIEVED = [...POOLED, 'relieve', 'relieve', 'relieve'] as const;
/** Its alarm rings later. */
const RELIEF_MS = 300;
const DISPUTED = ['dispute'] as const;
const LEVELS = ['level', 'level', 'level', 'level', 'level', 'levels', 'levels'] as const;
const SALES = ['sell', 'sell', 'sell', 'act'] as const;

const ACTS = ['small', 'large', 'large', 'pause', 'resume', 'resume'] as const;
const POOLED_ACTS = [...ACTS, 'bare', 'bare'] as const;
