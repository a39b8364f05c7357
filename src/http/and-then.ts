/**
 * `f` of a value that may be a promise. Without a promise where neither is one: an answer from
 * memory costs no turn of the event loop, and about 0.1 µs less than an async function.
 */
export function andThen<T, R>(value: T | Promise<T>, f: (value: T) => R | Promise<R>) {
  return value instanceof Promise ? value.then(f) : f(value);
}

/** The values of a list in which any may be a promise. Without a promise where none is one. */
export function allOf<T>(list: readonly (T | Promise<T>)[]): readonly T[] | Promise<T[]> {
  const isHere = (value: T | Promise<T>): value is T => !(value instanceof Promise);
  return list.every(isHere) ? list : Promise.all(list);
}
