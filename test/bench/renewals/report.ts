import type { Machine } from '../probes/machine.ts';
import { machineLine, short, table, whole } from '../report/text.ts';
import type { Latencies, Renewals, Renewed } from './renewals.ts';

const WAYS: Readonly<Record<Renewed['way'], string>> = {
  tollhouse: '**Tollhouse**',
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
    table(['`/check`', 'asked', 'p50 ms', 'p99 ms'], checks),
    `The server: ${whole(before)} MiB before, ${whole(peak)} at most, ${whole(after)} after.`,
    machineLine(machine),
  ].join('\n\n');
}

function latencies({ p50, p99, count }: Latencies): string[] {
  return [whole(count), short(p50), short(p99)];
}
