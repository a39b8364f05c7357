import type { Machine } from '../probes/machine.ts';
import { spreadOf } from '../report/spread.ts';
import { machineLine, short, spread, table } from '../report/text.ts';
import type { BinsCost } from './bins.ts';

export function binsMarkdown(costs: readonly BinsCost[], machine: Machine): string {
  const rows = costs.map(({ name, flushUs, foldUs, walBytes }) => [
    name,
    ...[flushUs, foldUs, walBytes].map((values) => spread(spreadOf(values), short)),
  ]);
  return [
    table(['of one event, PostgreSQL', 'flush CPU us', 'CPU us beside', 'WAL bytes'], rows, 1),
    '500 events a flush, of 10,000 accounts at random; folded, or summarized, after 100,000. Median of the rounds (least to most).',
    machineLine(machine),
  ].join('\n\n');
}
