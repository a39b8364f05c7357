// Asynchronous standbys: one that lacks the last writes is promoted. The node notices and stops
// serving; the writes are lost.
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { eventViolations } from '../chaos/verdict.ts';
import { until } from '../support/until.ts';
import { signalAll } from './daemon.ts';
import type { Member } from './patroni.ts';
import type { Run } from './run.ts';
import { startStand } from './stand.ts';
import { startTollhouse } from './tollhouse.ts';

const SAYS = 'the database is behind this node: a stale copy was promoted';
const WARM_ANSWERS = 500;
/**
 * Less than the lag with which Patroni still promotes a standby (maximum_lag_on_failover, 1 MiB).
 */
const ANSWERS_BEHIND = 100;
const PROMOTED_MS_MAX = 90_000;

/** Whether the node noticed. */
export async function runStale(run: Run): Promise<boolean> {
  const stand = await startStand(run, 'asynchronous');
  // One process owns all slots: of several, only the one that lost writes would stop.
  const { services, tenant, load } = await startTollhouse(run, stand, 1);
  await load.book.moreAnswers(WARM_ANSWERS);
  const primary = await stand.primary();
  signalAll(await walSenders(primary), 'SIGSTOP');
  await load.book.moreAnswers(ANSWERS_BEHIND);
  await primary.kill();
  const [service] = services;
  const noticed = () => service!.logged.some((line) => line.includes(SAYS));
  await until('the node notices', noticed, PROMOTED_MS_MAX);
  const served = await service!.isReady();
  const { databaseUrl } = stand;
  const lost = await eventViolations({ databaseUrl, tenant }, load.book);
  console.log(`${lost.length} acknowledged events are lost: that is what asynchronous standbys may cost.
The node ${served ? 'goes on all the same' : `serves no more, and says: ${SAYS}`}`);
  return !served && lost.length > 0;
}

/** The processes that send the primary's log to its standbys. */
async function walSenders({ url }: Member): Promise<number[]> {
  const sql = openPool(url, { max: 1, applicationName: 'failover' });
  try {
    const rows = await sql<{ pid: number }[]>`select pid from pg_stat_replication`;
    return rows.map(({ pid }) => pid);
  } finally {
    await sql.end();
  }
}
