// The goals for many nodes.
import type { Spread } from '../report/spread.ts';
import { spreadOf } from '../report/spread.ts';
import type { Cluster } from './cluster.ts';
import type { Forwarded } from './forwarded.ts';
import type { Beside } from './hot.ts';
import { sum } from './load.ts';

export type Goal = {
  readonly title: string;
  readonly target: string;
  readonly here: Spread;
  readonly isReached: boolean;
};

const FORWARDED_TIMES_MAX = 1.5;
const HOT_TIMES_MAX = 2;
const MOVE_P999_MS_MAX = 100;
const KILL_MS_MAX = 7000;

export function goalsOf({ forwarded, hot, move, kill }: Cluster): readonly Goal[] {
  const moves = move.filter(({ during }) => during === 'moves');
  return [
    ...forwarded.map((one) =>
      atMost(
        `forwarded \`/${one.shape}\`, ${one.connections} connections: CPU times owned`,
        FORWARDED_TIMES_MAX,
        timesOwned(one),
      ),
    ),
    ...goalOfHot(hot),
    ...(moves.length === 0
      ? []
      : [
          atMost(
            'a node leaves and joins: requests failed',
            0,
            moves.map(({ errors }) => errors),
          ),
          atMost(
            'a node leaves and joins: p99.9 ms',
            MOVE_P999_MS_MAX,
            moves.map(({ latency }) => latency.percentile(0.999) / 1000),
          ),
        ]),
    ...(kill.length === 0
      ? []
      : [
          atMost(
            'a node is killed: ms until all its customers are served',
            KILL_MS_MAX,
            kill.map(({ allMs }) => allMs),
          ),
        ]),
  ];
}

/** By round: both had the same machine. */
export function timesOwned({ owned, forwarded }: Forwarded): readonly number[] {
  return forwarded.map(
    (round, at) => sum(round.cpuUs.nodes) / sum(owned[at]?.cpuUs.nodes ?? [Number.NaN]),
  );
}

function goalOfHot(hot: readonly Beside[]): readonly Goal[] {
  const alone = hot.find(({ beside }) => beside === 'nobody');
  const hurt = hot.find(({ beside }) => beside === 'hot');
  if (alone === undefined || hurt === undefined) return [];
  const times = hurt.p99Micros.map((p99, at) => p99 / (alone.p99Micros[at] ?? Number.NaN));
  return [atMost('beside a hot customer: p99 of the others, times alone', HOT_TIMES_MAX, times)];
}

/** The median decides. */
function atMost(title: string, most: number, values: readonly number[]): Goal {
  const here = spreadOf(values);
  return { title, target: `${most} at most`, here, isReached: here.median <= most };
}
