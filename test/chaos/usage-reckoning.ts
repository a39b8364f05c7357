// What acknowledged usage must cost, reckoned here by itself, and the invoices that billed it. It
// shares no code with the ledger: each event counts in the day and the week of its own time.
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import {
  REQUESTS,
  REQUESTS_A_DAY,
  DAY_MS,
  TOKENS,
  type UsageSales,
  type Used,
} from './usage-sales.ts';

const WEEK_MS = 7 * DAY_MS;
const SHOWN = 5;

/** What was billed as one: a line, and its adjustments. */
type Billed = {
  readonly buyer: string;
  readonly feature: string;
  readonly start: number;
  readonly end: number;
  readonly cents: number;
  /** Lines that are no adjustments. */
  readonly lines: number;
};

/** What is wrong, one line each, when every subscription has ended. */
export async function wrongUsage(sql: Sql, sales: UsageSales): Promise<string[]> {
  return [
    ...sales.faults.slice(0, SHOWN),
    ...(await wrongMoney(sql, sales)).slice(0, SHOWN),
    ...(await unbilledSpans(sql)).slice(0, SHOWN),
    ...(await wrongTotals(sql)).slice(0, SHOWN),
  ];
}

/** Each feature of each buyer, by itself. */
async function wrongMoney(sql: Sql, { starts, acknowledged }: UsageSales): Promise<string[]> {
  const all = await listBilled(sql);
  const wrong: string[] = [];
  for (const [buyer, start] of starts) {
    for (const feature of [REQUESTS, TOKENS]) {
      const isIts = (one: { buyer: string; feature: string }): boolean =>
        one.buyer === buyer && one.feature === feature;
      const lines = all.filter(isIts);
      const used = acknowledged.filter(isIts);
      const found = wrongLines(lines, used, start);
      // What was counted in the millisecond of a change may have come before it. And all of it came
      // before the end, though the clock of a node that was killed may have been ahead of that.
      const cuts = new Set(lines.map((line) => line.start).filter((at) => isCut(at, start)));
      const end = Math.max(...lines.map((line) => line.end));
      const earlier = used.map((one) => {
        const at = cuts.has(one.at) ? one.at - 1 : one.at;
        return { ...one, at: Math.min(at, end - 1) };
      });
      if (wrongLines(lines, earlier, start).length > 0) wrong.push(...found);
    }
  }
  return wrong;
}

/**
 * Lines follow each other without gap or overlap, and each with its adjustments comes to what it
 * costs.
 */
function wrongLines(lines: readonly Billed[], used: readonly Used[], start: number): string[] {
  const wrong: string[] = [];
  const day = (at: number): string => ((at - start) / DAY_MS).toFixed(2);
  let until = start;
  let quantity = 1;
  for (const line of lines) {
    const name = `${line.buyer} ${line.feature} days ${day(line.start)} to ${day(line.end)}`;
    if (line.start !== until) wrong.push(`${name}: the line before ends at ${day(until)}`);
    // A change has made it one more, and so is what is included.
    if (isCut(line.start, start)) quantity += 1;
    const is = `${line.lines} lines, ${line.cents} cents`;
    const cents = costOf(used, line, { start, included: quantity * REQUESTS_A_DAY });
    const should = `1 lines, ${cents} cents`;
    if (is !== should) wrong.push(`${name} was billed ${is}, it must be ${should}`);
    until = line.end;
  }
  return used.some(({ at }) => at >= until)
    ? [...wrong, `day ${day(until)} is the last one`]
    : wrong;
}

/** Whether a change begins something then; periods begin with a week. */
function isCut(at: number, start: number): boolean {
  return (at - start) % WEEK_MS !== 0;
}

async function listBilled(sql: Sql): Promise<readonly Billed[]> {
  const rows = await sql<(Omit<Billed, 'start' | 'end'> & { start: string; end: string })[]>`
    select c.external_customer_id as buyer, l ->> 'featureKey' as feature, l -> 'period' ->> 'start' as start,
      l -> 'period' ->> 'end' as end, sum((l ->> 'amount')::numeric)::int as cents,
      (count(*) filter (where l ->> 'type' = 'usage'))::int as lines
    from invoices i join customers c on c.id = i.customer_id, jsonb_array_elements(i.lines) l
    where i.status <> 'void' and l ? 'usageId' group by l ->> 'usageId', 1, 2, 3, 4 order by 3`;
  return rows.map((row) => ({ ...row, start: Date.parse(row.start), end: Date.parse(row.end) }));
}

/** In cents, rounded half up. Amounts below are in 0.0001 USD. */
function costOf(
  used: readonly Used[],
  billed: Billed,
  plan: { readonly start: number; readonly included: number },
): number {
  const exact =
    billed.feature === REQUESTS
      ? 125 * beyond(used, billed, { ...plan, length: DAY_MS })
      : tokensCost(beyond(used, billed, { ...plan, length: WEEK_MS, included: 0 }));
  return Math.floor((exact + 50) / 100);
}

/** Units past what is included: in each period that the line covers a part of, those of this part. */
function beyond(
  used: readonly Used[],
  billed: Billed,
  { start, length, included }: { start: number; length: number; included: number },
): number {
  let units = 0;
  const first = start + Math.floor((billed.start - start) / length) * length;
  for (let period = first; period < billed.end; period += length) {
    const over = (until: number): number => {
      const counted = used.filter(({ at }) => at >= period && at < until);
      return Math.max(0, counted.reduce((sum, { value }) => sum + value, 0) - included);
    };
    const [from, to] = [Math.max(period, billed.start), Math.min(period + length, billed.end)];
    units += Math.max(0, over(to) - over(from));
  }
  return units;
}

function tokensCost(units: number): number {
  const first = Math.min(units, 30);
  const cost = units === 0 ? 0 : 5000 + 110 * first + 33 * (units - first);
  return Math.min(20_000, Math.max(6000, cost));
}

async function unbilledSpans(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string; ended: boolean }[]>`
    select id, ended_at is not null as ended from usage_spans where billed_as is null`;
  return rows.map(({ id, ended }) => `span ${id} is not billed, ended: ${ended}`);
}

/** All is paid, and totals are the lines: what usage took back beyond a total is still owed. */
async function wrongTotals(sql: Sql): Promise<string[]> {
  const rows = await sql<{ customer: string; paid: number; billed: number; credit: number }[]>`
    select i.customer_id as customer, sum(i.amount_paid)::int as paid,
      sum((select sum((l ->> 'amount')::numeric) from jsonb_array_elements(i.lines) l where l ->> 'type' <> 'credit'))::int as billed,
      coalesce((select (b.credit -> 'USD' ->> '$')::int from billing_accounts b where b.customer_id = i.customer_id), 0) as credit
    from invoices i where i.status <> 'void' group by 1`;
  return rows
    .filter(({ paid, billed, credit }) => paid !== billed + credit)
    .map((row) => `paid is not what was billed: ${JSON.stringify(row)}`);
}
