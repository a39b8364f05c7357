import type { Machine } from '../probes/machine.ts';
import { machineLine, short, table, whole } from '../report/text.ts';
import type { LedgerCost } from './ledger.ts';

export function ledgerMarkdown(costs: readonly LedgerCost[], machine: Machine): string {
  const rows = costs.map(({ name, us, bytes }) => {
    const sorted = us.toSorted((a, b) => a - b);
    const [least = 0, middle = 0, most = 0] = [0, sorted.length >> 1, -1].map((at) =>
      sorted.at(at),
    );
    return [name, `${short(middle)} (${short(least)} to ${short(most)})`, whole(bytes)];
  });
  return [
    table(['of one event or check', 'CPU us', 'bytes allocated'], rows),
    'The storage answers at once. Processor time is of all threads: median of the rounds.',
    machineLine(machine),
  ].join('\n\n');
}
