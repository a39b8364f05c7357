// `bun run worker`: a process that delivers webhooks and mails and does nothing else. Any number
// may run, beside any number of servers.
import { checkSchema, MigrationFailure } from '../src/database/migrate.ts';
import { type Config, ConfigError, parseConfig } from '../src/config.ts';
import { ServiceFailure } from '../src/platform/failure.ts';
import { openLog } from '../src/platform/log.ts';
import { checkPostgres, sayNoConnection } from '../src/platform/net/reachable.ts';
import { dropRights } from '../src/platform/rights.ts';
import { loadSecretsKey } from '../src/platform/crypto/secrets.ts';
import { clock } from '../src/platform/clock.ts';
import { readRuntime } from '../src/platform/embedded/services.ts';
import { untilTold } from '../src/platform/signals.ts';
import { openDelivery } from './delivery.ts';
import { openMailer } from './mail/open.ts';

async function main(): Promise<void> {
  // From the first moment on: the parent process may be gone before the first delivery.
  const told = untilTold();
  const config = parseConfig(process.env);
  const log = openLog(config.logLevel);
  const addresses = addressesOf(config);
  await checkPostgres(addresses.databaseUrl);
  // It reads and writes what servers do, and only a server migrates the schema.
  await checkSchema(addresses.databaseUrl);
  const secretsKey = loadSecretsKey(config);
  const delivery = await openDelivery({
    ...addresses,
    secretsKey,
    clock,
    allowLoopback: config.allowLoopbackUrls,
    log,
    onAttempt: () => undefined,
  });
  const mailer =
    config.mail === undefined
      ? null
      : await openMailer({
          ...addresses,
          secretsKey,
          clock,
          bounds: config.bounds,
          mail: config.mail,
          appUrl: config.appUrl,
          log,
          onAttempt: () => undefined,
        });
  dropRights(config.dataDir, log);
  log.info({ mail: mailer === null ? 'off' : 'on' }, 'delivering');
  log.info({ signal: await told }, 'draining');
  await Promise.all([delivery.close(), mailer?.close()]);
  log.info({}, 'stopped');
}

/** Where no URL is configured: the embedded services of the server that runs on this DATA_DIR. */
function addressesOf(config: Config): { databaseUrl: string; redisUrl: string } {
  const runtime = readRuntime(config.dataDir);
  const databaseUrl = config.databaseUrl ?? runtime?.databaseUrl;
  const redisUrl = config.redisUrl ?? runtime?.redisUrl;
  if (databaseUrl === undefined || redisUrl === undefined) {
    throw new ServiceFailure(
      'DATABASE_URL and REDIS_URL must be set, or a server must run on this DATA_DIR',
    );
  }
  return { databaseUrl, redisUrl };
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
