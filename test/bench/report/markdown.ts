// The result as Markdown, for a terminal and for a README: first what a request costs, then rates
// beside those of other ways, then rates and latencies.
import { isOfMoney, type WayName } from '../cases.ts';
import { REFUND } from '../generator/workload.ts';
import type { Row } from '../rounds.ts';
import { type Change, figuresIn } from './comparison.ts';
import { FIGURES, type Figure, type Figures } from './figures.ts';
import { type Goal, isMost } from './goals.ts';
import type { Report } from './json.ts';
import { ratioByRound, spreadOf } from './spread.ts';
import { machineLine, short, spread, table, whole } from './text.ts';

const WAYS: Record<WayName, string> = {
  tollhouse: '**Tollhouse**',
  before: 'before',
  limit: 'limit',
  plain: 'plain',
  lossy: 'lossy',
  'limiter-redis': 'rate-limiter-flexible, Redis',
  'limiter-postgres': 'rate-limiter-flexible, PostgreSQL',
};

const COSTS: readonly Figure[] = ['server', 'postgres', 'redis', 'flush', 'wal', 'table', 'memory'];
const RATES: readonly Figure[] = ['rate', 'p50', 'p99', 'p999'];

const LEGEND = `Each figure is the median of the rounds (least to most). Microseconds of processor time and bytes are of
one event where a request has many, else of one request. *limit*: the same Elysia route and schema with a constant answer.
*plain*: one PostgreSQL transaction a request, \`SELECT ... FOR UPDATE\`, insert, update. *lossy*: one Redis Lua script a
request, append-only file off. *rate-limiter-flexible*: its \`consume\` and \`get\`, no keys and no events. All of it shared the
processors below.`;

const MONEY_LEGEND = `A refund is of ${REFUND}. *plain*: a transaction that locks the payment's row and inserts the refund as pending, the same
sandbox processor's one statement, and a transaction that posts it, writes its event, the invoice and the invoice's event; a
checkout is a select and an insert. Tollhouse writes the invoice after the answer: the time until the last one is written counts
in its rate. *limit* and *lossy* keep no money.`;

export function markdownOf(rows: readonly Row[], report: Report): string {
  const sections = [
    goalTable(rows, report.goals),
    changeTable(rows, report.changes),
    figureTable(rows, report, COSTS),
    ratioTable(rows, report),
    figureTable(rows, report, RATES),
    LEGEND,
    rows.some(({ case: item }) => isOfMoney(item)) ? MONEY_LEGEND : '',
    `${machineLine(report.machine)} ${othersLine(rows)}`,
    report.problems.join('\n'),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function figureTable(
  rows: readonly Row[],
  { results }: Report,
  figures: readonly Figure[],
): string {
  return table(
    ['case', 'way', ...figures.map((figure) => FIGURES[figure])],
    rows.flatMap((row) =>
      [...row.measured.keys()].map((way, index) => {
        const has = figuresIn(results, { case: row.case.name, way });
        const cells = figures.map((figure) => cell(has?.[figure] ?? []));
        return [index === 0 ? titleOf(row) : '', WAYS[way], ...cells];
      }),
    ),
  );
}

/** Our rate divided by theirs. */
function ratioTable(rows: readonly Row[], { results }: Report): string {
  const others = [...new Set(rows.flatMap(({ measured }) => [...measured.keys()]))].filter(
    (way) => way !== 'tollhouse' && way !== 'before',
  );
  if (others.length === 0) return '';
  return table(
    ['rate of Tollhouse divided by that of', ...others.map((way) => WAYS[way])],
    rows.map((row) => {
      const figuresOf = (way: WayName) => figuresIn(results, { case: row.case.name, way });
      const ours = figuresOf('tollhouse')?.rate ?? [];
      const cells = others.map((way) => {
        const theirs = figuresOf(way);
        return theirs === undefined ? '' : spread(ratioByRound(ours, theirs.rate), short);
      });
      return [titleOf(row), ...cells];
    }),
    1,
  );
}

function changeTable(rows: readonly Row[], changes: readonly Change[]): string {
  if (changes.length === 0) return '';
  return table(
    ['case', 'figure', 'before', 'after', 'after / before'],
    rows.flatMap((row) =>
      changes
        .filter((change) => change.case === row.case.name)
        .map(({ figure, before, after, ratio }, index) => [
          index === 0 ? titleOf(row) : '',
          FIGURES[figure],
          spread(before, short),
          spread(after, short),
          spread(ratio, (value) => value.toFixed(2)),
        ]),
    ),
  );
}

function goalTable(rows: readonly Row[], goals: readonly Goal[]): string {
  if (goals.length === 0) return '';
  const hasBefore = goals.some(({ before }) => before !== null);
  const titles = new Map(rows.map(({ case: item }) => [item.name, item.title]));
  return table(
    ['goal', 'of', ...(hasBefore ? ['before'] : []), 'target', 'here', 'reached'],
    goals.map((goal) => [
      titles.get(goal.case) ?? goal.case,
      nameOf(goal),
      ...(hasBefore ? [goal.before === null ? '' : spread(goal.before, short)] : []),
      goal.target === null
        ? ''
        : `${goal.target.toLocaleString('en-US')} at ${isMost(goal) ? 'most' : 'least'}`,
      spread(goal.here, short),
      goal.isReached === null ? '' : goal.isReached ? 'yes' : 'no',
    ]),
  );
}

function nameOf({ of }: Goal): string {
  if (typeof of === 'string') return of;
  return 'figure' in of ? FIGURES[of.figure] : `rate, times ${WAYS[of.rateOver]}`;
}

function titleOf({ case: { title }, ratePerSecond }: Row): string {
  return ratePerSecond === null ? title : `${title}, ${whole(ratePerSecond)}/s offered`;
}

function cell(values: Figures[Figure]): string {
  return values.length === 0 ? '' : spread(spreadOf(values), short);
}

function othersLine(rows: readonly Row[]): string {
  const others = rows.flatMap(({ measured }) =>
    [...measured.values()].flat().map(({ othersProcessors }) => othersProcessors),
  );
  const { median, max } = spreadOf(others);
  return `Others used ${median.toFixed(2)} processors meanwhile (median), ${max.toFixed(2)} at most.`;
}
