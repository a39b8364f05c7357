// The ledger's storage in PostgreSQL (`Storage` says what it promises).
//
// How it works: one writing connection has the flushes and the seat, so its statements keep the
// order of the journal. A pool of reading connections has everything else, which has no order.
// Holds: the outcome of a flush is never guessed. The server's own answer gives it, or it is
// `unknown` until `recover` has read the fence. Every call of the writer has a bound in time.
// Does not: retry. The journal decides what is written again.
import type { Sql } from 'postgres';
import { must } from '../kernel/assert.ts';
import { FLUSH_BYTES_SENT_AT_ONCE } from '../limits.ts';
import { breathe, type Ids, type Timers } from '../ports.ts';
import { dueAlarms, nextAlarms } from './load-alarms.ts';
import { Connections } from './connections.ts';
import { flushParameters, type Parameter } from './encode.ts';
import { FLUSHES } from './flush-sql.ts';
import {
  claimSeat,
  leaveSeat,
  recoverSeat,
  releaseSeat,
  surveyNodes,
  takeOverSlots,
} from './nodes.ts';
import { isOutage, kindOf } from './outages.ts';
import { findRefund, loadPayments } from './load-payments.ts';
import { loadAlerts } from './load-alerts.ts';
import { findReservation } from './load-reservations.ts';
import { findBack, findChargeable, findSubscription } from './load-subscriptions.ts';
import { identifyCustomers, loadCustomers, loadHistory, resolveCustomers } from './load.ts';
import type { Fence, FlushResult, FlushRows, Storage, StoredUsage } from '../storage.ts';
import { NO_ALERTS } from '../metering/alert.ts';
import type { Bigints } from './bigints.ts';

export type PostgresStorageDeps = {
  /**
   * Opens one connection, for flushes and the seat alone. Its statements run in the order of the
   * journal.
   */
  readonly openWriter: () => Sql<Bigints>;
  /** Opens the connections for everything else, which has no order. */
  readonly openReader: () => Sql<Bigints>;
  readonly leaseMs: number;
  /** Names this start of this process. */
  readonly holder: string;
  readonly address: string | null;
  readonly slotOf: (customerId: string) => number;
  readonly ids: Ids;
  readonly timers: Timers;
  /** After the commit of a flush that has some. It does not wait. */
  readonly onEvents: () => void;
};

export type PostgresStorage = Storage & {
  /** Lets each reading connection plan the statements that load a customer. */
  warm(onEach: OnEach): Promise<void>;
  /** Closes its connections. */
  end(): Promise<void>;
};

type OnEach = (
  pool: Sql<Bigints>,
  task: (connection: Sql<Bigints>) => PromiseLike<unknown>,
) => Promise<void>;

/**
 * When the server cancels a flush (`statement_timeout`). The outcome is known then, and there is
 * time left to renew the lease. The timeout does not end a commit that waits for its disk or for a
 * standby: that one is waited for up to the bound in `flush`.
 */
export function flushMsMax(leaseMs: number): number {
  return Math.ceil(leaseMs / 3);
}

/** The id of no customer: planning needs one. */
const NO_CUSTOMER = '00000000-0000-0000-0000-000000000000';

/** The ledger's storage in PostgreSQL. */
export function postgresStorage(deps: PostgresStorageDeps): PostgresStorage {
  const { leaseMs, timers, openWriter, openReader } = deps;
  // Recovery needs a connection that answers.
  const writer = new Connections({ open: openWriter, lateMax: 1, timers });
  // One late answer may come from a busy machine, and then the loads on other connections are not
  // late yet.
  const reader = new Connections({ open: openReader, lateMax: 2, timers });
  return {
    warm: (onEach) => onEach(reader.sql, (sql) => loadCustomers(sql, deps, [NO_CUSTOMER])),
    end: async () => {
      await Promise.all([writer.end(), reader.end()]);
    },
    flush: async (rows, fence) => {
      try {
        // Leaves time to find out the outcome before the lease ends: then other nodes look for dead
        // ones.
        const result = await writer.within((leaseMs * 2) / 3, (sql) =>
          flush(sql, { rows, fence, leaseMs, timers }),
        );
        if (result.kind === 'committed' && rows.events.length > 0) deps.onEvents();
        return result;
      } catch (error) {
        return { kind: 'unknown', error };
      }
    },
    recover: (fence) =>
      writer.within(leaseMs, (sql) => recoverSeat(sql, { fence, holder: deps.holder })),
    claim: () => writer.within(leaseMs, (sql) => claimSeat(sql, deps)),
    // All nodes wait for a survey, so it does not wait for a silent connection: the next call gets
    // a new one.
    survey: () => reader.within(leaseMs / 2, surveyNodes),
    takeOver: (dead, to) =>
      reader.within(leaseMs, (sql) => takeOverSlots(sql, { dead, to, leaseMs })),
    leave: (fence) => reader.within(leaseMs, (sql) => leaveSeat(sql, fence)),
    release: (fence) => writer.within(leaseMs, (sql) => releaseSeat(sql, fence)),
    mayPass: isOutage,
    loadCustomers: (ids) => reader.ask((sql) => loadCustomers(sql, deps, ids)),
    identifyCustomers: (ids) => reader.ask((sql) => identifyCustomers(sql, deps.slotOf, ids)),
    resolveCustomers: (keys) => reader.ask((sql) => resolveCustomers(sql, keys)),
    loadHistory: (key, since) => reader.ask((sql) => loadHistory(sql, key, since)),
    loadMembers: (account, members) => reader.ask((sql) => loadMembers(sql, account, members)),
    loadAlerts: async (id) =>
      (await reader.ask((sql) => loadAlerts(sql, [id]))).get(id) ?? NO_ALERTS,
    usedIds: (ids) => reader.ask((sql) => usedIds(sql, ids)),
    findUsage: (ids) => reader.ask((sql) => findUsage(sql, ids)),
    findFormerUsage: (ids) => reader.ask((sql) => findFormerUsage(sql, ids)),
    grantExists: (id) => reader.ask((sql) => exists(sql`select from grants where id = ${id}`)),
    findReservation: (id) => reader.ask((sql) => findReservation(sql, id)),
    subscriptionExists: (id) =>
      reader.ask((sql) => exists(sql`select from subscriptions where id = ${id}`)),
    findSubscription: (id) => reader.ask((sql) => findSubscription(sql, id)),
    findChargeable: (asked) => reader.ask((sql) => findChargeable(sql, asked)),
    findBack: (paymentId) => reader.ask((sql) => findBack(sql, paymentId)),
    loadPayments: (ids) => reader.ask((sql) => loadPayments(sql, deps.slotOf, ids)),
    findRefund: (id) => reader.ask((sql) => findRefund(sql, id)),
    dueAlarms: (query) => reader.ask((sql) => dueAlarms(sql, query)),
    nextAlarms: (query) => reader.ask((sql) => nextAlarms(sql, query)),
  };
}

async function exists(query: PromiseLike<readonly unknown[]>): Promise<boolean> {
  return (await query).length > 0;
}

async function loadMembers(
  reader: Sql<Bigints>,
  { slot, accountId }: Parameters<Storage['loadMembers']>[0],
  members: Parameters<Storage['loadMembers']>[1],
): Promise<bigint[]> {
  const wanted = members.map(String);
  const rows = await reader<{ member: bigint }[]>`
    select member from members
    where slot = ${slot} and account_id = ${accountId} and member = any(${wanted}::text[]::bigint[])`;
  return rows.map((row) => row.member);
}

async function usedIds(reader: Sql<Bigints>, ids: readonly string[]): Promise<string[]> {
  const rows = await reader<{ id: string }[]>`
    select id from transfers where id = any(${[...ids]}::uuid[])
    union select id from grants where id = any(${[...ids]}::uuid[])`;
  return rows.map(({ id }) => id);
}

async function flush(
  writer: Sql<Bigints>,
  batch: { rows: FlushRows; fence: Fence; leaseMs: number; timers: Timers },
): Promise<FlushResult> {
  let encoded: ReturnType<typeof flushParameters>;
  try {
    encoded = flushParameters(batch.rows, batch.fence, batch.leaseMs);
  } catch (error) {
    // Nothing was sent.
    return { kind: 'rejected', error };
  }
  const { kind, parameters } = encoded;
  // The client copies it: what is long, in a turn of its own.
  if (bytesOf(parameters) > FLUSH_BYTES_SENT_AT_ONCE) await breathe(batch.timers);
  try {
    const rows = await writer.unsafe<{ moved: boolean }[]>(
      FLUSHES[kind],
      parameters.map((one) => sent(writer, one)),
      { prepare: true },
    );
    return { kind: must(rows[0], 'the result of a flush').moved ? 'committed' : 'fenced' };
  } catch (error) {
    return classify(error);
  }
}

function bytesOf(parameters: readonly Parameter[]): number {
  let bytes = 0;
  for (const one of parameters) {
    if (one !== null && typeof one === 'object') bytes += one.bytes.length;
  }
  return bytes;
}

/** The client must be told the type of what it sends in binary. */
function sent(writer: Sql<Bigints>, parameter: Parameter): string | number | null {
  if (parameter === null || typeof parameter !== 'object') return parameter;
  return writer.typed(parameter.bytes as never, parameter.type) as never;
}

/**
 * Only an ERROR that the server reports says that nothing was written. Any other end leaves the
 * outcome open, even a FATAL: it may follow a commit.
 */
function classify(error: unknown): FlushResult {
  const { severity, code, constraint_name: constraint } = error as Record<string, unknown>;
  if (severity !== 'ERROR') return { kind: 'unknown', error };
  if (code === '23505' && UNIQUE_BY_KEY.has(String(constraint))) return { kind: 'duplicate' };
  const kind = kindOf(code);
  if (kind === 'cancelled') return { kind: 'slow', error };
  // It may have been shut down half way. Recovery finds the old seq.
  if (kind === 'exhausted') return { kind: 'unknown', error };
  return { kind: 'rejected', error };
}

/**
 * Ids that follow from a caller's key: of usage within its customer's slot, of refunds and grants
 * over all slots.
 */
const UNIQUE_BY_KEY: ReadonlySet<string> = new Set([
  'transfers_id_once',
  'transfers_refund_once',
  'grants_by_id',
]);

type UsageRow = {
  id: string;
  kind: string;
  value: bigint;
  at: Date;
  event_at: Date | null;
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
  return rows.map(usageOf);
}

async function findFormerUsage(
  reader: Sql<Bigints>,
  ids: readonly string[],
): Promise<(StoredUsage & { customerId: string })[]> {
  const rows = await reader<(UsageRow & { customer_id: string })[]>`
    select t.id, t.kind, t.value, t.at, t.event_at, t.reason, t.consumed_after, t.limit_after, t.fingerprint, t.answer, a.customer_id
    from transfers t
    join accounts a on a.slot = t.slot and a.id in (t.debit, t.credit) and a.customer_id is not null
    where t.id = any(${[...ids]}::uuid[]) and t.value is not null`;
  return rows.map((row) => ({ ...usageOf(row), customerId: row.customer_id }));
}

function usageOf(row: UsageRow): StoredUsage {
  return {
    id: row.id,
    refused: row.kind === 'refused',
    value: row.value,
    at: row.at.getTime(),
    eventAt: (row.event_at ?? row.at).getTime(),
    reason: row.reason,
    consumedAfter: row.consumed_after,
    limitAfter: row.limit_after,
    fingerprint: row.fingerprint,
    answer: row.answer,
  };
}
