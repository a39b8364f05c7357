// Latencies in microseconds, counted in buckets whose width grows with the value (as HdrHistogram
// does): exact below 256 us, within 0.8 % above, up to 35 minutes. Recording is one array
// increment.
const SUB_BITS = 7;
const SUB = 1 << SUB_BITS;
const BUCKETS = (32 - SUB_BITS) << SUB_BITS;
const MICROS_MAX = 2 ** 31 - 1;

export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #count = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  get maxMicros(): number {
    return this.#max;
  }

  record(micros: number): void {
    const value = micros < MICROS_MAX ? Math.trunc(micros) : MICROS_MAX;
    const index = indexOf(value);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count += 1;
    if (value > this.#max) this.#max = value;
  }

  /** The highest value of the bucket that holds this share (0-1) of all recorded values. */
  percentile(share: number): number {
    const wanted = Math.max(1, Math.ceil(this.#count * share));
    let seen = 0;
    for (const [index, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= wanted) return Math.min(highestOf(index), this.#max);
    }
    return this.#max;
  }

  add(other: Encoded): void {
    for (const [index, count] of other.buckets) {
      this.#counts[index] = (this.#counts[index] ?? 0) + count;
      this.#count += count;
    }
    if (other.max > this.#max) this.#max = other.max;
  }

  toJSON(): Record<string, number> {
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => this.percentile(share));
    return { count: this.#count, p50: p50 ?? 0, p99: p99 ?? 0, p999: p999 ?? 0, max: this.#max };
  }

  encode(): Encoded {
    const buckets: [number, number][] = [];
    for (const [index, count] of this.#counts.entries()) {
      if (count > 0) buckets.push([index, count]);
    }
    return { buckets, max: this.#max };
  }
}

/** The non-empty buckets, to send from one process to another. */
export interface Encoded {
  readonly buckets: readonly (readonly [index: number, count: number])[];
  readonly max: number;
}

function indexOf(value: number): number {
  if (value < 2 * SUB) return value;
  const shift = 31 - Math.clz32(value) - SUB_BITS;
  return (shift << SUB_BITS) + (value >>> shift);
}

function highestOf(index: number): number {
  if (index < 2 * SUB) return index;
  const shift = (index >>> SUB_BITS) - 1;
  // Not a shift: the last bucket ends at 2^31, which is not a signed 32-bit number.
  return ((index & (SUB - 1)) + SUB + 1) * 2 ** shift - 1;
}
