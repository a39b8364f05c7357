import type { Mark } from './span.ts';

/**
 * What the spans of one period have sold, from their marks (balance.md 1).
 *
 * How it works: use above the limit is sold, and what an earlier span has sold is paid by money: it is
 * taken off what counts against the limit of a later one. Where less was used at the end of a span than
 * at its start, the difference takes back what was used before, newest first, and of each span first
 * what it has sold.
 * What holds: it is a function of the marks and limits, so the order in which events came does not
 * matter.
 */
export type Stretch = {
  readonly opening: Mark;
  readonly closing: Mark;
  /** null is unlimited. */
  readonly limit: bigint | null;
};

/** Of each of the spans of one period, in order of time: scaled, never negative. */
export function soldIn(stretches: readonly Stretch[]): readonly bigint[] {
  const parts: { used: bigint; sold: bigint }[] = [];
  let billed = 0n;
  for (const { opening, closing, limit } of stretches) {
    const [from, to] = [consumedAt(opening), consumedAt(closing)];
    const free = limit === null ? null : limit + billed;
    const sold = to < from ? 0n : beyond(to, free) - beyond(from, free);
    if (to < from) takeBack(parts, from - to);
    parts.push({ used: to > from ? to - from : 0n, sold });
    billed = sumOf(parts);
  }
  return parts.map((part) => part.sold);
}

function takeBack(parts: { used: bigint; sold: bigint }[], units: bigint): void {
  let rest = units;
  for (const part of parts.toReversed()) {
    const taken = rest < part.used ? rest : part.used;
    part.used -= taken;
    part.sold -= taken < part.sold ? taken : part.sold;
    rest -= taken;
  }
}

/** A level is not used up: what is above the limit at the end of a span is sold, for the time of the span. */
export function soldOfLevel({ closing, limit }: Pick<Stretch, 'closing' | 'limit'>): bigint {
  return beyond(consumedAt(closing), limit);
}

function sumOf(parts: readonly { readonly sold: bigint }[]): bigint {
  return parts.reduce((sum, { sold }) => sum + sold, 0n);
}

/** What is above what is free; null is unlimited. */
export function beyond(consumed: bigint, free: bigint | null): bigint {
  return free === null || consumed <= free ? 0n : consumed - free;
}

export function consumedAt({ aggregate }: Mark): bigint {
  return aggregate > 0n ? aggregate : 0n;
}
