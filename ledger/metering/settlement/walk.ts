import { inForceOrder, type CutUse, type Grant } from '../grants.ts';

// The arithmetic of a settlement: who covers what was used (balance.md 1).

/** What gives units: a grant, an allowance in one of its periods, or what rolled over of one. */
export type Source = {
  /** Of now: a plan's allowance is another one after a change. */
  grant: Grant;
  /** null: without a limit. */
  size: bigint | null;
  used: bigint;
  /** Of `used`, where it is without a limit: by what it gave before. */
  before: bigint;
  /** Of `used`: what it covered at a boundary after it was used, in this period. */
  grown: bigint;
  /** Of `used`, ascending by its end: it counts until then (`cut-periods.ts`). */
  cut: readonly CutUse[];
  /** Whether it is in force. */
  isIn: boolean;
  /** Whether it is suspended: then it covers nothing. */
  isResting: boolean;
};

/** Some use of a stretch. */
type Part = {
  readonly source: Source | null;
  amount: bigint;
  /** Whose price it is sold at where nobody covers it. */
  readonly sellerId: string | null;
  /** It was covered at a later boundary. */
  readonly isGrown: boolean;
  isBilled: boolean;
  readonly from: number;
};

/** Use of one stretch. */
type Use = { readonly from: number; readonly sellerId: string | null };

/** One meter, as its stretches follow each other. */
export class Walk {
  /** In force, with room, in burn order. */
  #open: Source[] = [];
  /** Of the period, by the time of their stretches. */
  #parts: Part[] = [];
  readonly #sources = new Set<Source>();
  #left = 0n;
  #covered = 0n;
  #uncovered = 0n;
  /** Corrections beyond what the period has used; 0 or less. */
  #below = 0n;

  enter(source: Source): void {
    source.isIn = true;
    this.#sources.add(source);
    this.#left += room(source) ?? 0n;
    this.#offer(source);
  }

  leave(source: Source): void {
    if (!source.isIn) return;
    source.isIn = false;
    this.#sources.delete(source);
    this.#left -= room(source) ?? 0n;
    this.#withdraw(source);
  }

  /** It is suspended, or is so no more: what was used meanwhile is covered then (`cover`). */
  rest(source: Source, isResting: boolean): void {
    if (source.isResting === isResting) return;
    source.isResting = isResting;
    if (isResting) this.#withdraw(source);
    else if (source.isIn) this.#offer(source);
  }

  get sources(): Iterable<Source> {
    return this.#sources;
  }

  /** Another plan: what a larger one covered of earlier use is uncovered by a smaller one. */
  resize(source: Source, grant: Grant, size: bigint | null): void {
    this.leave(source);
    source.grant = grant;
    source.size = size;
    source.before = size === null ? source.used : 0n;
    this.enter(source);
    if (size === null || source.used <= size) return;
    for (let index = this.#parts.length - 1; index >= 0 && source.used > size; index -= 1) {
      const part = this.#parts[index];
      if (part?.source !== source || !part.isGrown) continue;
      const over = source.used - size;
      this.#move(index, null, over < part.amount ? over : part.amount);
    }
  }

  /** So much of what was used of it counts no more. */
  forget(source: Source, units: bigint): void {
    const { isIn } = source;
    if (isIn) this.leave(source);
    source.used -= units < source.used ? units : source.used;
    source.before -= units < source.before ? units : source.before;
    if (isIn) this.enter(source);
  }

  /** A period is over. */
  begin(): void {
    this.#parts = [];
    [this.#covered, this.#uncovered, this.#below] = [0n, 0n, 0n];
    for (const source of this.#sources) {
      source.grown = 0n;
      // What is used of one without a limit is counted for the period alone (`advance.ts`).
      if (source.size === null) source.used = source.before;
    }
  }

  /** What is sold by then is paid by money, but for as much of it, the newest, as is held. */
  bill(sellerId: string, held: bigint): void {
    let kept = held;
    for (const [index, part] of [...this.#parts.entries()].toReversed()) {
      if (part.source !== null || part.isBilled) continue;
      const stays = kept < part.amount ? kept : part.amount;
      kept -= stays;
      const units = part.amount - stays;
      if (units === 0n || part.sellerId !== sellerId) continue;
      this.#uncovered -= units;
      part.amount = stays;
      const billed = { ...part, amount: units, isBilled: true };
      this.#parts.splice(index, stays === 0n ? 1 : 0, billed);
    }
  }

  /** Units that arrived cover what is uncovered and not billed, oldest first. */
  cover(): void {
    if (this.#uncovered === 0n || this.#open.length === 0) return;
    for (let index = 0; index < this.#parts.length && this.#uncovered > 0n; index += 1) {
      const part = this.#parts[index];
      if (part === undefined || part.source !== null || part.isBilled) continue;
      const source = this.#first();
      if (source === null) return;
      const most = room(source) ?? part.amount;
      this.#move(index, source, most < part.amount ? most : part.amount);
    }
  }

  use(net: bigint, about: Use): void {
    const free = -this.#below;
    const filled = net <= 0n ? 0n : net < free ? net : free;
    this.#below += filled;
    let rest = net - filled;
    if (rest < 0n) return this.#takeBack(-rest);
    const part = { ...about, isGrown: false, isBilled: false };
    while (rest > 0n) {
      const source = this.#first();
      const most = source === null ? rest : (room(source) ?? rest);
      const amount = most < rest ? most : rest;
      this.#parts.push({ ...part, source, amount });
      this.#count(source, amount);
      rest -= amount;
    }
  }

  /**
   * What the account of the period was credited: what is left and what was covered. What an
   * unlimited grant covers while it is in force is not in it.
   */
  limit(isWithUnlimited: boolean): bigint {
    return this.#left + this.covered(isWithUnlimited);
  }

  covered(isWithUnlimited: boolean): bigint {
    let units = this.#covered;
    if (isWithUnlimited) return units;
    for (const { isIn, size, used, before } of this.#sources) {
      if (isIn && size === null) units -= used - before;
    }
    return units;
  }

  /** What grants have covered of what is consumed. */
  get settled(): bigint {
    return this.#parts.reduce(
      (sum, { source, amount }) => (source === null ? sum : sum + amount),
      0n,
    );
  }

  /** Newest first; in a stretch first what is uncovered, then in reverse burn order. */
  #takeBack(units: bigint): void {
    let rest = units;
    for (let index = this.#parts.length - 1; index >= 0 && rest > 0n; index -= 1) {
      const part = this.#parts[index];
      if (part === undefined) continue;
      const taken = rest < part.amount ? rest : part.amount;
      part.amount -= taken;
      rest -= taken;
      if (part.source !== null || !part.isBilled) this.#count(part.source, -taken);
      if (part.isGrown && part.source !== null) part.source.grown -= taken;
      if (part.amount === 0n) this.#parts.splice(index, 1);
    }
    this.#below -= rest;
  }

  /** So many units of the part are that source's. The others stay in it. */
  #move(index: number, source: Source | null, units: bigint): void {
    const part = this.#parts[index];
    if (part === undefined) return;
    this.#count(part.source, -units);
    this.#count(source, units);
    if (part.source !== null) part.source.grown -= units;
    if (source !== null) source.grown += units;
    const moved = { ...part, source, amount: units, isGrown: source !== null };
    part.amount -= units;
    if (part.amount === 0n) this.#parts.splice(index, 1);
    this.#parts.splice(this.#placeOf(moved, index), 0, moved);
  }

  /** In its stretch in burn order, and what is uncovered last. */
  #placeOf({ from, source }: Part, index: number): number {
    let place = index;
    const isEarlier = (other: Part | undefined): boolean => {
      if (other === undefined || other.from !== from) return false;
      if (source === null || other.source === null) return other.source !== null;
      return inForceOrder(other.source.grant, source.grant) < 0;
    };
    const isIts = (other: Part | undefined): boolean => other?.from === from;
    while (isIts(this.#parts[place - 1]) && !isEarlier(this.#parts[place - 1])) place -= 1;
    while (isIts(this.#parts[place]) && isEarlier(this.#parts[place])) place += 1;
    return place;
  }

  #count(source: Source | null, units: bigint): void {
    if (source === null) {
      this.#uncovered += units;
      return;
    }
    const before = room(source) ?? 0n;
    source.used = source.used + units < 0n ? 0n : source.used + units;
    // What it gave before is taken back last.
    if (source.before > source.used) source.before = source.used;
    this.#covered += units;
    if (!source.isIn) return;
    this.#left += (room(source) ?? 0n) - before;
    if (units < 0n && before === 0n && source.size !== null) this.#offer(source);
  }

  /** The first that has room. */
  #first(): Source | null {
    for (;;) {
      const [source] = this.#open;
      if (source === undefined) return null;
      if (room(source) !== 0n) return source;
      this.#open.shift();
    }
  }

  #offer(source: Source): void {
    if (source.isResting) return;
    let [from, to] = [0, this.#open.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#open[middle];
      if (other === undefined || isBefore(source, other)) to = middle;
      else from = middle + 1;
    }
    if (this.#open[from - 1] !== source) this.#open.splice(from, 0, source);
  }

  #withdraw(source: Source): void {
    const index = this.#open.indexOf(source);
    if (index !== -1) this.#open.splice(index, 1);
  }
}

/** While one is unlimited no other burns. */
function isBefore(a: Source, b: Source): boolean {
  if ((a.size === null) !== (b.size === null)) return a.size === null;
  return inForceOrder(a.grant, b.grant) < 0;
}

/** What is left of it; null: all. */
export function room({ size, used }: Source): bigint | null {
  if (size === null) return null;
  return size > used ? size - used : 0n;
}

export function sourceOf(grant: Grant, size: bigint | null, used = 0n): Source {
  const before = size === null ? used : 0n;
  return { grant, size, used, before, grown: 0n, cut: [], isIn: false, isResting: false };
}

/** What rolled over, with what was used of it and how much the plan of now lets be used. */
export function cappedTo({ grant, used, size }: Source): Grant {
  const isCapped = size !== null && grant.amount !== null && size < grant.amount;
  return { ...grant, used, cap: isCapped ? size : null };
}
