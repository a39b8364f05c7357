import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { deltasWaiting, foldDeltas } from '../../src/records/usage-bins.ts';
import { until } from './until.ts';

/** Moves all usage into bins, or waits until the service has. */
export async function untilFolded(sql: Sql): Promise<void> {
  await until('usage is in bins', async () => {
    await foldDeltas(sql);
    return (await deltasWaiting(sql)).entries === 0;
  });
}
