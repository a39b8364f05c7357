// A throw-away PostgreSQL and Redis for tests, or the servers that TEST_DATABASE_URL and TEST_REDIS_URL name.
//
// Nothing is kept when the machine stops, so PostgreSQL does not wait for its disk. Tests about durability start servers of their own.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** @throws ServiceFailure in one line; nothing is left running then */
export async function openThrowAway(): Promise<Services> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-test-'));
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

function removeDataDir(dataDir: string): void {
  // The services may live elsewhere, behind a link (src/platform/embedded/service-account.ts).
  try {
    rmSync(realpathSync(join(dataDir, 'services')), { recursive: true, force: true });
  } catch {
    // They were never made.
  }
  rmSync(dataDir, { recursive: true, force: true });
}
