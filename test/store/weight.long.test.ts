// The estimate of an actor's memory against the engine's own figure: not less, and not many times
// as much.
import { heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { Actor } from '../../ledger/actor/actor.ts';
import type { Grant } from '../../ledger/metering/grants.ts';
import type { Reservation } from '../../ledger/metering/reservation.ts';
import { emptyMeterState, emptyPeriod, type Meter } from '../../ledger/metering/meter.ts';
import { ids } from '../../src/platform/ids.ts';
import { SubscriptionWorld } from '../ledger/subscription-world.ts';

const NOW = Date.UTC(2026, 0, 1);
const [organisationId, mode] = [ids.next(), 'live' as const];
const METERS: Meter[] = Array.from({ length: 10 }, (_, index) => {
  const named = { id: ids.next(), slug: `m-${index}` };
  return { ...named, organisationId, mode, aggregation: 'sum', scale: 6, carry: false };
});

const units = (seed: number): bigint => BigInt(seed + 1) * 1_000_003n;

const periodOf = (seed: number) => ({
  ...emptyPeriod(ids.next(), NOW + seed, NOW + seed + 5),
  granted: units(seed),
  consumed: units(seed),
  aggregate: units(seed),
});

const grantOf = (seed: number): Grant => ({
  id: ids.next(),
  source: 'top_up',
  amount: units(seed),
  used: units(seed),
  spent: 0n,
  grown: 0n,
  cut: [],
  rests: [],
  startedAt: null,
  endedIn: 0,
  cap: null,
  effectiveAt: NOW + seed,
  expiresAt: null,
  priority: 100,
  createdAt: NOW + seed,
  overageAllowed: false,
  price: null,
  charges: false,
  recurs: {
    cycle: { anchor: NOW + seed, interval: 'month', count: 1, zone: 'UTC' },
    rollover: { max: units(seed), expiresAfterPeriods: 2 },
  },
  renewsAt: NOW + seed,
  started: true,
  suspended: null,
  boolean: false,
  productId: ids.next(),
  subscriptionId: ids.next(),
  reason: null,
  ended: null,
});

const reservationOf = (seed: number): Reservation => ({
  id: ids.next(),
  accountId: ids.next(),
  holdId: ids.next(),
  extensions: 1,
  amount: units(seed),
  status: 'open',
  committed: 0n,
  late: false,
  place: 0,
  createdAt: NOW + seed,
  expiresAt: NOW + seed + 300,
  resolvedAt: null,
  balanceAfter: null,
  fingerprint: ids.fingerprint(`${seed}`),
  memberAccountId: null,
  paidBy: null,
  settled: 0n,
});

type Shape = {
  meters?: number;
  grants?: number;
  periods?: number;
  pairs?: number;
  members?: number;
  reservations?: number;
};

function actorOf(
  seed: number,
  { meters = 1, grants = 0, periods = 0, pairs = 0, members = 0, reservations = 0 }: Shape,
) {
  const id = ids.next();
  const customer = {
    id,
    slot: 0,
    organisationId,
    mode,
    externalId: `customer ${seed}`,
    email: null,
  };
  const many = <T>(count: number, make: (of: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(seed + index));
  const states = METERS.slice(0, meters).map((meter) => ({
    meter,
    state: {
      ...emptyMeterState(meter, ids.next(), periodOf(seed)),
      grants: many(grants, grantOf),
      others: many(periods, periodOf),
      reservations: many(reservations, reservationOf),
    },
  }));
  const world = new SubscriptionWorld();
  const metadata = Object.fromEntries(
    many(pairs, (of) => [`key ${of}`, Buffer.alloc(400, 97 + (of % 25)).toString()]),
  );
  if (pairs > 0) {
    const signup = { paymentLinkId: null, paymentLinkToken: null, clientReferenceId: null };
    world.start({ signup: { ...signup, externalCustomerId: null, metadata } });
  }
  const actor = new Actor(customer, states, world.billing);
  const asked = many(members, (of) => ids.fingerprint(`${id} ${of}`));
  actor.learnMembers('account', asked, []);
  return actor;
}

/** Nothing is released while others are measured. */
const held: unknown[] = [];

function heap(): number {
  Bun.gc(true);
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}

// prettier-ignore
const SHAPES: [string, number, Shape][] = [
  ['a meter each',          8000, {}],
  ['ten meters',            1500, { meters: 10 }],
  ['twenty grants',         1500, { grants: 20 }],
  ['fifty periods',         1500, { periods: 50 }],
  ['a subscription',        2000, { pairs: 1 }],
  ['with metadata',          500, { pairs: 50 }],
  ['thirty reservations',   1500, { reservations: 30 }],
  ['a thousand members',     100, { members: 1000 }],
];

test.each(SHAPES)(
  'a customer with %s weighs at most what its bound says',
  (_what, count, shape) => {
    actorOf(0, shape);
    const kept = new Map<string, Actor>();
    held.push(kept);
    const before = heap();
    for (let seed = 0; seed < count; seed += 1) {
      const actor = actorOf(seed, shape);
      kept.set(actor.id, actor);
    }
    const taken = heap() - before;
    let reckoned = 0;
    for (const { bytes } of kept.values()) reckoned += bytes;
    expect(reckoned / taken).toBeGreaterThan(0.8);
    expect(reckoned / taken).toBeLessThan(3);
  },
);

test('members of a unique meter may be evicted at any time, but not those counted and in flight', () => {
  const actor = actorOf(0, {});
  const [holding] = actor.customerMeters.values();
  const { meter, tentative: state } = must(holding, 'what it has of a meter');
  const { customer } = actor;
  const rest = {
    transfers: [],
    periods: [],
    grants: [],
    events: [],
    spans: [],
    marks: [],
    reservations: [],
    pooled: [],
    beside: [],
    topUpChanged: false,
    topUpOrders: [],
    stateChanged: false,
  };
  const members = [{ accountId: 'account', member: 7n }];
  const kind = 'meter' as const;
  const effects = { kind, customer, meter, state: must(state, 'its state'), members, ...rest };
  actor.learnMembers('account', [7n], []);
  expect(actor.seen('account', 7n)).toBe(false);
  actor.apply(effects);
  const before = actor.bytes;
  for (let round = 0; round < 60; round += 1) {
    const asked = Array.from({ length: 1000 }, (_, index) => BigInt(1000 + round * 1000 + index));
    actor.learnMembers('account', asked, []);
    expect(actor.bytes - before).toBeLessThan(52_000 * 90);
  }
  expect(actor.seen('account', 7n)).toBe(true);
  expect(actor.seen('account', 1000n)).toBeUndefined();
  actor.rollback(effects);
  expect(actor.seen('account', 7n)).not.toBe(true);
  actor.learnMembers('account', [7n], []);
  actor.apply(effects);
  actor.commit(effects);
  expect(actor.seen('account', 7n)).toBe(true);
});
