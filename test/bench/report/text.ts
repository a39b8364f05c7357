// Numbers and tables as Markdown.
import type { Machine } from '../probes/machine.ts';
import type { Spread } from './spread.ts';

/** @param words how many columns are text */
export function table(
  head: readonly string[],
  lines: readonly (readonly string[])[],
  words = 2,
): string {
  const rule = head.map((_, index) => (index < words ? '---' : '---:'));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function spread({ min, median, max }: Spread, print: (value: number) => string): string {
  return min === max ? print(median) : `${print(median)} (${print(min)} to ${print(max)})`;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Three significant digits. */
export function short(value: number): string {
  return value >= 100
    ? whole(value)
    : value
        .toPrecision(3)
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '');
}

export function machineLine(machine: Machine): string {
  return (
    `${machine.processors} x ${machine.model}, ${machine.memoryGib} GiB, ${machine.kernel}, ` +
    `${whole(machine.syncsPerSecond)} fdatasync/s. ` +
    `Bun ${machine.bun}, PostgreSQL ${machine.postgres}, Redis ${machine.redis}.`
  );
}
