// Why a request found no answer, in a word or a line.

/** Node says "fetch failed", and the reason beneath: `ECONNREFUSED`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : cause.message;
}
