// The figures of one case and one way, each as a value for each round. They are what `--json`
// writes, what `--compare` reads, and what all tables and goals are made of.
import { type Case, unitsOf, type WayName } from '../cases.ts';
import { Histogram } from '../histogram.ts';
import type { Measured } from '../measure.ts';
import type { Row } from '../rounds.ts';

const MIB = 1024 * 1024;

/** In the order of importance: costs are stable on a machine with other load, rates are not. */
export const FIGURES = {
  server: 'server us',
  postgres: 'PostgreSQL us',
  redis: 'Redis us',
  wal: 'WAL B',
  table: 'table B',
  memory: 'memory MiB',
  flush: 'events a flush',
  rate: 'requests/s',
  p50: 'p50 ms',
  p99: 'p99 ms',
  p999: 'p99.9 ms',
} as const;
export type Figure = keyof typeof FIGURES;

/** Empty: it has no such figure. */
export type Figures = Readonly<Record<Figure, readonly number[]>>;

/** By the name of the case. */
export interface Result {
  readonly case: string;
  readonly way: WayName;
  readonly figures: Figures;
}

export function resultsOf(rows: readonly Row[]): readonly Result[] {
  return rows.flatMap(({ case: item, measured }) =>
    [...measured].map(([way, rounds]) => ({
      case: item.name,
      way,
      figures: figuresOf(item, rounds),
    })),
  );
}

/** Costs and bytes are of an event where a request has many, else of a request. */
function figuresOf(item: Case, rounds: readonly Measured[]): Figures {
  const units = ({ load }: Measured): number => load.succeeded * unitsOf(item);
  const micros = (of: (round: Measured) => number): readonly number[] => {
    const values = rounds.map((round) => (of(round) / units(round)) * 1_000_000);
    // Some use no database.
    return values.some((value) => value > 0) ? values : [];
  };
  const perEvent = (of: (footprint: NonNullable<Measured['footprint']>) => number) =>
    item.events === 0
      ? []
      : rounds.flatMap(({ footprint, events }) => (footprint ? [of(footprint) / events] : []));
  const latency = rounds.map(({ load }) => {
    const histogram = new Histogram();
    histogram.add(load.latency);
    return histogram;
  });
  const percentile = (share: number) => latency.map((one) => one.percentile(share) / 1000);
  return {
    server: micros(({ spent }) => spent.server),
    postgres: micros(({ spent }) => spent.postgres),
    redis: micros(({ spent }) => spent.redis),
    wal: perEvent(({ walBytes }) => walBytes),
    table: perEvent(({ tableBytes }) => tableBytes),
    memory: rounds.map(({ memoryBytes }) => memoryBytes / MIB),
    flush:
      item.events === 0
        ? []
        : rounds.flatMap(({ footprint, events }) =>
            footprint && footprint.flushes > 0 ? [events / footprint.flushes] : [],
          ),
    rate: rounds.map(({ requestsPerSecond }) => requestsPerSecond),
    p50: percentile(0.5),
    p99: percentile(0.99),
    p999: percentile(0.999),
  };
}

/** @throws Error where the text is no result of `--json` */
export function readResults(text: string): readonly Result[] {
  const { results } = JSON.parse(text) as { readonly results?: readonly Result[] };
  const names = Object.keys(FIGURES) as Figure[];
  const isResult = ({ figures }: Partial<Result>): boolean =>
    names.every((name) => Array.isArray(figures?.[name]));
  if (!Array.isArray(results) || !results.every(isResult)) {
    throw new Error('--compare needs a file that `bun run bench --json` of today has written');
  }
  return results;
}
