// Whether a service that was configured answers, before anything else is started.
import { ServiceFailure } from './failure.ts';
import { openPool } from './postgres.ts';
import { connectRedis, redisUrls } from './redis-connection.ts';

const TIMEOUT_MS = 5000;
/** What PostgreSQL calls it where the server, the database or the role has as many connections as it may. */
const NO_CONNECTION_LEFT = '53300';

/** @throws ServiceFailure in one line that names the host, never the password */
export async function checkPostgres(url: string): Promise<void> {
  const sql = openPool(url, {
    max: 1,
    applicationName: 'tollhouse start',
    connectTimeoutMs: TIMEOUT_MS,
  });
  try {
    await sql`select 1`;
  } catch (error) {
    throw unreachable({ name: 'DATABASE_URL', url, error });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** @throws ServiceFailure in one line that names the host, never the password */
export async function checkRedis(url: string): Promise<void> {
  const client = connectRedis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let cause: unknown;
  client.on('error', (error) => {
    cause ??= error;
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    // What connect() rejects with is "connection is closed"; the event says why.
    throw unreachable({ name: 'REDIS_URL', url: redisUrls(url)[0] ?? '', error: cause ?? error });
  } finally {
    client.disconnect();
  }
}

/** Who gets no connection, however far its start has come, says so in one line; every other error stays what it is. */
export function sayNoConnection(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === NO_CONNECTION_LEFT))
    return error;
  const message = `DATABASE_URL: PostgreSQL has no connection left for this process: ${error.message}`;
  return new ServiceFailure(message, { cause: error });
}

function unreachable(options: { name: string; url: string; error: unknown }): ServiceFailure {
  const { name, url, error } = options;
  // An AggregateError (one try for each address) has no message of its own.
  const { message = '', code = '' } = error as { message?: string; code?: string };
  const why = message === '' ? code || String(error) : message;
  const { host } = new URL(url);
  return new ServiceFailure(`${name}: ${host} does not answer: ${why}`, { cause: error });
}
