// The start command: services, schema, ledger, HTTP; and all of it back again on Ctrl-C and
// SIGTERM.
//
// Draining: no new connection is accepted and every answer that is owed is given, the journal
// writes what is queued and lets its seat go, and then what was started is stopped. A second signal
// does not wait.
import { parseArgs } from 'node:util';
import { migrate, MigrationFailure } from './database/migrate.ts';
import { type Config, ConfigError, parseConfig } from './config.ts';
import { connectionsOf, followParent, openFleet } from './fleet.ts';
import { claimPorts, openFront } from './front.ts';
import { clock } from './platform/clock.ts';
import { ServiceFailure } from './platform/failure.ts';
import { ids } from './platform/ids.ts';
import { type Log, openLog } from './platform/log.ts';
import { openPool } from './platform/postgres/postgres.ts';
import { sayNoConnection } from './platform/net/reachable.ts';
import { dropRights, isRoot } from './platform/rights.ts';
import { loadSecretsKey } from './platform/crypto/secrets.ts';
import { newToken } from './platform/crypto/tokens.ts';
import { openServices } from './platform/embedded/services.ts';
import { untilTold } from './platform/signals.ts';
import { createDemoOrganisation, type Demo } from './accounts/onboarding.ts';
import { signInAddress } from './people/addresses.ts';
import { openService } from './service.ts';

const DRAIN_MS_MAX = 15_000;
const PROCESSES_MAX = 64;

async function main(): Promise<void> {
  // From the start on: a signal during the start is handled after it.
  const told = untilTold();
  const processes = parseProcesses(process.argv.slice(2));
  const config = parseConfig(process.env);
  const { node } = config;
  const log = openLog(config.logLevel).child(node === undefined ? {} : { address: node.address });
  const tellServing = config.reusePort ? followParent() : () => undefined;
  const connectionsMax = connectionsOf(processes);
  const services = await openServices({ ...config, connectionsMax }, log);
  try {
    await migrate(services.databaseUrl);
    const stop =
      processes === 1
        ? await serve(config, log, services)
        : await openFleet({
            processes,
            env: process.env,
            config,
            secretsKey: loadSecretsKey(config),
            services,
            log,
          });
    if (processes > 1 && isRoot()) {
      log.info({}, 'this process keeps root privileges to start nodes: it serves no requests');
    }
    // Not before it listens: its key is shown once, and a start that fails must not use that up.
    const demo = services.embedded ? await createDemo(services.databaseUrl) : null;
    if (demo !== null) showDemo(config, demo);
    log.info({ url: config.baseUrl, embedded: services.embedded }, 'listening');
    tellServing();
    log.info({ signal: await told }, 'draining');
    await stop();
  } finally {
    await services.stop();
  }
  log.info({}, 'stopped');
}

/** @throws ConfigError */
function parseProcesses(args: string[]): number {
  const refused = `the arguments must be --processes N, from 1 to ${PROCESSES_MAX}, or none`;
  try {
    const { values } = parseArgs({ args, options: { processes: { type: 'string' } } });
    const { processes = '1' } = values;
    const count = /^\d{1,2}$/.test(processes) ? Number(processes) : 0;
    if (count >= 1 && count <= PROCESSES_MAX) return count;
  } catch (error) {
    throw new ConfigError([`${refused}: ${String(error)}`]);
  }
  throw new ConfigError([refused]);
}

async function serve(
  config: Config,
  log: Log,
  { databaseUrl, redisUrl }: { readonly databaseUrl: string; readonly redisUrl: string },
): Promise<() => Promise<void>> {
  await claimPorts(config);
  const service = await openService({
    databaseUrl,
    redisUrl,
    settings: config,
    deliver: config.deliverWebhooks,
    secretsKey: loadSecretsKey(config),
    leaseMs: config.leaseMs,
    actorsMax: config.actorCacheMax,
    actorBytesMax: config.actorCacheMib * 2 ** 20,
    node: config.node,
    log,
  });
  const front = openFront(service, config);
  // Before any request is handled.
  dropRights(config.dataDir, log);
  return async () => {
    const late = setTimeout(() => {
      log.error({}, 'queued work could not be written in time');
      service.abandon();
    }, DRAIN_MS_MAX);
    await front.close();
    await service.close();
    clearTimeout(late);
  };
}

/** The first start on an empty embedded database makes something to try. */
async function createDemo(databaseUrl: string): Promise<Demo | null> {
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'tollhouse demo' });
  try {
    return await createDemoOrganisation({ sql, ids, now: clock.now(), newToken });
  } finally {
    await sql.end();
  }
}

function showDemo({ baseUrl, appUrl }: Config, { testKey: key, signInToken }: Demo): void {
  console.log(`
A demo organisation was made. Its test key is shown only this once:

  ${key}

This link signs its owner in to the dashboard, once and within 15 minutes:

  ${signInAddress(appUrl, signInToken)}

Try it:

  curl -s ${baseUrl}/meters -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"slug":"api-calls"}'

The API is described at ${baseUrl}/docs
`);
}

try {
  await main();
  process.exit(0);
} catch (thrown) {
  const error = sayNoConnection(thrown);
  const expected = [ConfigError, ServiceFailure, MigrationFailure];
  if (!(error instanceof Error) || !expected.some((kind) => error instanceof kind)) throw error;
  console.error(error.message);
  process.exit(1);
}
