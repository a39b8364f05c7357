import type { Machine } from '../probes/machine.ts';
import { machineLine, short, table, whole } from '../report/text.ts';
import type { Latencies, Renewals, Renewed } from './renewals.ts';

const WAYS: Readonly<Record<Renewed['way'], string>> = {
  'one feature': '**Tollhouse**',
  'two features': 'with two features',
  'usage of both': 'billed for usage of both',
  plain: 'plain',
};

export function renewalsMarkdown(renewals: Renewals, machine: Machine): string {
  const { results, checkMs, residentMib } = renewals;
  const rows = results.map((result) => {
    const {
      way,
      renewals: count,
      seconds,
      serverSeconds,
      databaseSeconds,
      othersProcessors,
    } = result;
    const per10k = (used: number): string => ((used / count) * 10_000).toFixed(2);
    return [
      WAYS[way],
      whole(count),
      whole(count / seconds),
      `${per10k(serverSeconds)} / ${per10k(databaseSeconds)}`,
      othersProcessors.toFixed(2),
    ];
  });
  const checks = [
    ['while nothing is due', ...latencies(checkMs.idle)],
    ['while they renew', ...latencies(checkMs.during)],
  ];
  const { before, peak, after } = residentMib;
  return [
    table(['renewals', 'due', 'per s', 'CPU s', 'others'], rows),
    ratioLine(results),
    table(['`/check`', 'asked', 'p50 ms', 'p99 ms'], checks),
    `The server: ${whole(before)} MiB before, ${whole(peak)} at most, ${whole(after)} after.`,
    machineLine(machine),
  ].join('\n\n');
}

/** What usage adds, by processor time. */
function ratioLine(results: readonly Renewed[]): string {
  const secondsOf = (way: Renewed['way']): number => {
    const found = results.find((result) => result.way === way);
    return found === undefined
      ? NaN
      : (found.serverSeconds + found.databaseSeconds) / found.renewals;
  };
  const ratio = secondsOf('usage of both') / secondsOf('two features');
  return `With two lines of usage: ${ratio.toFixed(2)} times the CPU of the same without.`;
}

function latencies({ p50, p99, count }: Latencies): string[] {
  return [whole(count), short(p50), short(p99)];
}
