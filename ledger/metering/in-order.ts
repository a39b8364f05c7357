// Periods and spans of a meter: ascending by their start, which each keeps.

type Timed = { readonly start: number };
type IsSame<T> = (other: T) => boolean;

/** Puts it in its place. What `isSame` says it was is replaced. */
export function put<T extends Timed>(list: T[], item: T, isSame: IsSame<T>): void {
  const after = countUntil(list, item.start);
  const index = indexBefore(list, after, { start: item.start, isSame });
  if (index !== -1) list[index] = item;
  else if (after === list.length) list.push(item);
  else list.splice(after, 0, item);
}

export function remove<T extends Timed>(list: T[], start: number, isSame: IsSame<T>): void {
  const index = indexBefore(list, countUntil(list, start), { start, isSame });
  if (index !== -1) list.splice(index, 1);
}

/** The one that starts then. */
export function startingAt<T extends Timed>(list: readonly T[], start: number): T | undefined {
  const one = list[countUntil(list, start) - 1];
  return one?.start === start ? one : undefined;
}

/** Those of a list that it did not have before, or not as they are. Of hundreds few have changed. */
export function changedSince<T extends Timed>(
  before: readonly T[],
  now: readonly T[],
): readonly T[] {
  let from = 0;
  while (from < now.length && now[from] === before[from]) from += 1;
  let until = now.length;
  const by = before.length - now.length;
  while (until > from && now[until - 1] === before[until - 1 + by]) until -= 1;
  const changed: T[] = [];
  let index = from;
  for (const one of now.slice(from, until)) {
    while ((before[index]?.start ?? Infinity) < one.start) index += 1;
    if (before[index] !== one) changed.push(one);
  }
  return changed;
}

/** Those that start after that time. */
export function startingAfter<T extends Timed>(list: readonly T[], at: number): readonly T[] {
  return list.slice(countUntil(list, at));
}

/** The last ones that start then or before, the earliest of them first. */
export function lastBy<T extends Timed>(
  list: readonly T[],
  at: number,
  count: number,
): readonly T[] {
  const until = countUntil(list, at);
  return list.slice(Math.max(0, until - count), until);
}

/** Several may start at one time. */
function indexBefore<T extends Timed>(
  list: readonly T[],
  count: number,
  { start, isSame }: { readonly start: number; readonly isSame: IsSame<T> },
): number {
  for (let index = count - 1; index >= 0; index -= 1) {
    const other = list[index];
    if (other?.start !== start) return -1;
    if (isSame(other)) return index;
  }
  return -1;
}

/** How many start at that time or before it. */
export function countUntil(list: readonly Timed[], start: number): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((list[middle]?.start ?? Infinity) <= start) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * The lists that one decision may change in place: those that it made itself, while nobody else has
 * them. All others are copied, as they are part of states that never change.
 */
export class OwnLists {
  #made: Set<object> | null = null;

  /** Until `share`, no state of the decision is kept by anybody. */
  own(): void {
    this.#made ??= new Set();
  }

  share(): void {
    this.#made = null;
  }

  mine<T>(list: readonly T[]): T[] {
    if (this.#made?.has(list) === true) return list as T[];
    const copy = [...list];
    this.#made?.add(copy);
    return copy;
  }
}
