// Failures of the database, by the codes of PostgreSQL (SQLSTATE), of its driver and of the system.

/** The connection or the server failed, or other work was in the way: not the query. */
const OUTAGE =
  /^(?:CONNECTION_\w+|CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|08\w{3}|53\w{3}|57P\d\d|57014|55P03|40\w{3})$/;

/** The statement was rolled back: by its timeout, by an operator, or for a lock or a deadlock. */
const CANCELLED = /^(?:57014|55P03|40\w{3})$/;

/** The server is out of something, or is shutting down. */
const EXHAUSTED = /^(?:57|53|55)/;

/** Whether the same query may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && OUTAGE.test(error.code);
}

/** What an error that the server reported says of its statement. */
export function kindOf(code: unknown): 'cancelled' | 'exhausted' | 'refused' {
  if (typeof code !== 'string') return 'refused';
  if (CANCELLED.test(code)) return 'cancelled';
  return EXHAUSTED.test(code) ? 'exhausted' : 'refused';
}
