// Checks that a configured service answers, before anything else is started.
import { ServiceFailure } from '../failure.ts';
import { openPool } from '../postgres/postgres.ts';
import { connectRedis, redisUrls } from '../redis/redis-connection.ts';

const TIMEOUT_MS = 5000;
/** SQLSTATE of a server, database or role that has no connection left. */
const NO_CONNECTION_LEFT = '53300';

/** The first release with all that the schema needs, such as `uuidv7()`. */
const POSTGRES_NEEDED = 18;

/** @throws ServiceFailure in one line that names the host, never the password */
export async function checkPostgres(url: string, needed = POSTGRES_NEEDED): Promise<void> {
  const sql = openPool(url, {
    max: 1,
    applicationName: 'tollhouse start',
    connectTimeoutMs: TIMEOUT_MS,
  });
  try {
    const [row] = await sql<{ version: number }[]>`
      select current_setting('server_version_num')::int as version`;
    const refused = versionRefusal(row?.version ?? 0, needed);
    if (refused !== null) throw new ServiceFailure(`DATABASE_URL: ${hostOf(url)}: ${refused}`);
  } catch (error) {
    if (error instanceof ServiceFailure) throw error;
    throw unreachable({ name: 'DATABASE_URL', url, error });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Why a server is refused, by its `server_version_num` (150018 is 15.18); null where it is
 * accepted.
 */
export function versionRefusal(version: number, needed = POSTGRES_NEEDED): string | null {
  const major = Math.floor(version / 10_000);
  if (major >= needed) return null;
  return `this is PostgreSQL ${major}.${version % 10_000}; ${needed} is needed`;
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
    // connect() rejects with "connection is closed"; the event has the reason.
    throw unreachable({ name: 'REDIS_URL', url: redisUrls(url)[0] ?? '', error: cause ?? error });
  } finally {
    client.disconnect();
  }
}

/**
 * Turns "no connection left" into one line for the operator, at any point of the start; every other
 * error stays what it is.
 */
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
  return new ServiceFailure(`${name}: ${hostOf(url)} does not answer: ${why}`, { cause: error });
}

function hostOf(url: string): string {
  return new URL(url).host;
}
