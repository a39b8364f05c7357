// The test command: starts a throw-away PostgreSQL and Redis once, runs `bun test` with the arguments
// that it got, stops them, and exits as `bun test` did.
//
// TEST_DATABASE_URL and TEST_REDIS_URL name servers to use instead; the database user must be allowed
// to create databases. The tests read the same two names (services.ts).
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionsOf } from '../../src/fleet.ts';
import { openServices, type Services } from '../../src/platform/embedded/services.ts';

const LOG = {
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};

async function main(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-test-'));
  // Open to the account that runs the services where we are root; its secrets are 0600 on their own.
  chmodSync(dataDir, 0o711);
  let services: Services | undefined;
  let child: ReturnType<typeof runTests> | undefined;
  let stoppedBy: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    stoppedBy ??= signal;
    child?.kill(signal);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    services = await openServices(
      {
        databaseUrl: process.env['TEST_DATABASE_URL'],
        redisUrl: process.env['TEST_REDIS_URL'],
        dataDir,
        connectionsMax: connectionsOf(Number(process.env['TEST_NODES'] ?? 1)),
      },
      LOG,
    );
    if (stoppedBy === undefined) {
      child = runTests(services);
      await child.exited;
    }
  } finally {
    await services?.stop();
    removeDataDir(dataDir);
  }
  if (stoppedBy !== undefined) return 128 + constants.signals[stoppedBy];
  return child?.exitCode ?? 1;
}

function runTests(services: Services) {
  return Bun.spawn([process.execPath, 'test', ...process.argv.slice(2)], {
    env: {
      ...process.env,
      TEST_DATABASE_URL: services.databaseUrl,
      TEST_REDIS_URL: services.redisUrl,
    },
    stdio: ['inherit', 'inherit', 'inherit'],
  });
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

process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }),
);
