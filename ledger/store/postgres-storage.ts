import type { Sql } from 'postgres';
import { must } from '../assert.ts';
import type { Ids, Timers } from '../ports.ts';
import { dueAlarms, nextAlarms } from './load-alarms.ts';
import { flushParameters } from './encode.ts';
import { FULL_FLUSH, LEAN_FLUSH } from './flush-sql.ts';
import {
  claimSeat,
  leaveSeat,
  recoverSeat,
  releaseSeat,
  surveyNodes,
  takeOverSlots,
} from './nodes.ts';
import { findRefund, loadPayments } from './load-payments.ts';
import { identifyCustomers, loadCustomers, loadHistory, resolveCustomers } from './load.ts';
import type { Fence, FlushResult, FlushRows, Storage, StoredUsage } from '../storage.ts';

type Bigints = { bigint: bigint };

export type PostgresStorageDeps = {
  /** Opens one connection, for flushes and the seat alone: the order of its statements is the order of the journal. */
  readonly openWriter: () => Sql<Bigints>;
  /** For everything else: what does not go through the journal has no order. */
  readonly reader: Sql<Bigints>;
  readonly leaseMs: number;
  /** This start of this process. */
  readonly holder: string;
  readonly address: string | null;
  readonly slotOf: (customerId: string) => number;
  readonly ids: Ids;
  readonly timers: Timers;
};

export type PostgresStorage = Storage & {
  /** Has a connection of the reader plan what loads a customer. */
  readonly warm: (connection: Sql<Bigints>) => Promise<unknown>;
  /** Closes its writer. */
  end(): Promise<void>;
};

const NOBODY = '00000000-0000-0000-0000-000000000000';

/** The ledger's storage in PostgreSQL. */
export function postgresStorage(deps: PostgresStorageDeps): PostgresStorage {
  const { reader, leaseMs } = deps;
  let writer = deps.openWriter();
  const inTime = <T>(answer: Promise<T>, withinMs = leaseMs): Promise<T> =>
    within(answer, { ...deps, withinMs });
  /** A connection that gives no answer is given up: recovery needs one that does. */
  const written = async <T>(
    task: (sql: Sql<Bigints>) => Promise<T>,
    withinMs = leaseMs,
  ): Promise<T> => {
    const asked = writer;
    try {
      return await inTime(task(asked), withinMs);
    } catch (error) {
      if (error instanceof Late && writer === asked) {
        writer = deps.openWriter();
        asked.end({ timeout: 0 }).catch(() => undefined);
      }
      throw error;
    }
  };
  return {
    warm: (connection) => loadCustomers(connection, deps, [NOBODY]),
    end: () => writer.end({ timeout: 2 }),
    flush: async (rows, fence) => {
      try {
        // So that there is lease left to find out in what became of it: others look for the dead when it is over.
        return await written((sql) => flush(sql, { rows, fence, leaseMs }), (leaseMs * 2) / 3);
      } catch (error) {
        return { kind: 'unknown', error };
      }
    },
    recover: (fence) => written((sql) => recoverSeat(sql, fence)),
    claim: () => written((sql) => claimSeat(sql, deps)),
    // What the others wait for waits for no connection that fell silent; whoever asks again gets another one.
    survey: () => inTime(surveyNodes(reader), leaseMs / 2),
    takeOver: (dead, to) => inTime(takeOverSlots(reader, { dead, to, leaseMs })),
    leave: (fence) => inTime(leaveSeat(reader, fence)),
    release: (fence) => written((sql) => releaseSeat(sql, fence)),
    loadCustomers: (ids) => loadCustomers(reader, deps, ids),
    identifyCustomers: (ids) => identifyCustomers(reader, deps.slotOf, ids),
    resolveCustomers: (keys) => resolveCustomers(reader, keys),
    loadHistory: (key, since) => loadHistory(reader, key, since),
    loadMembers: async ({ slot, accountId }, members) => {
      const wanted = members.map(String);
      const rows = await reader<{ member: bigint }[]>`
        select member from members
        where slot = ${slot} and account_id = ${accountId} and member = any(${wanted}::text[]::bigint[])`;
      return rows.map((row) => row.member);
    },
    usedIds: async (ids) => {
      const rows = await reader<{ id: string }[]>`
        select id from transfers where id = any(${[...ids]}::uuid[])
        union select id from grants where id = any(${[...ids]}::uuid[])`;
      return rows.map(({ id }) => id);
    },
    findUsage: (ids) => findUsage(reader, ids),
    grantExists: (id) => exists(reader`select from grants where id = ${id}`),
    subscriptionExists: (id) => exists(reader`select from subscriptions where id = ${id}`),
    loadPayments: (ids) => loadPayments(reader, deps.slotOf, ids),
    findRefund: (id) => findRefund(reader, id),
    dueAlarms: (query) => dueAlarms(reader, query),
    nextAlarms: (query) => nextAlarms(reader, query),
  };
}

class Late extends Error {}

/** @throws Late; what was asked may still happen */
async function within<T>(
  answer: Promise<T>,
  { timers, withinMs }: { readonly timers: Timers; readonly withinMs: number },
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = timers.after(withinMs, () =>
    late.reject(new Late(`the database gave no answer in ${withinMs} ms`)),
  );
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    cancel();
  }
}

async function exists(query: PromiseLike<readonly unknown[]>): Promise<boolean> {
  return (await query).length > 0;
}

async function flush(
  writer: Sql<Bigints>,
  batch: { rows: FlushRows; fence: Fence; leaseMs: number },
): Promise<FlushResult> {
  const { lean, parameters } = flushParameters(batch.rows, batch.fence, batch.leaseMs);
  try {
    const rows = await writer.unsafe<{ moved: boolean }[]>(
      lean ? LEAN_FLUSH : FULL_FLUSH,
      parameters,
      { prepare: true },
    );
    return { kind: must(rows[0], 'the result of a flush').moved ? 'committed' : 'fenced' };
  } catch (error) {
    return classify(error);
  }
}

/**
 * Only an ERROR that the server reports says that nothing was written. Whatever else ends a flush, a FATAL too (it may follow a
 * commit), leaves open what became of it.
 */
function classify(error: unknown): FlushResult {
  const { severity, code, constraint_name: constraint } = error as Record<string, unknown>;
  if (severity !== 'ERROR') return { kind: 'unknown', error };
  if (code === '23505' && ONCE.has(String(constraint))) return { kind: 'duplicate' };
  // Cancelled, or shut down half way: rolled back, and nobody's fault. Recovery finds the old seq and flushes again.
  if (typeof code === 'string' && /^(57|53|40|55)/.test(code)) return { kind: 'unknown', error };
  return { kind: 'rejected', error };
}

/** Ids that a caller's key gives, over all slots. */
const ONCE: ReadonlySet<string> = new Set(['transfers_id_once', 'grants_by_id']);

type UsageRow = {
  id: string;
  kind: string;
  value: bigint;
  at: Date;
  event_at: Date;
  reason: StoredUsage['reason'];
  consumed_after: bigint;
  limit_after: bigint | null;
  fingerprint: bigint | null;
  answer: StoredUsage['answer'];
};

async function findUsage(reader: Sql<Bigints>, ids: readonly string[]): Promise<StoredUsage[]> {
  if (ids.length === 0) return [];
  const rows = await reader<UsageRow[]>`
    select id, kind, value, at, event_at, reason, consumed_after, limit_after, fingerprint, answer
    from transfers where id = any(${[...ids]}::uuid[]) and value is not null`;
  return rows.map((row) => ({
    id: row.id,
    refused: row.kind === 'refused',
    value: row.value,
    at: row.at.getTime(),
    eventAt: row.event_at.getTime(),
    reason: row.reason,
    consumedAfter: row.consumed_after,
    limitAfter: row.limit_after,
    fingerprint: row.fingerprint,
    answer: row.answer,
  }));
}
