import { Histogram } from '../histogram.ts';
import type { Machine } from '../probes/machine.ts';
import { machineLine, short, spread, table, whole } from '../report/text.ts';
import { spreadOf } from '../report/spread.ts';
import type { Cluster } from './cluster.ts';
import type { Forwarded } from './forwarded.ts';
import { goalsOf, timesOwned } from './goals.ts';
import type { Beside } from './hot.ts';
import type { Killed } from './kill.ts';
import { type Loaded, sum } from './load.ts';
import type { Moved } from './move.ts';
import type { Scaling } from './scaling.ts';

const PERCENTILES = ['p50 ms', 'p99 ms', 'p99.9 ms'];

const LEGEND = `Rates are the median of the rounds (least to most), latencies are of all rounds together, CPU is in microseconds for each request:
all nodes, PostgreSQL, load generator. All of it shared the processors below.`;

export function clusterMarkdown(cluster: Cluster, machine: Machine): string {
  const { scaling, forwarded, hot, move, kill } = cluster;
  const goals = goalsOf(cluster).map(({ title, target, here, isReached }) => [
    title,
    target,
    spread(here, short),
    isReached ? 'yes' : 'no',
  ]);
  return [
    scaling.length === 0 ? '' : scalingTable(scaling),
    forwarded.length === 0 ? '' : forwardedTable(forwarded),
    scaling.length + forwarded.length === 0 ? '' : LEGEND,
    hot.length === 0 ? '' : hotTable(hot),
    move.length === 0 ? '' : moveTable(move),
    kill.length === 0 ? '' : killTable(kill),
    goals.length === 0 ? '' : table(['goal', 'target', 'here', 'reached'], goals),
    machineLine(machine),
    othersLine(cluster),
  ]
    .filter((section) => section !== '')
    .join('\n\n');
}

function scalingTable(scaling: readonly Scaling[]): string {
  return table(
    ['case', 'nodes', 'requests/s', ...PERCENTILES, 'errors', 'rows a flush', 'CPU us'],
    scaling.map(({ shape, connections, nodes, measured }) => [
      `\`/${shape}\`, ${connections} connections`,
      String(nodes),
      ...cellsOf(measured),
    ]),
  );
}

function forwardedTable(forwarded: readonly Forwarded[]): string {
  return table(
    [
      'case',
      'customers',
      'requests/s',
      ...PERCENTILES,
      'errors',
      'rows a flush',
      'CPU us',
      'asked + owner',
      'times owned',
    ],
    forwarded.flatMap((one) => {
      const { shape, connections, owned } = one;
      const title = `\`/${shape}\`, ${connections} connections`;
      return [
        [title, 'owned', ...cellsOf(owned), '', ''],
        [
          '',
          'forwarded',
          ...cellsOf(one.forwarded),
          [0, 1]
            .map((at) => whole(median(one.forwarded, ({ cpuUs }) => cpuUs.nodes[at] ?? 0)))
            .join(' + '),
          spread(spreadOf(timesOwned(one)), short),
        ],
      ];
    }),
  );
}

function cellsOf(measured: readonly Loaded[]): string[] {
  const latency = new Histogram();
  for (const loaded of measured) latency.add(loaded.latency.encode());
  const rows = measured.map(({ rowsPerFlush }) => rowsPerFlush ?? 0);
  const cpu = [
    median(measured, ({ cpuUs }) => sum(cpuUs.nodes)),
    median(measured, ({ cpuUs }) => cpuUs.database),
    median(measured, ({ cpuUs }) => cpuUs.generator),
  ];
  return [
    spread(spreadOf(measured.map(({ requestsPerSecond }) => requestsPerSecond)), whole),
    ...percentiles(latency),
    String(sum(measured.map(({ errors }) => errors))),
    rows.some((count) => count > 0) ? short(spreadOf(rows).median) : '',
    cpu.map(whole).join(' / '),
  ];
}

const TITLES: Readonly<Record<Beside['beside'], string>> = {
  nobody: 'alone',
  hot: 'beside one hot customer',
  many: 'beside as many requests of many customers',
};

function hotTable(hot: readonly Beside[]): string {
  return table(
    ['`/check` and `/track` of others, 300/s', 'beside them, requests/s', ...PERCENTILES, 'errors'],
    hot.map(({ beside, latency, besidePerSecond, errors }) => [
      TITLES[beside],
      besidePerSecond.length === 0 ? '' : spread(spreadOf(besidePerSecond), whole),
      ...percentiles(latency),
      String(errors),
    ]),
  );
}

function moveTable(move: readonly Moved[]): string {
  const rows = (['steady', 'moves'] as const).map((during) => {
    const rounds = move.filter((one) => one.during === during);
    const latency = new Histogram();
    for (const round of rounds) latency.add(round.latency.encode());
    const took = rounds.flatMap(({ tookMs }) => tookMs ?? []);
    const seconds = (of: (one: (typeof took)[number]) => number): string =>
      took.length === 0 ? '' : spread(spreadOf(took.map((one) => of(one) / 1000)), short);
    return [
      during === 'steady' ? 'three nodes' : 'one leaves and joins again',
      whole(sum(rounds.map(({ succeeded }) => succeeded))),
      String(sum(rounds.map(({ errors }) => errors))),
      ...percentiles(latency),
      short(latency.maxMicros / 1000),
      seconds(({ leaving }) => leaving),
      seconds(({ joining }) => joining),
    ];
  });
  return table(
    [
      '`/check` and `/track`, 400/s',
      'answered',
      'failed',
      ...PERCENTILES,
      'longest ms',
      'left in s',
      'joined in s',
    ],
    rows,
  );
}

function killTable(kill: readonly Killed[]): string {
  const seconds = (of: (one: Killed) => number): string =>
    spread(spreadOf(kill.map((one) => of(one) / 1000)), short);
  return table(
    ['one of three nodes is killed', 'times', 's until one is served', 's until all are'],
    [
      [
        'its customers',
        String(kill.length),
        seconds(({ firstMs }) => firstMs),
        seconds(({ allMs }) => allMs),
      ],
    ],
  );
}

function percentiles(latency: Histogram): string[] {
  return [0.5, 0.99, 0.999].map((share) => short(latency.percentile(share) / 1000));
}

function median<T>(items: readonly T[], of: (item: T) => number): number {
  return spreadOf(items.map(of)).median;
}

function othersLine({ scaling, forwarded }: Cluster): string {
  const loads = [
    ...scaling.flatMap(({ measured }) => measured),
    ...forwarded.flatMap((one) => [...one.owned, ...one.forwarded]),
  ];
  if (loads.length === 0) return '';
  const { median: usual, max } = spreadOf(loads.map(({ othersProcessors }) => othersProcessors));
  return `Others used ${usual.toFixed(2)} processors meanwhile (median), ${max.toFixed(2)} at most.`;
}

/** All errors. */
export function problemsOf({ scaling, forwarded, hot, move }: Cluster): readonly string[] {
  const loads = [
    ...scaling.flatMap(({ measured }) => measured),
    ...forwarded.flatMap((one) => [...one.owned, ...one.forwarded]),
    ...hot,
    ...move,
  ];
  return loads.flatMap(({ errors, samples }) =>
    errors === 0 ? [] : [`${errors} errors, such as`, ...samples],
  );
}
