// The goals of the service, as ratios within a round: both sides then had the same machine.
import type { Case, WayName } from '../cases.ts';
import type { Row } from '../rounds.ts';
import { type Spread, spreadOf } from './summary.ts';

export interface Goal {
  readonly case: string;
  readonly title: string;
  /** null: an absolute number of events a second. */
  readonly beside: WayName | null;
  /** null: reported without a goal. */
  readonly target: number | null;
  readonly reached: Spread;
  readonly isReached: boolean | null;
}

interface Wanted {
  readonly groups: readonly Case['group'][];
  /** The least value that meets it. */
  readonly connections: number;
  readonly beside: WayName | null;
  readonly target: number | null;
}

const WANTED: readonly Wanted[] = [
  { groups: ['check'], connections: 32, beside: 'limit', target: 0.75 },
  { groups: ['check'], connections: 32, beside: 'lossy', target: 1 },
  { groups: ['track'], connections: 256, beside: 'plain', target: 8 },
  { groups: ['hot'], connections: 256, beside: 'plain', target: 20 },
  { groups: ['track', 'hot'], connections: 256, beside: 'lossy', target: 0.6 },
  { groups: ['ingest'], connections: 0, beside: null, target: 100_000 },
  { groups: ['refunds', 'checkouts'], connections: 0, beside: 'plain', target: null },
];

/** The median decides. */
export function goalsOf(rows: readonly Row[]): readonly Goal[] {
  return WANTED.flatMap(({ groups, connections, beside, target }) =>
    rows
      .filter(
        ({ case: { group, connections: has } }) => groups.includes(group) && has >= connections,
      )
      .map((row) => {
        const reached = spreadOf(ratios(row, beside));
        const { name, title } = row.case;
        return {
          case: name,
          title,
          beside,
          target,
          reached,
          isReached: target === null ? null : reached.median >= target,
        };
      }),
  );
}

function ratios({ case: item, measured }: Row, beside: WayName | null): readonly number[] {
  const ours = measured.get('tollhouse') ?? [];
  if (beside === null) return ours.map((round) => round.requestsPerSecond * item.events);
  const theirs = measured.get(beside) ?? [];
  return ours.map(
    (round, index) => round.requestsPerSecond / (theirs[index]?.requestsPerSecond ?? 0),
  );
}
