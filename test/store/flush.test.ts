// What the database refuses, whatever the actor believed. A refused flush leaves nothing behind,
// not even its number.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Fence, FlushRows } from '../../ledger/storage.ts';
import { ids } from '../../src/platform/ids.ts';
import { type Bed, change, METER, NO_ROWS, openBed, opening, SLOT, transfer } from './bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.stop());

async function flush(rows: Partial<FlushRows>, fence: Partial<Fence> = {}): Promise<string> {
  const result = await bed.storage.flush({ ...NO_ROWS, ...rows }, { ...bed.fence, ...fence });
  if (result.kind === 'committed') bed.fence = { ...bed.fence, seq: bed.fence.seq + 1n };
  if (result.kind !== 'rejected') return result.kind;
  const { constraint_name: constraint, message } = result.error as Record<string, string>;
  return `rejected: ${constraint ?? message}`;
}

async function written(): Promise<unknown> {
  const [row] = await bed.sql`
    select (select seq from nodes) as seq, (select count(*) from transfers) as transfers,
      (select count(*) from accounts) as accounts, (select sum(debits_posted + credits_posted) from balances) as totals,
      (select sum(debits_posted + credits_posted) from node_balances) as sides,
      (select count(*) from grants) as grants, (select count(*) from members) as members,
      (select count(*) from events) as events, (select count(*) from customer_meters) as states`;
  return row;
}

/** An account with 10 granted and 4 used, and one like it with a cap. */
async function accounts(): Promise<{ plain: string; capped: string }> {
  const [plain, capped] = [ids.next(), ids.next()];
  const opened = [plain, capped].map((id) => opening(id, { credits: 10n, debits: 4n }));
  expect(await flush({ opened })).toBe('committed');
  await bed.sql`update balances set capped = true where id = ${capped}`;
  return { plain, capped };
}

const eventOf = (objectId: string, sequence: bigint): FlushRows['events'][number] => ({
  organisationId: METER.organisationId,
  mode: 'test',
  event: {
    id: ids.next(),
    type: 'entitlement.granted',
    objectType: 'ENTITLEMENT',
    objectId,
    accountId: ids.next(),
    timestamp: 1_767_225_600_000,
    sequence,
    data: {},
  },
});

// prettier-ignore
const FENCES: [string, (fence: Fence) => Partial<Fence>][] = [
  ['a later epoch',     ({ epoch }) => ({ epoch: epoch + 1n })],
  ['an earlier epoch',  ({ epoch }) => ({ epoch: epoch - 1n })],
  ['a later seq',       ({ seq }) => ({ seq: seq + 1n })],
  ['an earlier seq',    ({ seq }) => ({ seq: seq - 1n })],
  ['another node',      ({ node }) => ({ node: node + 1 })],
];

test.each(FENCES)('a flush by %s is fenced, with rare rows and without', async (_what, wrong) => {
  await accounts();
  const before = await written();
  const rows = { transfers: [transfer({})] };
  expect(await flush(rows, wrong(bed.fence))).toBe('fenced');
  const rare = { ...rows, opened: [opening(ids.next(), { credits: 1n })] };
  expect(await flush(rare, wrong(bed.fence))).toBe('fenced');
  expect(await written()).toEqual(before);
});

// prettier-ignore
const IMPOSSIBLE: [string, Partial<Fence>][] = [
  ['a number below zero',  { seq: -1n }],
  ['an epoch of zero',     { epoch: 0n }],
];

test.each(IMPOSSIBLE)('a flush writes nothing under %s, whoever wrote it', async (_what, wrong) => {
  const { node, epoch, seq } = { ...bed.fence, ...wrong };
  await bed.sql`update nodes set epoch = ${String(epoch)}::bigint, seq = ${String(seq)}::bigint where id = ${node}`;
  const before = await written();
  expect(await flush({ transfers: [transfer({})] }, wrong)).toBe('fenced');
  expect(await written()).toEqual(before);
  const was = bed.fence;
  await bed.sql`update nodes set epoch = ${String(was.epoch)}::bigint, seq = ${String(was.seq)}::bigint where id = ${node}`;
  expect(await flush({})).toBe('committed');
});

test('an empty flush advances the number and the lease', async () => {
  const before = bed.fence.seq;
  expect(await flush({})).toBe('committed');
  const [row] = await bed.sql`select seq, expires_at > now() as alive from nodes`;
  expect(row).toEqual({ seq: before + 1n, alive: true });
});

/** Usage that took the period one past its limit. */
const USAGE = {
  value: 1n,
  events: null,
  eventAt: 1_767_225_600_000,
  fingerprint: null,
  reason: 'ok',
  consumedAfter: 11n,
  limitAfter: 10n,
  metadata: null,
  guarded: false,
  sold: false,
  answer: null,
} as const;

type Accounts = Awaited<ReturnType<typeof accounts>>;
const ACCOUNT_CHANGED = 'rejected: I4: an account was not what its actor believed';
const OPENED_TWICE = 'rejected: I5: an account was opened twice';

// prettier-ignore
const REFUSED: [string, (on: Accounts) => Partial<FlushRows>, string][] = [
  // what                                   rows                                                                                             outcome
  ['stale debits',                          ({ plain }) => ({ touched: [change(plain, { believed: [3n, 10n], debits: 1n, aggregate: 5n })] }),        ACCOUNT_CHANGED],
  ['stale credits',                         ({ plain }) => ({ touched: [change(plain, { believed: [4n, 9n], debits: 1n, aggregate: 5n })] }),         ACCOUNT_CHANGED],
  ['an account that is not there',          () => ({ touched: [change(ids.next(), { believed: [0n, 0n], debits: 1n, aggregate: 1n })] }),             ACCOUNT_CHANGED],
  ['one stale among others',                ({ plain, capped }) => ({ touched: [change(plain, { believed: [4n, 10n], debits: 1n, aggregate: 5n }), change(capped, { believed: [5n, 10n], debits: 1n, aggregate: 5n })] }), ACCOUNT_CHANGED],
  ['an account that is opened twice',       ({ plain }) => ({ opened: [opening(plain, { credits: 1n })] }),                                           OPENED_TWICE],
  ['over the ceiling',                      ({ capped }) => ({ touched: [change(capped, { believed: [4n, 10n], debits: 7n, aggregate: 11n })] }),      'rejected: balances_sound'],
  ['over the ceiling by a hold',            ({ capped }) => ({ touched: [change(capped, { believed: [4n, 10n], held: 7n, aggregate: 4n })] }),         'rejected: balances_sound'],
  ['over the ceiling by a lower one',       ({ capped }) => ({ touched: [change(capped, { believed: [4n, 10n], credits: -7n, aggregate: 4n })] }),     'rejected: balances_sound'],
  ['totals below zero',                     ({ plain }) => ({ touched: [change(plain, { believed: [4n, 10n], credits: -11n, aggregate: 4n })] }),      'rejected: balances_sound'],
  ['consumption that is not the aggregate', ({ plain }) => ({ touched: [change(plain, { believed: [4n, 10n], debits: 1n, aggregate: 9n })] }),         'rejected: balances_sound'],
  ['a transfer to itself',                  ({ plain }) => ({ transfers: [transfer({ debit: plain, credit: plain })] }),                              'rejected: transfers_sound'],
  ['a negative amount',                     () => ({ transfers: [transfer({ amount: -1n })] }),                                                      'rejected: transfers_sound'],
  ['usage past the limit that was to fit',  () => ({ transfers: [transfer({ usage: { ...USAGE, guarded: true } })] }),                                'rejected: transfers_sound'],
  ['a post that resolves nothing',          () => ({ transfers: [transfer({ kind: 'post' })] }),                                                     'rejected: transfers_sound'],
  ['a movement that resolves a hold',       () => ({ transfers: [transfer({ hold: { id: ids.next(), amount: 1n } })] }),                              'rejected: transfers_sound'],
  ['an event number that was used',         () => { const id = ids.next(); return { events: [eventOf(id, 1n), eventOf(id, 1n)] }; },                 'rejected: events_sequence_once'],
  ['a member that was counted',             ({ plain }) => ({ members: [1, 2].map(() => ({ slot: SLOT, accountId: plain, member: 5n })) }),           'rejected: members_pkey'],
];

test.each(REFUSED)('a flush with %s is refused whole', async (_what, rows, outcome) => {
  const on = await accounts();
  const before = await written();
  const { transfers = [], ...rest } = rows(on);
  expect(await flush({ ...rest, transfers: [transfer({}), ...transfers] })).toBe(outcome);
  expect(await written()).toEqual(before);
  // And the journal continues.
  expect(await flush({ transfers: [transfer({})] })).toBe('committed');
});

test('a flush takes usage past the limit without an asserted ceiling, and guarded usage up to the last unit', async () => {
  const transfers = [
    transfer({ usage: USAGE }),
    transfer({ usage: { ...USAGE, guarded: true, consumedAfter: 10n } }),
    transfer({ usage: { ...USAGE, guarded: true, limitAfter: null } }),
  ];
  expect(await flush({ transfers })).toBe('committed');
});

test('a flush takes usage up to the ceiling', async () => {
  const { capped } = await accounts();
  const touched = [change(capped, { believed: [4n, 10n], debits: 2n, held: 4n, aggregate: 6n })];
  expect(await flush({ touched })).toBe('committed');
});

test('an event id used before is a duplicate in a flush, in the same one too', async () => {
  const used = transfer({});
  expect(await flush({ transfers: [used] })).toBe('committed');
  const before = await written();
  expect(await flush({ transfers: [transfer({}), transfer({ id: used.id })] })).toBe('duplicate');
  const twice = ids.next();
  const both = [transfer({ id: twice }), transfer({ id: twice })];
  expect(await flush({ transfers: both })).toBe('duplicate');
  expect(await written()).toEqual(before);
});

test('an event id of announced usage is a duplicate; once archived, it is announced again', async () => {
  const used = transfer({});
  const tell = (): FlushRows['events'] => {
    const row = eventOf(used.id, 1n);
    return [{ ...row, event: { ...row.event, type: 'usage.recorded', objectType: 'USAGE' } }];
  };
  expect(await flush({ transfers: [used], events: tell() })).toBe('committed');
  expect(await flush({ transfers: [used], events: tell() })).toBe('duplicate');
  await bed.sql`delete from transfers where id = ${used.id}`;
  expect(await flush({ transfers: [used], events: tell() })).toBe('committed');
  const rows = await bed.sql`
    select sequence::int from events where object_id = ${used.id} order by sequence`;
  expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

// prettier-ignore
const RESOLUTIONS: [string, 'post' | 'void', 'post' | 'void'][] = [
  ['posted and posted',   'post', 'post'],
  ['posted and voided',   'post', 'void'],
  ['voided and posted',   'void', 'post'],
  ['voided and voided',   'void', 'void'],
];

test.each(RESOLUTIONS)(
  'a flush refuses a hold that is %s, at once too',
  async (_what, first, second) => {
    const held = transfer({ kind: 'pending', amount: 5n });
    expect(await flush({ transfers: [held] })).toBe('committed');
    const resolve = (kind: 'post' | 'void') =>
      transfer({ kind, amount: kind === 'post' ? 5n : 0n, hold: { id: held.id, amount: 5n } });
    const twice = 'rejected: transfers_hold_once';
    expect(await flush({ transfers: [resolve(first), resolve(second)] })).toBe(twice);
    expect(await flush({ transfers: [resolve(first)] })).toBe('committed');
    expect(await flush({ transfers: [resolve(second)] })).toBe(twice);
  },
);

test("a flush may open the node's own accounts again, as each start of a process does", async () => {
  const id = ids.next();
  for (const debits of [3n, 4n]) {
    expect(await flush({ opened: [opening(id, { kind: 'usage', debits })] })).toBe('committed');
  }
  const [row] = await bed.sql`select debits_posted::bigint from node_balances where id = ${id}`;
  expect(row).toEqual({ debits_posted: 7n });
});

test('a lost seat is recovered: the epoch rises, and its number says whether the flush landed', async () => {
  const stale = bed.fence;
  expect(await flush({ transfers: [transfer({})] })).toBe('committed');
  const recovered = await bed.storage.recover(stale);
  expect(recovered).toEqual({ ...stale, epoch: stale.epoch + 1n, seq: stale.seq + 1n });
  expect(await flush({}, stale)).toBe('fenced');
  expect(await bed.storage.recover(stale)).toBe('fenced');
  bed.fence = recovered as Fence;
  expect(await flush({})).toBe('committed');
});

test.each([0, 1])(
  'a database that lacks an acknowledged flush says so, %d epochs later',
  async (later) => {
    expect(await flush({})).toBe('committed');
    const { node, epoch, seq } = bed.fence;
    await bed.sql`update nodes set seq = seq - 1, epoch = epoch + ${later} where id = ${node}`;
    expect(await flush({})).toBe('fenced');
    expect(await bed.storage.recover(bed.fence)).toBe('behind');
    await bed.sql`update nodes set seq = ${String(seq)}::bigint, epoch = ${String(epoch)}::bigint, halted = false where id = ${node}`;
    expect(await flush({})).toBe('committed');
  },
);

test('a seat that is held is not given away, one that was released is', async () => {
  expect(await bed.storage.claim()).toBeNull();
  await bed.storage.release({ ...bed.fence, epoch: bed.fence.epoch - 1n });
  expect(await bed.storage.claim()).toBeNull();
  await bed.storage.release(bed.fence);
  const next = await bed.storage.claim();
  expect(next?.epoch).toBe(bed.fence.epoch + 1n);
  expect(await flush({})).toBe('fenced');
  bed.fence = next!;
  expect(await flush({})).toBe('committed');
});
