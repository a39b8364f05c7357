/**
 * `f` of a value that may not be here yet. Without a promise where both are here: an answer from memory costs no
 * turn of the event loop, and about 0.1 µs less than an async function.
 */
export function andThen<T, R>(value: T | Promise<T>, f: (value: T) => R | Promise<R>) {
  return value instanceof Promise ? value.then(f) : f(value);
}
