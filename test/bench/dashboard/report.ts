import type { Machine } from '../probes/machine.ts';
import { spreadOf } from '../report/spread.ts';
import { machineLine, short, table, whole } from '../report/text.ts';
import { PAGE_MS_MAX, type Taken } from './dashboard.ts';

/** The longest first: what is too long is marked. */
export function dashboardMarkdown(
  taken: readonly Taken[],
  { customers, machine }: { readonly customers: number; readonly machine: Machine },
): string {
  const rows = taken
    .map((one) => ({ ...one, spread: spreadOf(one.ms) }))
    .toSorted((a, b) => b.spread.median - a.spread.median)
    .map(({ kind, path, status, bytes, spread: { median, max }, slow }) => [
      `${kind === 'page' ? '/dashboard' : ''}${path}${median > PAGE_MS_MAX ? ' **too long**' : ''}`,
      slow.map(({ ms, text }) => `${whole(ms)} ms: \`${text.replaceAll('|', '\\|')}\``).join('; '),
      `${status}`,
      whole(bytes / 1024),
      short(median),
      short(max),
    ]);
  return [
    table(['asked', 'statements above 50 ms', 'status', 'KiB', 'median ms', 'max ms'], rows),
    `Two organisations with ${whole(customers)} customers each; the pages are about the one with the most of everything.`,
    machineLine(machine),
  ].join('\n\n');
}
