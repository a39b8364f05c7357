import { join } from 'node:path';
import Postgrator from 'postgrator';
import postgres from 'postgres';
import { assert } from '../../ledger/kernel/assert.ts';

const LOCK_KEY = 7_206_519;
/**
 * A statement that waits for a table makes all others wait behind it. So it waits a second, lets
 * them pass, and tries again: for 6 minutes.
 */
const LOCK_WAIT_MS_MAX = 1000;
const LOCK_TRIES_MAX = 180;
/** PostgreSQL's codes for a lock that did not come in time, and for a deadlock. */
const LOCK_REFUSED = ['55P03', '40P01'];
/** As long as another process may be migrating: an index of a large table takes minutes. */
const TURN_MS_MAX = 3_600_000;
const TURN_LOOK_MS = 200;
/** How a file begins that PostgreSQL cannot run in a transaction. */
const ALONE = '-- Outside a transaction:';
/** Nothing waits behind an index that is built concurrently. */
const CONCURRENT = /^\s*CREATE (?:UNIQUE )?INDEX CONCURRENTLY/m;

/**
 * The schema is not one that this program can work on. The message is one line for the operator.
 */
export class MigrationFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*\n\s*/g, ' ').trim(), options);
    this.name = 'MigrationFailure';
  }
}

/**
 * Brings the database to the newest schema, forward only.
 *
 * A file and the record that it was applied are one transaction. A file that says so runs each
 * statement in its own; those may be repeated. An advisory lock lets one of several processes that
 * start together do it. Refuses a file that changed after it was applied, and a database that is
 * newer than this program.
 * @throws MigrationFailure, and what the driver throws where the database cannot be reached
 */
export async function migrate(databaseUrl: string): Promise<void> {
  await connected(databaseUrl, async (sql) => {
    await takeTurn(sql);
    const postgrator = openPostgrator(sql);
    const { found, known } = await versionsOf(postgrator);
    if (found > known) throw new MigrationFailure(newer(found, known));
    await applyAll(postgrator);
  });
}

/**
 * For a process that works on a database and does not migrate it: workers, and commands that only
 * read.
 * @throws MigrationFailure where the schema is not the newest one, and what the driver throws where
 * the database cannot be reached
 */
export async function checkSchema(databaseUrl: string): Promise<void> {
  const { found, known } = await connected(databaseUrl, (sql) => versionsOf(openPostgrator(sql)));
  if (found === known) return;
  if (found === 0)
    throw new MigrationFailure('the database has no schema yet: start a server first');
  throw new MigrationFailure(
    found > known
      ? newer(found, known)
      : `the database is at schema ${found}; this program needs ${known}: start a server of its release first`,
  );
}

/** Polls, because a waiting statement would keep an index from being built concurrently. */
async function takeTurn(sql: postgres.Sql): Promise<void> {
  for (let waited = 0; waited < TURN_MS_MAX; waited += TURN_LOOK_MS) {
    const [turn] = await sql<{ mine: boolean }[]>`select pg_try_advisory_lock(${LOCK_KEY}) as mine`;
    if (turn?.mine === true) return;
    await sql`select pg_sleep(${TURN_LOOK_MS / 1000})`;
  }
  throw new MigrationFailure('another process has been bringing the schema up to date for an hour');
}

async function connected<T>(
  databaseUrl: string,
  task: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => undefined,
    connection: { application_name: 'tollhouse migrate', lock_timeout: LOCK_WAIT_MS_MAX },
  });
  try {
    return await task(sql);
  } finally {
    await sql.end();
  }
}

function openPostgrator(sql: postgres.Sql): Postgrator {
  let isOpen = false;
  return new Postgrator({
    driver: 'pg',
    migrationPattern: join(import.meta.dir, 'migrations', '*.sql'),
    schemaTable: 'schema_migrations',
    async execQuery(query) {
      const rows = await sql.unsafe(query);
      // The query that follows a script records that it was applied.
      if (isOpen) await sql.unsafe('commit');
      isOpen = false;
      return { rows };
    },
    async execSqlScript(script) {
      assert(!isOpen, 'one script at a time');
      if (script.startsWith(ALONE)) {
        for (const statement of script.split(/;\s*\n/)) await runAlone(sql, statement);
        return;
      }
      await retry(sql, async () => {
        await sql.unsafe('begin');
        try {
          await sql.unsafe(script);
        } catch (error) {
          await sql.unsafe('rollback');
          throw error;
        }
      });
      isOpen = true;
    },
  });
}

async function runAlone(sql: postgres.Sql, statement: string): Promise<void> {
  if (!CONCURRENT.test(statement)) return retry(sql, () => sql.unsafe(statement));
  await sql`select set_config('lock_timeout', ${String(TURN_MS_MAX)}, false)`;
  await sql.unsafe(statement);
  await sql`select set_config('lock_timeout', ${String(LOCK_WAIT_MS_MAX)}, false)`;
}

async function retry(sql: postgres.Sql, task: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await task();
      return;
    } catch (error) {
      const code = error instanceof postgres.PostgresError ? error.code : '';
      if (!LOCK_REFUSED.includes(code) || tries === LOCK_TRIES_MAX) throw error;
      await sql`select pg_sleep(${LOCK_WAIT_MS_MAX / 1000})`;
    }
  }
}

async function versionsOf(
  postgrator: Postgrator,
): Promise<{ readonly found: number; readonly known: number }> {
  return {
    found: await postgrator.getDatabaseVersion(),
    known: await postgrator.getMaxVersion(),
  };
}

const newer = (found: number, known: number): string =>
  `the database is at schema ${found}; this program knows ${known}: start a newer one`;

async function applyAll(postgrator: Postgrator): Promise<void> {
  let says = 'the schema cannot be brought up to date';
  postgrator.on('validation-started', ({ version }) => {
    says = `migration ${version} is not what was applied to this database: start the release that it came from`;
  });
  postgrator.on('validation-finished', () => {
    says = 'the schema cannot be brought up to date';
  });
  postgrator.on('migration-started', ({ version }) => {
    says = `migration ${version} failed`;
  });
  try {
    await postgrator.migrate();
  } catch (error) {
    throw new MigrationFailure(`${says}: ${String(error)}`, { cause: error });
  }
}
