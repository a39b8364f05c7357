// The connections of a node: to PostgreSQL for records, logins, lists and replays; for changes.
import type { Clock } from '../../ledger/ports.ts';
import { FairSql } from '../http/edge/fair-sql.ts';
import { type Metrics, openMetrics } from '../metrics/open.ts';
import { clock as ownClock, timers } from '../platform/clock.ts';
import type { Late } from '../platform/late.ts';
import { type OrgClocks, openOrgClocks } from '../platform/org-clock.ts';
import { listenForChanges, type OpenChanges } from '../platform/postgres/changes.ts';
import { KeyLocks } from '../platform/postgres/key-locks.ts';
import { onEach, openPool, type Sql } from '../platform/postgres/postgres.ts';
import { listTestClocks } from '../records/test-clocks.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ServiceOptions } from './options.ts';
import type { PeerMessage } from './peer-message.ts';

const RECORDS_POOL = 8;
/** Logins: API keys and portal tokens. */
export const DOORS_POOL = 2;
/** Lists that run at the same time, in all and for one tenant. */
const LISTS = { places: 4, perTenant: 2, waitingMax: 48, waitMs: 8000 };
const LIST_MS_MAX = 5000;
/** A long replay keeps its connection for minutes. */
const REPLAYS = { places: 4, perTenant: 1, waitingMax: 4, waitMs: 5000 };

/** The first stage: what every other part reads and writes with. */
export type Connections = ReturnType<typeof openLanes> & {
  readonly sql: Sql;
  readonly changes: OpenChanges;
  readonly keyLocks: KeyLocks;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly orgClock: OrgClocks;
  readonly warn: (fields: object, message: string) => void;
};

/** `ledger` publishes to other nodes what this one changes. */
export async function openConnections(
  options: ServiceOptions,
  ledger: Late<Ledger>,
): Promise<Connections> {
  const { databaseUrl, log, clock = ownClock, changesUrl: url = databaseUrl } = options;
  const warn = (fields: object, message: string): void => log.warn(fields, message);
  const sql = openPool(databaseUrl, { max: RECORDS_POOL, applicationName: 'tollhouse records' });
  const metrics = openMetrics({ databaseUrl, clock, timers });
  const keyLocks = new KeyLocks({ databaseUrl, clock, timers });
  const changes = await listenForChanges({
    url,
    timers,
    warn,
    toPeers: (change) => ledger.get().broadcast.publish({ change } satisfies PeerMessage),
  });
  const list = (id: string | null) => listTestClocks(sql, id);
  const orgClock = await openOrgClocks({ list, clock, timers, changes, warn });
  return { sql, changes, keyLocks, metrics, clock, orgClock, warn, ...openLanes(databaseUrl) };
}

/**
 * Logins have connections of their own. Lists and replays, which a tenant can make slow, have their
 * own too, and tenants take turns.
 */
function openLanes(databaseUrl: string) {
  const lists = openPool(databaseUrl, {
    max: LISTS.places,
    applicationName: 'tollhouse lists',
    statementTimeoutMs: LIST_MS_MAX,
  });
  const replays = openPool(databaseUrl, {
    max: REPLAYS.places,
    applicationName: 'tollhouse replays',
  });
  const doors = openPool(databaseUrl, { max: DOORS_POOL, applicationName: 'tollhouse doors' });
  return {
    doors,
    lists: new FairSql(lists, 'lists', { ...LISTS, timers }),
    replays: new FairSql(replays, 'replays', { ...REPLAYS, timers }),
  };
}

/** Makes the first queries. The first one on a connection reads the catalogue, in tens of ms. */
export async function warmConnections({ sql, doors }: Pick<Connections, 'sql' | 'doors'>) {
  await Promise.all([sql, doors].map((pool) => onEach(pool, (connection) => connection`select`)));
}

export async function endConnections({ sql, doors, lists, replays }: Connections): Promise<void> {
  const pools = [sql, doors].map((pool) => pool.end({ timeout: 2 }));
  await Promise.all([...pools, lists.end(), replays.end()]);
}
