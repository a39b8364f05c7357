import type { Machine } from '../probes/machine.ts';
import { machineLine, short, table, whole } from '../report/text.ts';
import { CACHED, type Segment } from './memory.ts';
import { slopeOf } from './slope.ts';

const MIB = 2 ** 20;

/** Growth of the resident memory over the second half, in megabytes a minute. */
export function growthOf(segments: readonly Segment[]): number {
  const second = segments.slice(Math.floor(segments.length / 2));
  return slopeOf(second.flatMap(({ resident }) => resident)) * (60 / MIB);
}

/** Each tenth of the time is a line. */
export function memoryMarkdown(
  segments: readonly Segment[],
  { customers, machine }: { customers: number; machine: Machine },
): string {
  const step = Math.max(Math.floor(segments.length / 10), 1);
  const shown = segments.filter((_, index) => index % step === step - 1);
  const missed = 1 - Math.min(CACHED / customers, 1);
  const lines = shown.map((segment) => [
    `${whole(segment.atSeconds)} s`,
    whole(segment.requestsPerSecond),
    whole(segment.requestsPerSecond * missed),
    short(segment.p99Micros / 1000),
    whole((segment.resident.at(-1)?.[1] ?? 0) / MIB),
  ]);
  return [
    table(['after', 'requests/s', 'loads/s', 'p99 ms', 'server MiB'], lines),
    `${whole(customers)} customers, ${whole(CACHED)} in memory, \`/check\` and \`/track\` in turn over all of them. ` +
      `Loads are reckoned from the share that cannot be in memory. ` +
      `Growth over the second half: ${growthOf(segments).toFixed(2)} MiB a minute (least squares).`,
    machineLine(machine),
  ].join('\n\n');
}
