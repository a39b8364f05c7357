// The service, put together: what main.ts starts and what the tests start.
import type { Log } from './platform/log.ts';
import { Ledger } from '../ledger/ledger.ts';
import { slotOf } from '../ledger/slot.ts';
import { postgresStorage } from '../ledger/store/postgres-storage.ts';
import { createApp } from './app.ts';
import { openAuthenticator } from './http/auth.ts';
import { createEdge } from './http/edge.ts';
import { type Changes, listenForChanges } from './platform/changes.ts';
import { clock, timers } from './platform/clock.ts';
import { ids } from './platform/ids.ts';
import { openPool, type Sql } from './platform/postgres.ts';
import { findKey, markKeysUsed } from './records/api-keys.ts';
import { openMeterCatalogue } from './records/meter-catalogue.ts';
import { findActiveMeter, listMetersOfEvent } from './records/meters.ts';

const RECORDS_POOL = 8;
const READERS_POOL = 8;

export type ServiceOptions = {
  readonly databaseUrl: string;
  readonly baseUrl: string;
  readonly leaseMs: number;
  readonly actorsMax: number;
  /** Where other nodes reach this one; null where it is alone. */
  readonly address?: string | null;
  readonly log: Log;
  /** Where it listens for changes and where its journal writes, when not straight at `databaseUrl`. */
  readonly changesUrl?: string;
  readonly journalUrl?: string;
};

export type Service = {
  readonly app: ReturnType<typeof createApp>;
  readonly ledger: Ledger;
  readonly sql: Sql;
  readonly changes: Changes;
  /** Writes what is written now and then. */
  flush(): Promise<void>;
  /** Takes no new work, writes what was taken, lets the seat go, and disconnects. Stop listening before. */
  close(): Promise<void>;
};

export async function openService(options: ServiceOptions): Promise<Service> {
  const { databaseUrl, log, leaseMs } = options;
  const warn = (fields: Record<string, unknown>, message: string): void =>
    log.warn(fields, message);
  const sql = openPool(databaseUrl, { max: RECORDS_POOL, applicationName: 'tollhouse records' });
  const reader = openPool(databaseUrl, { max: READERS_POOL, applicationName: 'tollhouse loads' });
  const writer = openPool(options.journalUrl ?? databaseUrl, {
    max: 1,
    applicationName: 'tollhouse journal',
    statementTimeoutMs: 0,
  });
  const changes = await listenForChanges({ url: options.changesUrl ?? databaseUrl, timers, warn });
  const auth = openAuthenticator({
    find: (hash) => findKey(sql, hash),
    markUsed: (keyIds) => markKeysUsed(sql, { ids: keyIds, now: clock.now() }),
    changes,
    clock,
    timers,
    warn,
  });
  const ledger = openLedger({ options, writer, reader, leaseMs });
  changes.subscribe({
    changed: (kind, id) => kind === 'customer' && ledger.forget(id),
    reset: () => ledger.forgetAll(),
  });
  const meters = openMeterCatalogue({
    source: {
      findBySlug: (scope, slug) => findActiveMeter(sql, scope, slug),
      listByEventName: (scope, name) => listMetersOfEvent(sql, scope, name),
    },
    changes,
  });
  await ledger.open();
  const edge = createEdge({
    authenticate: auth.authenticate,
    clock,
    log,
    newRequestId: () => ids.next(),
  });
  const readiness = () => ledger.readiness();
  const { baseUrl } = options;
  return {
    app: createApp({ edge, sql, ids, clock, changes, readiness, baseUrl, ledger, meters }),
    ledger,
    sql,
    changes,
    flush: () => auth.close(),
    async close() {
      await ledger.close();
      await auth.close();
      await changes.close();
      await Promise.all([writer, reader, sql].map((pool) => pool.end({ timeout: 2 })));
    },
  };
}

function openLedger(parts: {
  options: ServiceOptions;
  writer: Sql;
  reader: Sql;
  leaseMs: number;
}): Ledger {
  const { options, writer, reader, leaseMs } = parts;
  const storage = postgresStorage({
    writer,
    reader,
    leaseMs,
    holder: ids.next(),
    address: options.address ?? null,
    slotOf,
    ids,
  });
  const { log, actorsMax } = options;
  return new Ledger({ storage, clock, ids, timers, log, leaseMs, actorsMax });
}
