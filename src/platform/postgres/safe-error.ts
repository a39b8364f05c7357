// The part of an error that may be logged: its kind, where it happened, and of PostgreSQL the
// constraint.
//
// Holds: nothing of a row, a parameter or a query is logged. PostgreSQL quotes rows in `detail` and
// `where`, and values in the message of a data exception; its driver attaches the query and its
// parameters; any error may carry other data. So fields are allowed by name.

/** Of PostgreSQL, of its driver and of the system. */
const FIELDS = [
  'code',
  'severity',
  'constraint_name',
  'schema_name',
  'table_name',
  'column_name',
  'routine',
  'errno',
  'syscall',
  'address',
  'port',
  'maybeDone',
] as const;

/** Data exceptions: the message quotes the value. */
const QUOTES_VALUES = /^22/;
const CAUSES_MAX = 3;

export type SafeError = {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: SafeError;
  readonly [field: string]: unknown;
};

export function safeError(error: unknown, causes = CAUSES_MAX): SafeError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  const known: Readonly<Partial<Record<string, unknown>>> = Object.fromEntries(
    Object.entries(error),
  );
  const fields = FIELDS.flatMap((name) => {
    const value = known[name];
    return value === undefined || value === null || typeof value === 'object'
      ? []
      : [[name, value]];
  });
  const isQuoting = 'severity' in error && QUOTES_VALUES.test(String(known['code']));
  const message = isQuoting ? 'a value does not fit its type' : error.message;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    message,
    stack: [`${error.name}: ${message}`, ...frames].join('\n'),
    ...(Object.fromEntries(fields) as Record<string, unknown>),
    ...(error.cause !== undefined && causes > 0 && { cause: safeError(error.cause, causes - 1) }),
  };
}

/** In one line. */
export function errorLine(error: unknown): string {
  const { type, message, code, constraint_name: constraint } = safeError(error);
  return [`${type}: ${message}`, code, constraint]
    .filter((part) => part !== undefined)
    .map(String)
    .join(' · ');
}
