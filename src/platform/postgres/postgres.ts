import { Socket } from 'node:net';
import postgres from 'postgres';
import { Connecting, SILENT_MS_MAX } from './connecting.ts';
import { telling } from './tell.ts';

/** int8 maps to bigint: an amount never passes through a double. */
type Types = { bigint: bigint };

export type Sql = postgres.Sql<Types>;
export type Transaction = postgres.TransactionSql<Types>;

/** A pool or a transaction: what a single statement needs. */
export type Executor = postgres.ISql<Types>;

/** What a jsonb column takes. */
export type Json = postgres.JSONValue;

export type PoolOptions = {
  readonly max: number;
  readonly applicationName: string;
  /** 0 for none. */
  readonly statementTimeoutMs?: number;
  /** Server settings of each connection. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onNotify?: (channel: string, payload: string) => void;
  readonly onClose?: () => void;
  readonly connectTimeoutMs?: number;
};

const RECONNECT_S_MAX = 0.5;
const STATEMENT_TIMEOUT_MS = 30_000;
// A client that hangs inside a transaction must not keep its locks.
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;

/**
 * How soon the server notices a lost machine: by default after two hours, and its connections count
 * until then.
 */
const KEEPALIVES = {
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
};

/** Connects on first use. @throws nothing: a query does, when the server cannot be reached */
export function openPool(url: string, options: PoolOptions): Sql {
  const plain = open(url, options);
  // With `max_pipeline: 1` postgres.js may send a BEGIN behind another query without reserving the
  // connection (its issue 1189; a third of 300 transactions failed here): transactions get
  // connections that no plain query uses.
  const transactions = options.max === 1 ? plain : open(url, options);
  const own: { -readonly [name in 'begin' | 'end']?: Sql[name] } = {
    async end(how) {
      await Promise.all([
        plain.end(how),
        ...(transactions === plain ? [] : [transactions.end(how)]),
      ]);
    },
  };
  const pool = new Proxy(plain, {
    get: (target, name) =>
      name === 'begin' || name === 'end' ? own[name] : (Reflect.get(target, name) as unknown),
  });
  own.begin = telling(pool, plain, transactions.begin.bind(transactions));
  return pool;
}

/**
 * Opens all connections of a pool, and runs the task on each. @throws where the server cannot be
 * reached
 */
export async function onEach(
  pool: Sql,
  task: (connection: Sql) => PromiseLike<unknown>,
): Promise<void> {
  const reserving = Array.from({ length: pool.options.max }, () => pool.reserve());
  const connections = await Promise.all(reserving);
  try {
    await Promise.all(connections.map(task));
  } finally {
    for (const connection of connections) connection.release();
  }
}

function open(url: string, options: PoolOptions): Sql {
  const given = options.connectTimeoutMs ?? connectTimeoutOf(url);
  const connecting = given === null ? new Connecting() : null;
  const settings = {
    max: options.max,
    // Measured: with its default of 100 a saturated pool loses four fifths of its rate within half
    // a minute.
    max_pipeline: 1,
    // The default, half an hour to an hour, also closes connections whose session holds locks or
    // has its plans made.
    max_lifetime: null,
    types: { bigint: postgres.BigInt },
    connect_timeout: (given ?? SILENT_MS_MAX) / 1000,
    socket: (address: ServerAddress) => connectSocket(address, connecting),
    // A proxy may be a moment behind a failover: the former primary accepts connections as a
    // standby by then, with stale rows.
    target_session_attrs: 'primary' as const,
    // The default grows to 20 s; a database that is back has to be used at once.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, RECONNECT_S_MAX),
    onnotice: () => undefined,
    ...(options.onNotify === undefined ? {} : { onnotify: options.onNotify }),
    ...(options.onClose === undefined ? {} : { onclose: options.onClose }),
    connection: {
      application_name: options.applicationName,
      ...KEEPALIVES,
      ...options.settings,
      TimeZone: 'UTC',
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
  };
  return postgres(url, settings);
}

/**
 * In ms: `connect_timeout` of the URL, which is in seconds as libpq has it. null: there is none.
 */
function connectTimeoutOf(url: string): number | null {
  const seconds = Number(new URL(url).searchParams.get('connect_timeout'));
  return seconds > 0 ? seconds * 1000 : null;
}

type ServerAddress = Pick<postgres.ParsedOptions, 'host' | 'port' | 'path'>;

/**
 * A proxy without a server behind it accepts and closes. postgres.js would reconnect at once
 * without end (1500 times in 2 s here), and never answer the query. Reporting the close as an error
 * restores its backoff.
 */
function connectSocket(
  { host: [host = ''], port: [port = 0], path }: ServerAddress,
  connecting: Connecting | null,
): Socket {
  // TLS checks the certificate against the host of the socket.
  const socket = Object.assign(new Socket(), { host });
  socket.on('end', () => {
    if (socket.bytesRead > 0) return;
    const error = new Error(`${host} closed without an answer`);
    // The error code of a lost connection, so that the caller is told to retry.
    socket.destroy(Object.assign(error, { code: 'ECONNRESET' }));
  });
  connecting?.watch(socket);
  return path ? socket.connect(path) : socket.connect(port, host);
}
