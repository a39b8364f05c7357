// What acknowledged usage must cost, reckoned here by itself, and the invoices that billed it. It
// shares no code with the ledger: each event counts in the day and the week of its own time.
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { soldUnits } from '../ledger/sold-units.ts';
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

/** What was billed as one: a line, what later invoices billed of its periods, and its adjustments. */
type Billed = {
  readonly buyer: string;
  readonly feature: string;
  readonly start: number;
  readonly end: number;
  readonly cents: number;
  /** Where its lines start and end. */
  readonly edges: readonly number[];
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
      const cuts = new Set(cutsOf(lines, start));
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
 * No lines overlap, and each with its adjustments comes to what it costs, up to the next one: the rest
 * of a period that a change cut has no line where it costs nothing.
 */
function wrongLines(lines: readonly Billed[], used: readonly Used[], start: number): string[] {
  const wrong: string[] = [];
  const day = (at: number): string => ((at - start) / DAY_MS).toFixed(2);
  let until = start;
  const cuts = cutsOf(lines, start);
  for (const [index, line] of lines.entries()) {
    const name = `${line.buyer} ${line.feature} days ${day(line.start)} to ${day(line.end)}`;
    const isMissing = index === 0 && line.start > start;
    if (isMissing || line.start < until)
      wrong.push(`${name}: the line before ends at ${day(until)}`);
    const end = lines[index + 1]?.start ?? line.end;
    const cents = costOf(used, { ...line, end }, { start, cuts });
    if (line.cents !== cents)
      wrong.push(`${name} was billed ${line.cents} cents, it must be ${cents}`);
    until = line.end;
  }
  return used.some(({ at }) => at >= until)
    ? [...wrong, `day ${day(until)} is the last one`]
    : wrong;
}

/** When changes began: each has made it one more, and so is what is included. */
function cutsOf(lines: readonly Billed[], start: number): readonly number[] {
  const cuts = lines.flatMap((line) => line.edges).filter((at) => isCut(at, start));
  return [...new Set(cuts)].toSorted((one, other) => one - other);
}

/** Whether a change begins something then; periods begin with a day. */
function isCut(at: number, start: number): boolean {
  return (at - start) % DAY_MS !== 0;
}

async function listBilled(sql: Sql): Promise<readonly Billed[]> {
  const rows = await sql<
    (Omit<Billed, 'start' | 'end' | 'edges'> & { starts: string[]; ends: string[] })[]
  >`
    select c.external_customer_id as buyer, l ->> 'featureKey' as feature, array_agg(l -> 'period' ->> 'start') as starts,
      array_agg(l -> 'period' ->> 'end') as ends, sum((l ->> 'amount')::numeric)::int as cents
    from invoices i join customers c on c.id = i.customer_id, jsonb_array_elements(i.lines) l
    where i.status <> 'void' and l ? 'usageId' group by l ->> 'usageId', 1, 2`;
  const billed = rows.map(({ starts, ends, ...row }) => {
    const edges = [...starts, ...ends].map((at) => Date.parse(at));
    return { ...row, start: Math.min(...edges), end: Math.max(...edges), edges };
  });
  return billed.toSorted((one, other) => one.start - other.start);
}

type Plan = { readonly start: number; readonly cuts: readonly number[] };

/** In cents, rounded half up. Amounts below are in 0.0001 USD. */
function costOf(used: readonly Used[], billed: Billed, plan: Plan): number {
  const isDaily = billed.feature === REQUESTS;
  const length = isDaily ? DAY_MS : WEEK_MS;
  let exact = 0;
  const first = plan.start + Math.floor((billed.start - plan.start) / length) * length;
  for (let period = first; period < billed.end; period += length) {
    const until = Math.min(period + length, billed.end);
    const units = soldIn(used, { ...plan, period, until, included: isDaily ? REQUESTS_A_DAY : 0 });
    exact += isDaily ? 125 * units : tokensCost(units, (until - period) / length);
  }
  return Math.floor((exact + 50) / 100);
}

/** Units past what is included in a period. What was billed at a change is paid. */
function soldIn(
  used: readonly Used[],
  { cuts, period, until, included }: Plan & { period: number; until: number; included: number },
): number {
  const edges = [period, ...cuts.filter((at) => at > period && at < until), until];
  const usedBy = (at: number): bigint => {
    const counted = used.filter((one) => one.at >= period && one.at < at);
    return BigInt(
      Math.max(
        0,
        counted.reduce((sum, { value }) => sum + value, 0),
      ),
    );
  };
  const stretches = edges.slice(1).map((end, index) => {
    const from = edges[index] ?? period;
    const quantity = 1 + cuts.filter((at) => at <= from).length;
    return { from: usedBy(from), to: usedBy(end), limit: BigInt(quantity * included) };
  });
  return Number(soldUnits(stretches).reduce((sum, units) => sum + units, 0n));
}

/** The minimum is for the share of the week, to the cent, half up. */
function tokensCost(units: number, share: number): number {
  const first = Math.min(units, 30);
  const cost = units === 0 ? 0 : 5000 + 110 * first + 33 * (units - first);
  return Math.min(20_000, Math.max(100 * Math.round(60 * share), cost));
}

async function unbilledSpans(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string; ended: boolean }[]>`
    select id, ended_at is not null as ended from usage_spans where billed_as is null and live`;
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
