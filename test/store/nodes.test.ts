// Seats and slots in PostgreSQL: who joins, who is alive, who takes over.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Fence, Storage } from '../../ledger/storage.ts';
import { journalName, resumeSeats } from '../../ledger/store/nodes.ts';
import { postgresStorage } from '../../ledger/store/postgres-storage.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { NO_ROWS } from './bed.ts';

const LEASE_MS = 60_000;

let database: FreshDatabase;
let sql: Sql;
const opened: { end(): Promise<void> }[] = [];
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 2, applicationName: 'test' });
});
afterAll(async () => {
  await Promise.all([...opened.map((storage) => storage.end()), sql.end()]);
  await database.drop();
});

function open(address: string | null): Storage {
  const holder = ids.next();
  const storage = postgresStorage({
    openWriter: () => openPool(database.url, { max: 1, applicationName: journalName(holder) }),
    openReader: () => openPool(database.url, { max: 2, applicationName: 'test' }),
    leaseMs: LEASE_MS,
    holder,
    address,
    slotOf,
    ids,
    timers,
    onEvents: () => undefined,
  });
  opened.push(storage);
  return storage;
}

async function empty(): Promise<void> {
  await sql`update slots set node = null`;
  await sql`delete from nodes`;
}

async function join(address: string | null): Promise<{ storage: Storage; fence: Fence }> {
  const storage = open(address);
  const fence = await storage.claim();
  if (fence === null) throw new Error('it may not join');
  return { storage, fence };
}

const expire = (node: number) =>
  sql`update nodes set expires_at = now() - interval '1 ms' where id = ${node}`;

async function slotsOf(node: number): Promise<number> {
  return (await sql`select from slots where node = ${node}`).length;
}

test('the first node has every slot, and each that joins has a seat of its own', async () => {
  await empty();
  const [a, b] = [await join('a:1'), await join('b:1')];
  expect([a.fence.node, b.fence.node]).toEqual([1, 2]);
  expect([await slotsOf(1), await slotsOf(2)]).toEqual([1024, 0]);
  const { nodes, owners } = await a.storage.survey();
  for (const { leaseMs } of nodes) {
    expect(leaseMs).toBeGreaterThan(LEASE_MS - 10_000);
    expect(leaseMs).toBeLessThanOrEqual(LEASE_MS);
  }
  expect(nodes.map(({ leaseMs: _left, ...node }) => node)).toEqual([
    { node: 1, epoch: 1n, address: 'a:1', alive: true, leaving: false, halted: false },
    { node: 2, epoch: 1n, address: 'b:1', alive: true, leaving: false, halted: false },
  ]);
  expect(owners).toHaveLength(1024);
  expect(new Set(owners)).toEqual(new Set([1]));
});

test.each([
  [null, null],
  [null, 'b:1'],
  ['a:1', null],
  ['a:1', 'a:1'],
] as const)('beside a node at %p no node at %p joins', async (first, second) => {
  await empty();
  const { storage, fence } = await join(first);
  expect(await open(second).claim()).toBeNull();
  await storage.release(fence);
  expect(await open(second).claim()).toMatchObject({ node: 1, epoch: 2n });
});

test('of two nodes without an address that start at once, one joins', async () => {
  for (let round = 0; round < 10; round += 1) {
    await empty();
    const claims = await Promise.all([open(null), open(null), open(null)].map((s) => s.claim()));
    expect(claims.filter((fence) => fence !== null)).toHaveLength(1);
  }
});

test('nodes that join at once have different seats', async () => {
  await empty();
  const claims = await Promise.all(['a:1', 'b:1', 'c:1', 'd:1'].map((name) => open(name).claim()));
  expect(new Set(claims.map((fence) => fence?.node))).toEqual(new Set([1, 2, 3, 4]));
});

test('slots are handed over with a flush, to a live node that stays', async () => {
  await empty();
  const [a, b, c, d] = await Promise.all([join('a:1'), join('b:1'), join('c:1'), join('d:1')]);
  const owner = [a, b, c, d].find(({ fence }) => fence.node === 1)!;
  const [lives, dead, leaving] = [a, b, c, d].filter((one) => one !== owner);
  await sql`update slots set node = ${owner.fence.node}`;
  await expire(dead!.fence.node);
  await leaving!.storage.leave(leaving!.fence);
  const to = [lives!, dead!, leaving!].map(({ fence }, slot) => ({ slot, node: fence.node }));
  const rows = { ...NO_ROWS, handovers: to };
  expect(await owner.storage.flush(rows, owner.fence)).toEqual({ kind: 'committed' });
  const { owners } = await owner.storage.survey();
  expect(owners.slice(0, 4)).toEqual([lives!.fence.node, 1, 1, 1]);
  // A node gives away only its own slots, and only with its current fence.
  const back = { ...NO_ROWS, handovers: [{ slot: 0, node: owner.fence.node }] };
  expect(await owner.storage.flush(back, owner.fence)).toEqual({ kind: 'fenced' });
  const now = { ...owner.fence, seq: owner.fence.seq + 1n };
  expect(await owner.storage.flush(back, now)).toEqual({ kind: 'committed' });
  expect((await owner.storage.survey()).owners[0]).toBe(lives!.fence.node);
});

test('dead nodes are taken over once, and write nothing any more', async () => {
  await empty();
  const [a, b, c] = [await join('a:1'), await join('b:1'), await join('c:1')];
  const to = [...Array.from({ length: 1024 }).keys()].map((slot) => ({
    slot,
    node: slot % 2 === 0 ? b.fence.node : c.fence.node,
  }));
  const dead = { node: a.fence.node, epoch: a.fence.epoch };
  expect(await b.storage.takeOver(dead, to)).toBe(false);
  await expire(a.fence.node);
  const tried = await Promise.all([b, c].map(({ storage }) => storage.takeOver(dead, to)));
  expect(tried.filter((isOurs) => isOurs)).toHaveLength(1);
  expect([await slotsOf(b.fence.node), await slotsOf(c.fence.node)]).toEqual([512, 512]);
  // Its connections were closed: the outcome of its flush may be unknown, and it finds out.
  expect(['unknown', 'fenced']).toContain((await a.storage.flush(NO_ROWS, a.fence)).kind);
  expect(await a.storage.recover(a.fence)).toBe('fenced');
  expect(await a.storage.flush(NO_ROWS, a.fence)).toEqual({ kind: 'fenced' });
});

test('a frozen node that locks its seat row does not delay the takeover', async () => {
  await empty();
  const [a, b] = [await join('a:1'), await join('b:1')];
  await expire(a.fence.node);
  const name = (await sql`select holder from nodes where id = ${a.fence.node}`)[0]!['holder'];
  const url = new URL(database.url);
  url.searchParams.set('application_name', journalName(String(name)));
  const frozen = new Bun.SQL(url.href, { max: 1 });
  const held = await frozen.reserve();
  await held`begin`;
  await held`update nodes set seq = seq where id = ${a.fence.node}`;
  expect(await b.storage.takeOver(a.fence, [{ slot: 1, node: b.fence.node }])).toBe(true);
  expect(await slotsOf(b.fence.node)).toBe(1);
  expect(held`commit`).rejects.toThrow();
});

test('a seat that was released is claimed again, with what it still had', async () => {
  await empty();
  const a = await join('a:1');
  await a.storage.leave(a.fence);
  await a.storage.release(a.fence);
  const b = await join('b:1');
  expect(b.fence).toMatchObject({ node: 1, epoch: 2n });
  expect(await slotsOf(1)).toBe(1024);
  expect((await b.storage.survey()).nodes[0]).toMatchObject({ leaving: false, address: 'b:1' });
});

test('a seat ahead of the database blocks every node until an operator accepts the loss', async () => {
  await empty();
  const [a, b] = [await join('a:1'), await join('b:1')];
  const written = { ...a.fence, seq: a.fence.seq + 1n };
  expect(await a.storage.recover(written)).toBe('behind');
  // The answer may have been lost.
  expect(await a.storage.recover(written)).toBe('behind');
  expect((await b.storage.survey()).nodes[0]).toMatchObject({ alive: false, halted: true });
  await expire(a.fence.node);
  const dead = { node: a.fence.node, epoch: a.fence.epoch + 1n };
  const to = [{ slot: 1, node: b.fence.node }];
  expect(await b.storage.takeOver(dead, to)).toBe(false);
  for (const address of [null, 'a:1', 'c:1']) expect(await open(address).claim()).toBeNull();
  expect(await b.storage.flush(NO_ROWS, b.fence)).toEqual({ kind: 'committed' });
  expect(await resumeSeats(sql)).toBe(1);
  expect(await b.storage.takeOver(dead, to)).toBe(true);
  expect(await open('c:1').claim()).toMatchObject({ node: a.fence.node });
});

test('a node continues in a seat whose former holder is behind, as it lacks nothing of its own', async () => {
  await empty();
  const gone = await join('a:1');
  await expire(gone.fence.node);
  const heir = await join('b:1');
  expect(heir.fence.node).toBe(gone.fence.node);
  const written = { ...gone.fence, seq: gone.fence.seq + 1n };
  // Its connection was ended with its seat. Until it has noticed, it asks again, as the journal.
  type Recovered = ReturnType<Storage['recover']>;
  const recover = (): Recovered => gone.storage.recover(written).catch(recover);
  expect(await recover()).toBe('behind');
  expect((await heir.storage.survey()).nodes[0]).toMatchObject({ alive: true, halted: false });
});
