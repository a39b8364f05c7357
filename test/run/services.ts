// A throw-away PostgreSQL and Redis for tests, or the servers that TEST_DATABASE_URL and TEST_REDIS_URL name (the database user must
// be allowed to create databases).
//
// Nothing is kept when the machine stops, so PostgreSQL does not wait for its disk. Tests about durability start servers of their own.
import { chmodSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { connectionsOf } from '../../src/fleet.ts';
import { openServices, type Services } from '../../src/platform/embedded/services.ts';
import { WORKERS } from './suite.ts';

/** The most nodes of a cluster that one file starts. */
const NODES_MAX = 3;

const LOG = {
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};

/**
 * Their files are below `dataDir`, which is gone when they have stopped.
 * @throws ServiceFailure in one line; nothing is left running then
 */
export async function openThrowAway(dataDir: string): Promise<Services> {
  mkdirSync(dataDir, { recursive: true });
  // Open to the account that runs the services where we are root; its secrets are 0600 on their own.
  chmodSync(dataDir, 0o711);
  try {
    const services = await openServices(
      {
        databaseUrl: process.env['TEST_DATABASE_URL'],
        redisUrl: process.env['TEST_REDIS_URL'],
        dataDir,
        connectionsMax: WORKERS * connectionsOf(NODES_MAX),
      },
      LOG,
    );
    if (services.embedded) await doNotWaitForDisk(services.databaseUrl);
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
  // The services may live elsewhere, behind a link (src/platform/embedded/service-account.ts).
  try {
    rmSync(realpathSync(join(dataDir, 'services')), { recursive: true, force: true });
  } catch {
    // They were never made.
  }
  rmSync(dataDir, { recursive: true, force: true });
}

async function doNotWaitForDisk(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      await sql`alter system set ${sql(setting)} = off`;
    }
    await sql`select pg_reload_conf()`;
  } finally {
    await sql.end();
  }
}
