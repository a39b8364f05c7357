// Usage over time, folded beside the service.
import { backfillUsage } from '../database/usage-backfill.ts';
import { usageFolder } from '../metering/usage-folder.ts';
import { timers } from '../platform/clock.ts';
import { openPool } from '../platform/postgres/postgres.ts';
import { deltasWaiting, foldDeltas } from '../records/usage-bins.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';

/** Begins to fold. */
export function openUsageFolder(
  { databaseUrl, log }: ServiceOptions,
  { clock }: Pick<Connections, 'clock'>,
): { close(): Promise<void> } {
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'tollhouse usage' });
  const folder = usageFolder({
    clock,
    timers,
    log,
    waiting: () => deltasWaiting(sql),
    fold: () => foldDeltas(sql),
    backfill: () => backfillUsage(sql),
  });
  folder.start();
  return {
    async close() {
      await folder.close();
      await sql.end({ timeout: 2 });
    },
  };
}
