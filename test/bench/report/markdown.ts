// The result as Markdown, for a terminal and for a README.
import { isOfMoney, type WayName } from '../cases.ts';
import { REFUND } from '../generator/workload.ts';
import type { Machine } from '../probes/machine.ts';
import type { Row } from '../rounds.ts';
import type { Goal } from './goals.ts';
import { type Spread, spreadOf, type Summary, summaryOf } from './summary.ts';

const WAYS: Record<WayName, string> = {
  tollhouse: '**Tollhouse**',
  limit: 'limit',
  plain: 'plain',
  lossy: 'lossy',
};

const LEGEND = `Rates are the median of the rounds (least to most), latencies are of all rounds together. CPU seconds are per
10,000 requests: server, database (for "lossy": Redis), load generator. *limit*: the same Elysia route and schema with
a constant answer. *plain*: one PostgreSQL transaction a request, \`SELECT ... FOR UPDATE\`, insert, update. *lossy*: one
Redis Lua script a request, append-only file off. All of it shared the processors below.`;

const MONEY_LEGEND = `A refund is of ${REFUND}. *plain*: a transaction that locks the payment's row and inserts the refund as pending, the same
sandbox processor's one statement, and a transaction that posts it, writes its event, the invoice and the invoice's event; a
checkout is a select and an insert. Tollhouse writes the invoice after the answer: the time until the last one is written counts
in its rate. A row is a refund or a checkout, with all that belongs to it; *limit* and *lossy* keep no money.`;

export function markdownOf(rows: readonly Row[], goals: readonly Goal[], machine: Machine): string {
  const sections = [
    resultTable(rows),
    LEGEND,
    rows.some(({ case: item }) => isOfMoney(item)) ? MONEY_LEGEND : '',
    goalTable(goals),
    `${machineLine(machine)} ${othersLine(rows)}`,
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function resultTable(rows: readonly Row[]): string {
  return table(
    [
      'case',
      'way',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'p99.9 ms',
      'errors',
      'rows a flush',
      'CPU s',
      'WAL B/row',
      'table B/row',
    ],
    rows.flatMap((row) =>
      [...row.measured].map(([way, rounds], index) => {
        const summary = summaryOf(row.case, rounds);
        return [
          index === 0 ? titleOf(row) : '',
          WAYS[way],
          rateOf(row, summary),
          ...costsOf(summary),
        ];
      }),
    ),
  );
}

function titleOf({ case: item, ratePerSecond }: Row): string {
  return ratePerSecond === null ? item.title : `${item.title}, ${whole(ratePerSecond)}/s offered`;
}

function rateOf({ case: item }: Row, { requestsPerSecond }: Summary): string {
  const { median } = requestsPerSecond;
  const events = item.events > 1 ? `, ${whole(median * item.events)} events/s` : '';
  return spread(requestsPerSecond, whole) + events;
}

function costsOf(summary: Summary): string[] {
  const { p50, p99, p999 } = summary.latencyMicros;
  const { server, database, generator } = summary.secondsPer10k;
  return [
    ...[p50, p99, p999].map((micros) => short(micros / 1000)),
    String(summary.errors),
    summary.rowsPerFlush === null ? '' : short(summary.rowsPerFlush),
    [server, database, generator].map((seconds) => seconds.toFixed(2)).join(' / '),
    summary.walBytesPerEvent === null ? '' : whole(summary.walBytesPerEvent),
    summary.tableBytesPerEvent === null ? '' : whole(summary.tableBytesPerEvent),
  ];
}

function goalTable(goals: readonly Goal[]): string {
  if (goals.length === 0) return '';
  return table(
    ['goal', 'target', 'here', 'reached'],
    goals.map(({ title, beside, target, reached, isReached }) => [
      beside === null ? `${title}: events/s` : `${title}: times ${beside}`,
      target === null ? '' : beside === null ? whole(target) : String(target),
      spread(reached, beside === null ? whole : short),
      isReached === null ? '' : isReached ? 'yes' : 'no',
    ]),
  );
}

export function machineLine(machine: Machine): string {
  return (
    `${machine.processors} x ${machine.model}, ${machine.memoryGib} GiB, ${machine.kernel}, ` +
    `${whole(machine.syncsPerSecond)} fdatasync/s. ` +
    `Bun ${machine.bun}, PostgreSQL ${machine.postgres}, Redis ${machine.redis}.`
  );
}

function othersLine(rows: readonly Row[]): string {
  const others = rows.flatMap(({ measured }) =>
    [...measured.values()].flat().map(({ othersProcessors }) => othersProcessors),
  );
  const [median, most] = [spreadOf(others).median, Math.max(...others)];
  return `Others used ${median.toFixed(2)} processors meanwhile (median), ${most.toFixed(2)} at most.`;
}

export function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index < 2 ? '---' : '---:'));
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
