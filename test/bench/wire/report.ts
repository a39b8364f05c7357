import type { Machine } from '../probes/machine.ts';
import { machineLine, short, table, whole } from '../report/text.ts';
import type { Wire } from './wire.ts';

export function wireMarkdown(results: readonly Wire[], machine: Machine): string {
  const rows = results.map(({ frameCalls, callsPerSecond, askerUs, answererUs }) => [
    String(frameCalls),
    whole(callsPerSecond),
    short(askerUs),
    short(answererUs),
  ]);
  return [
    table(['calls to a frame', 'calls per s', 'CPU us, asking', 'CPU us, answering'], rows),
    'One frame at a time. Processor time is of one call, the kernel included.',
    machineLine(machine),
  ].join('\n\n');
}
