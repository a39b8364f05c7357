// The rounds of one case and one way, as the numbers of one line.
import type { Case } from '../cases.ts';
import { Histogram } from '../histogram.ts';
import type { Measured } from '../measure.ts';

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export interface Summary {
  readonly requestsPerSecond: Spread;
  /** Over all rounds. */
  readonly latencyMicros: { p50: number; p99: number; p999: number; max: number };
  readonly errors: number;
  /** null: it has no flushes. */
  readonly rowsPerFlush: number | null;
  readonly secondsPer10k: { server: number; database: number; generator: number };
  /** null: no events, or none in PostgreSQL. */
  readonly walBytesPerEvent: number | null;
  readonly tableBytesPerEvent: number | null;
  /** Processors that other programs used, in the worst round. */
  readonly othersProcessors: number;
  readonly problems: readonly string[];
}

export function summaryOf(item: Case, rounds: readonly Measured[]): Summary {
  const latency = new Histogram();
  for (const { load } of rounds) latency.add(load.latency);
  const answered = sum(rounds, ({ load }) => load.succeeded) / 10_000;
  const flushes = sum(rounds, ({ footprint }) => footprint?.flushes ?? 0);
  const rows = sum(rounds, ({ footprint }) => footprint?.rows ?? 0);
  const bytes = (of: (measured: Measured) => number | undefined): number | null =>
    rows === 0 || item.events === 0 ? null : sum(rounds, (round) => of(round) ?? 0) / rows;
  return {
    requestsPerSecond: spreadOf(rounds.map((round) => round.requestsPerSecond)),
    latencyMicros: {
      p50: latency.percentile(0.5),
      p99: latency.percentile(0.99),
      p999: latency.percentile(0.999),
      max: latency.maxMicros,
    },
    errors: sum(rounds, ({ load }) => load.errors),
    rowsPerFlush: flushes === 0 || rows === 0 ? null : rows / flushes,
    secondsPer10k: {
      server: sum(rounds, ({ serverSeconds }) => serverSeconds) / answered,
      database: sum(rounds, ({ databaseSeconds }) => databaseSeconds) / answered,
      generator: sum(rounds, ({ load }) => load.cpuSeconds) / answered,
    },
    walBytesPerEvent: bytes(({ footprint }) => footprint?.walBytes),
    tableBytesPerEvent: bytes(({ footprint }) => footprint?.tableBytes),
    othersProcessors: Math.max(...rounds.map((round) => round.othersProcessors)),
    problems: rounds.flatMap(({ problems }) => problems),
  };
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? 0;
  const middle = (sorted.length - 1) / 2;
  return {
    min: at(0),
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    max: at(sorted.length - 1),
  };
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
