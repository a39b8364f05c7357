// A throw-away PostgreSQL and Redis for tests, or the servers that TEST_DATABASE_URL and
// TEST_REDIS_URL name (the database user must be allowed to create databases).
//
// Nothing is kept when the machine stops: PostgreSQL does not wait for its disk, and its files are
// in memory where there is enough. A database is some 400 files, whose copy is most of what a test
// file costs PostgreSQL. Tests about durability start servers of their own.
import { chmodSync, mkdirSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { connectionsOf } from '../../src/fleet.ts';
import { openServices, type Services } from '../../src/platform/embedded/services.ts';
import { AT_ONCE } from './suite.ts';

/** The most nodes of a cluster that one file starts. */
const NODES_MAX = 3;

const SHARED_MEMORY = '/dev/shm';
/**
 * Of the file system: each database takes 11 MB while it is there, the log of PostgreSQL at most 1
 * GB.
 */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '512MB',
  min_wal_size: '80MB',
};

const LOG = {
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};

/** Where directories of throw-away services are made. */
export function scratch(): string {
  try {
    const { blocks, bsize } = statfsSync(SHARED_MEMORY);
    return blocks * bsize >= MEMORY_BYTES_MIN ? SHARED_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * Their files are below `dataDir`, which is gone when they have stopped.
 * @throws ServiceFailure in one line; nothing is left running then
 */
export async function openThrowAway(dataDir: string): Promise<Services> {
  mkdirSync(dataDir, { recursive: true });
  // When we are root, the account that runs the services can enter it; its secrets have mode 0600.
  chmodSync(dataDir, 0o711);
  try {
    const services = await openServices(
      {
        databaseUrl: process.env['TEST_DATABASE_URL'],
        redisUrl: process.env['TEST_REDIS_URL'],
        dataDir,
        // Twice as many as there are: a start that fails leaves its connections open.
        connectionsMax: 2 * AT_ONCE * connectionsOf(NODES_MAX),
      },
      LOG,
    );
    if (services.embedded) await set(services.databaseUrl);
    return {
      ...services,
      async stop() {
        await services.stop();
        removeDataDir(dataDir);
      },
    };
  } catch (error) {
    removeDataDir(dataDir);
    throw error;
  }
}

export function removeDataDir(dataDir: string): void {
  // The services' directory may be elsewhere, behind a link
  // (src/platform/embedded/service-account.ts).
  try {
    rmSync(realpathSync(join(dataDir, 'services')), { recursive: true, force: true });
  } catch {
    // It was never made.
  }
  rmSync(dataDir, { recursive: true, force: true });
}

async function set(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    for (const [name, value] of Object.entries(SETTINGS)) {
      await sql.unsafe(`alter system set ${name} = '${value}'`);
    }
    await sql`select pg_reload_conf()`;
  } finally {
    await sql.end();
  }
}
