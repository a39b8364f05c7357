// The meters of a customer that are members of a pool, which an actor lists once.
import { expect, test } from 'bun:test';
import type { Actor } from '../../ledger/actor/actor.ts';
import { MembersNow, PoolMembers } from '../../ledger/actor/pool-members.ts';
import { must } from '../../ledger/kernel/assert.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { MeterContext } from '../../ledger/metering/meter-draft.ts';
import type { Pool } from '../../ledger/metering/pool.ts';
import { decideUsage } from '../../ledger/metering/usage.ts';
import { CreditWorld } from './credit-world.ts';

const USAGE = {
  id: 'usage',
  value: 1n,
  eventAt: null,
  member: null,
  admission: 'record',
  fingerprint: null,
  metadata: null,
  exactReplay: false,
} as const;

const meterOf = (slug: string): Meter => ({
  id: slug,
  organisationId: 'organisation',
  mode: 'test',
  slug,
  aggregation: 'sum',
  scale: 0,
  carry: false,
});

const poolOf = (...lists: readonly (readonly string[])[]): Pool => ({
  meter: meterOf('credits'),
  costs: lists.map((slugs, since) => ({
    since,
    members: new Map(slugs.map((slug) => [slug, { meter: meterOf(slug), rate: 1n }])),
  })),
});

const idsOf = (members: PoolMembers, pool: Pool, actor: Actor): readonly string[] =>
  members.of(pool, actor).map(({ meter }) => meter.id);

test('they are listed anew only where the customer has other meters, or the pool another list', () => {
  const world = new CreditWorld();
  const members = new PoolMembers();
  const [first, second] = [poolOf(['chat']), poolOf(['chat'], ['images'])];
  expect(idsOf(members, first, world.actor)).toEqual([]);
  world.use('calls', 1);
  world.use('chat', 1);
  const listed = members.of(first, world.actor);
  expect(listed.map(({ meter }) => meter.id)).toEqual(['chat']);
  world.use('chat', 1);
  expect(members.of(first, world.actor)).toBe(listed);
  world.use('images', 1);
  expect(idsOf(members, first, world.actor)).toEqual(['chat']);
  expect(idsOf(members, second, world.actor)).toEqual(['chat', 'images']);
});

test('a meter that a refused decision has left nothing on is none of them', () => {
  const world = new CreditWorld();
  const members = new PoolMembers();
  const pool = poolOf(['chat', 'images']);
  world.use('images', 1);
  expect(idsOf(members, pool, world.actor)).toEqual(['images']);
  const state = world.state('chat');
  const decided = decideUsage(world.context('chat'), state, USAGE, world.actor.seen);
  const effects = must(decided.effects, 'what it writes');
  const before = world.actor.apply(effects);
  expect(idsOf(members, pool, world.actor)).toEqual(['images', 'chat']);
  world.actor.unapply(effects, before);
  expect(idsOf(members, pool, world.actor)).toEqual(['images']);
});

test('one decision sees them as they were when it first looked', () => {
  const world = new CreditWorld();
  world.grant('chat', 5, { every: 'hour' });
  const members = new PoolMembers();
  const meters = members.of(poolOf(['chat', 'images']), world.actor);
  const contexts: string[] = [];
  const contextOf = (meter: Meter): MeterContext => {
    contexts.push(meter.slug);
    return world.context('chat');
  };
  const now = new MembersNow(meters, 'tentative', { contextOf, dueFrom: null });
  const due = world.state('chat').nextDue;
  expect([now.dueFrom, contexts]).toEqual([due, []]);
  const { sides } = now;
  expect([sides.length, sides[0]?.state]).toEqual([1, world.state('chat')]);
  world.use('chat', 1);
  expect([now.sides, now.dueFrom]).toEqual([sides, due]);
  expect([sides[0]?.context.meter.slug, contexts]).toEqual(['chat', ['chat']]);
  const none = new MembersNow([], 'durable', { contextOf, dueFrom: null });
  expect(none).toMatchObject({ dueFrom: Infinity, sides: [] });
  // Where it is known that nothing is due before then, nobody looks.
  expect(new MembersNow(meters, 'tentative', { contextOf, dueFrom: 7 }).dueFrom).toBe(7);
});
