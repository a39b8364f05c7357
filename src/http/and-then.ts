/**
 * `f` of a value that may be a promise. Without a promise where neither is one: an answer from
 * memory costs no turn of the event loop, and about 0.1 µs less than an async function.
 */
export function andThen<T, R>(value: T | Promise<T>, f: (value: T) => R | Promise<R>) {
  return value instanceof Promise ? value.then(f) : f(value);
}
