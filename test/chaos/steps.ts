// Stops a service between two commits: its database blocks the statement, so that the open
// transaction can still be rolled back.
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { until } from '../support/until.ts';

/** The first row of this kind that is about to be committed waits. */
export type Step = {
  readonly name: string;
  readonly on: string;
  /** A condition on `old` and `new`. */
  readonly when?: string;
};

export type Held = {
  /** Resolves when a statement waits. */
  reached(): Promise<void>;
  /**
   * Rolls the waiting transaction back, or commits it while its client is gone; then nothing waits
   * any more.
   */
  end(how: 'rolled back' | 'committed'): Promise<void>;
};

export type Steps = {
  hold(step: Step): Promise<Held>;
  stop(): Promise<void>;
};

const SPACE = 7_206_520;

export async function openSteps(databaseUrl: string, steps: readonly Step[]): Promise<Steps> {
  // One connection, because it owns the lock.
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'chaos steps' });
  await sql.unsafe(`
    create function wait_at_step() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${SPACE}, tg_argv[0]::int); return null; end $$`);
  for (const [index, { on, when = 'true' }] of steps.entries()) {
    await sql.unsafe(`create trigger wait_at_step_${index} after ${on} for each row when (${when})
      execute function wait_at_step(${index})`);
  }
  const waiting = async (index: number): Promise<number[]> => {
    const rows = await sql<{ pid: number }[]>`
      select pid from pg_locks where locktype = 'advisory' and not granted and classid = ${SPACE} and objid = ${index}
        and database = (select oid from pg_database where datname = current_database())`;
    return rows.map(({ pid }) => pid);
  };
  return {
    async hold(step) {
      const index = steps.indexOf(step);
      await sql`select pg_advisory_lock(${SPACE}, ${index})`;
      return {
        reached: () => until(step.name, async () => (await waiting(index)).length > 0),
        async end(how) {
          const pids = await waiting(index);
          if (how === 'rolled back') {
            await sql`select pg_terminate_backend(pid, 5000) from unnest(${pids}::int[]) as pid`;
          }
          await sql`select pg_advisory_unlock(${SPACE}, ${index})`;
        },
      };
    },
    stop: () => sql.end(),
  };
}
