import type { Machine } from '../probes/machine.ts';
import { ratioByRound, type Spread, spreadOf } from '../report/spread.ts';
import { machineLine, short, spread, table, whole } from '../report/text.ts';
import type { Kills } from '../../chaos/client-kills.ts';
import type { CallRow, ClientResult, Round } from './client.ts';
import type { Sample } from './plan.ts';

const TIMES_AT_LEAST = { check: 6, track: 4 } as const;
const CHECKS_AT_LEAST = 250_000;
const TAKES_AT_LEAST = 20_000_000;
const MIB = 2 ** 20;

export function clientMarkdown(result: ClientResult, machine: Machine): string {
  const { calls, memory, kills } = result;
  return [
    ...(calls.length > 0 ? [callsTable(calls), ABOUT_CALLS] : []),
    ...goalsTable(result),
    ...(memory.length > 0 ? [memoryTable(memory), ABOUT_MEMORY] : []),
    ...(kills === null ? [] : [killsLine(kills)]),
    machineLine(machine),
  ].join('\n\n');
}

const ABOUT_CALLS =
  'Processor time is of one call, the kernel included: of the service, of PostgreSQL, and of the ' +
  'program that calls. 256 callers; each calls again when it has its answer.';
const ABOUT_MEMORY =
  'Nine checks and one track in turn, 256 callers; the heap is read after a full collection.';

function callsTable(rows: readonly CallRow[]): string {
  const lines = rows.map(({ runtime, shape, way, rounds }) => {
    const of = (pick: (round: Round) => number): Spread => spreadOf(rounds.map(pick));
    return [
      `\`${shape}\`, ${way === 'fetch' ? 'plain `fetch`' : 'the client'}`,
      nameOf(runtime),
      spread(
        of(({ server }) => server),
        short,
      ),
      spread(
        of(({ postgres }) => postgres),
        short,
      ),
      spread(
        of(({ caller }) => caller),
        short,
      ),
      short(of(({ p50Ms }) => p50Ms).median),
      spread(
        of(({ p99Ms }) => p99Ms),
        short,
      ),
      whole(of(({ perSecond }) => perSecond).median),
    ];
  });
  const head = ['call', 'in', 'server us', 'PostgreSQL us', 'caller us', 'p50 ms', 'p99 ms'];
  return table([...head, 'per s'], lines);
}

type Goal = {
  readonly name: string;
  readonly target: number;
  /** Otherwise it is the most. */
  readonly isLeast: boolean;
  readonly here: Spread;
};

function goalsTable({ calls, batches, takes }: ClientResult): readonly string[] {
  const goals = [
    ...callGoals(calls),
    ...(batches.length === 0
      ? []
      : [
          {
            name: 'checks in batches of 500, a second of server processor',
            target: CHECKS_AT_LEAST,
            isLeast: true,
            here: spreadOf(batches.map(({ server }) => 1e6 / server)),
          },
        ]),
    ...takes.map(({ runtime, perSecond }) => ({
      name: `\`lease.take\` a second in ${nameOf(runtime)}`,
      target: TAKES_AT_LEAST,
      isLeast: true,
      here: spreadOf(perSecond),
    })),
  ];
  const lines = goals.map(({ name, target, isLeast, here }) => {
    const isReached = isLeast ? here.median >= target : here.median <= target;
    const print = target > 1000 ? whole : short;
    const wanted = `${print(target)} at ${isLeast ? 'least' : 'most'}`;
    return [name, wanted, spread(here, print), isReached ? 'yes' : 'no'];
  });
  return goals.length === 0 ? [] : [table(['goal', 'target', 'here', 'reached'], lines, 1)];
}

function callGoals(rows: readonly CallRow[]): readonly Goal[] {
  return rows
    .filter(({ way }) => way === 'client')
    .flatMap(({ runtime, shape, rounds }) => {
      const plain =
        rows.find((row) => row.way === 'fetch' && row.runtime === runtime && row.shape === shape)
          ?.rounds ?? [];
      const ratio = (pick: (round: Round) => number): Spread =>
        ratioByRound(rounds.map(pick), plain.map(pick));
      const where = `\`${shape}\` in ${nameOf(runtime)}`;
      return [
        {
          name: `${where}: times the rate`,
          target: TIMES_AT_LEAST[shape],
          isLeast: true,
          here: ratio(({ perSecond }) => perSecond),
        },
        {
          name: `${where}: times the p99`,
          target: 1,
          isLeast: false,
          here: ratio(({ p99Ms }) => p99Ms),
        },
      ];
    });
}

function memoryTable(memory: ClientResult['memory']): string {
  const lines = memory.flatMap(({ runtime, samples }) =>
    atQuarters(samples).map(({ calls, residentBytes, heapBytes }) => [
      nameOf(runtime),
      whole(calls),
      whole(residentBytes / MIB),
      short(heapBytes / MIB),
    ]),
  );
  return table(['in', 'calls', 'resident MiB', 'heap MiB'], lines, 1);
}

function atQuarters(samples: readonly Sample[]): readonly Sample[] {
  return [0.05, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const sample = samples[Math.round(share * samples.length) - 1];
    return sample === undefined ? [] : [sample];
  });
}

function killsLine({ kills, resolved, rejected, retries, problems }: Kills): string {
  const verdict = problems.length === 0 ? 'each is stored once' : problems.join('; ');
  return (
    `${kills} kills of the service under 64 callers: ${whole(resolved)} \`track\` resolved, ` +
    `${whole(rejected)} were rejected, ${whole(retries)} requests were sent again; ${verdict}.`
  );
}

const nameOf = (runtime: CallRow['runtime']): string => (runtime === 'bun' ? 'Bun' : 'Node');
