/**
 * Thrown for a bug, never for bad input. The request fails, the actor reloads, the process goes on.
 */
class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/**
 * Throws `AssertionError` unless `condition` holds. The message is lazy: hot paths pay for it only
 * when it is needed.
 */
export function assert(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw new AssertionError(typeof message === 'string' ? message : message());
}

/** The value, which the caller knows to be there. */
export function must<T>(value: T | null | undefined, what: string): T {
  assert(value !== null && value !== undefined, () => `missing: ${what}`);
  return value;
}

/** Closes a switch over a union: the compiler proves that nothing reaches it. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`);
}
