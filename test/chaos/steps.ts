// Places between two commits at which a service is stopped: its database makes whoever comes there wait, with all it did since the last
// commit still to be rolled back.
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { until } from '../support/until.ts';

/** What is about to be committed: the first row of this kind waits. */
export type Step = {
  readonly name: string;
  readonly on: string;
  /** Of `old` and `new`. */
  readonly when?: string;
};

export type Held = {
  /** Resolves when somebody is there. */
  reached(): Promise<void>;
  /** What waits there is rolled back, or committed without anybody who hears of it; nobody waits any more. */
  end(how: 'rolled back' | 'committed'): Promise<void>;
};

export type Steps = {
  hold(step: Step): Promise<Held>;
  stop(): Promise<void>;
};

const SPACE = 7_206_520;

export async function openSteps(databaseUrl: string, steps: readonly Step[]): Promise<Steps> {
  // One connection, because the lock belongs to it.
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
