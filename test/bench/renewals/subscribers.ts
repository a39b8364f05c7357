// Makes a hundred thousand subscribers without as many checkouts: one buyer pays on the hosted
// page, and the rows that this left are copied with other ids, numbers and times. So all other
// columns hold what the code writes.
//
// Holds: the other sides of the transfers get their sums and the invoices their numbers, so that
// `admin audit` stays clean. No running process may have the accounts in memory while this writes.
// Each subscriber's first period has just ended.
import { boundary } from '../../../ledger/kernel/calendar.ts';
import { entitlementId, periodAccountId } from '../../../ledger/kernel/derived-ids.ts';
import { slotOf } from '../../../ledger/kernel/slot.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { customerName } from '../generator/workload.ts';

const BATCH = 500;
/** Longer than any month: a period that began this long ago is over. */
const MONTH_MS = 31 * 86_400_000;

/**
 * Ids, times in two spellings, and markers of the original: its name, its invoice's number and its
 * slots.
 */
const MARKS = [
  '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)`,
  customerName(0),
  String.raw`INV-\d{4}-\d+`,
  '@[a-z]+',
];

/** Rows of one table as JSON, with markers where copies differ. */
type Template = { readonly table: string; readonly rows: readonly string[] };

type Original = {
  readonly customerId: string;
  readonly meterIds: readonly string[];
  readonly paymentId: string;
  readonly token: string;
  readonly anchor: number;
  readonly periodEnd: number;
};

/**
 * Copies the only subscriber as numbers 1 to count - 1, and spreads the ends of the first periods
 * over the past hour.
 */
export async function cloneSubscriber(
  sql: Sql,
  { count, now }: { readonly count: number; readonly now: number },
): Promise<void> {
  const original = await findOriginal(sql);
  const templates = await readTemplates(sql, original);
  const shared = new Set(await listShared(sql));
  // The original is written again with the copies, so that its times move like theirs.
  for (const { table } of templates.toReversed()) {
    await sql`delete from ${sql(table)} r where ${isIts(sql, table, original)}`;
  }
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    const copies = Array.from({ length: size }, (_, index) => {
      const number = from + index;
      const anchor = now - MONTH_MS - Math.floor((3_600_000 * number) / count);
      return copierOf(original, shared, { number, anchor });
    });
    await sql.begin(async (transaction) => {
      for (const { table, rows } of templates) {
        const copied = copies.flatMap((copy) => rows.map(copy));
        await transaction`
          insert into ${sql(table)} select * from jsonb_populate_recordset(null::${sql(table)}, ${`[${copied.join()}]`}::text::jsonb)`;
      }
    });
  }
  await sql`
    update node_balances set debits_posted = debits_posted * ${count}::bigint,
      credits_posted = credits_posted * ${count}::bigint`;
  await tellNobody(sql);
  await sql`update invoice_counters set last = ${count}, issued_at = ${new Date(now - MONTH_MS)}`;
  await sql`vacuum analyze`;
}

/** The events were passed on long ago: no endpoint was there to hear of them. */
async function tellNobody(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`delete from event_fanouts`;
    await transaction`
      insert into event_fanouts (event_id, owed, position, organisation_id, mode)
      select q.event_id, 0, row_number() over (order by q.place), e.organisation_id, e.mode
      from event_queue q join events e on e.id = q.event_id`;
    await transaction`
      update event_relay set position = (select count(*) from event_fanouts)`;
    await transaction`delete from event_queue`;
  });
}

async function findOriginal(sql: Sql): Promise<Original> {
  const [found] = await sql<
    (Omit<Original, 'anchor' | 'periodEnd'> & Record<'start' | 'end', Date>)[]
  >`
    select s.customer_id as "customerId", array(select meter_id from customer_meters) as "meterIds", p.id as "paymentId", p.checkout_token as token,
      s.anchor_at as start, s.period_end as end
    from subscriptions s join payments p on p.subscription_id = s.id`;
  if (found === undefined) throw new Error('nobody has subscribed');
  const { start, end, ...names } = found;
  return { ...names, anchor: start.getTime(), periodEnd: end.getTime() };
}

/** In the order of their foreign keys. */
const TABLES = [
  'customers',
  'checkouts',
  'payments',
  'sandbox_charges',
  'payment_methods',
  'invoices',
  'subscriptions',
  'accounts',
  'balances',
  'customer_meters',
  'usage_spans',
  'grants',
  'transfers',
  'alarms',
  'events',
] as const;
type Table = (typeof TABLES)[number];

function isIts(sql: Sql, table: Table, { customerId, paymentId }: Original) {
  const own: Partial<Record<Table, ReturnType<Sql>>> = {
    customers: sql`id = ${customerId}`,
    checkouts: sql`payment_id = ${paymentId}`,
    payments: sql`id = ${paymentId}`,
    sandbox_charges: sql`key = ${paymentId}`,
    accounts: sql`kind in ('meter', 'payment')`,
    // There are no others.
    balances: sql`true`,
    alarms: sql`actor_id = ${customerId}`,
    transfers: sql`kind = 'single'`,
    events: sql`organisation_id = (select organisation_id from customers)`,
  };
  return own[table] ?? sql`customer_id = ${customerId}`;
}

async function readTemplates(
  sql: Sql,
  original: Original,
): Promise<readonly (Template & { table: Table })[]> {
  const { customerId, paymentId, token } = original;
  const marks = new Map([
    [slotOf(customerId), '@customer'],
    [slotOf(paymentId), '@payment'],
  ]);
  if (marks.size < 2) throw new Error('one slot for both: run it again');
  const templates = [];
  for (const table of TABLES) {
    const rows = await sql<{ row: string }[]>`
      select to_json(r)::text as row from ${sql(table)} r where ${isIts(sql, table, original)}`;
    const isMissing = rows.length === 0 && table !== 'usage_spans';
    if (isMissing) throw new Error(`a subscriber has no row in ${table}`);
    const marked = rows.map(({ row }) =>
      row
        .replace(/"slot":(\d+)/, (_, slot: string) => `"slot":${marks.get(Number(slot)) ?? slot}`)
        .replaceAll(token, '@token'),
    );
    templates.push({ table, rows: marked });
  }
  return templates;
}

/** Ids that all subscribers share. */
async function listShared(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from organisations union all select id from products union all select id from prices
    union all select id from entitlements union all select id from meters
    union all select id from usage_prices union all select id from node_balances`;
  return rows.map(({ id }) => id);
}

/**
 * Turns a row of the original into one of a copy. Derived ids are derived again, the others are
 * new.
 */
function copierOf(
  original: Original,
  shared: ReadonlySet<string>,
  { number, anchor }: { readonly number: number; readonly anchor: number },
): (row: string) => string {
  const { meterIds } = original;
  const [customerId, paymentId] = [ids.next(), ids.next()];
  const periodEnd = boundary({ anchor, interval: 'month', count: 1, zone: 'UTC' }, 1);
  const of = (customer: string, start: number) =>
    meterIds.flatMap((meterId) => [
      entitlementId(ids, { customerId: customer, meterId }),
      periodAccountId(ids, { customerId: customer, meterId, start }),
    ]);
  const derived = of(customerId, anchor);
  const known = new Map<string, string>([
    [original.customerId, customerId],
    [original.paymentId, paymentId],
    ...of(original.customerId, original.anchor).map(
      (id, index) => [id, derived[index] ?? ''] as const,
    ),
    [customerName(0), customerName(number)],
    ['@customer', String(slotOf(customerId))],
    ['@payment', String(slotOf(paymentId))],
    ['@token', ids.next().replaceAll('-', '')],
  ]);
  function moved(time: string): string {
    const at = Date.parse(time);
    const isEnd = at >= original.periodEnd;
    return new Date(
      isEnd ? at - original.periodEnd + periodEnd : at - original.anchor + anchor,
    ).toISOString();
  }
  function copied(mark: string): string {
    if (mark.startsWith('INV-'))
      return `INV-${new Date(anchor).getUTCFullYear()}-${String(number + 1).padStart(6, '0')}`;
    return mark.includes('T') ? moved(mark) : ids.next();
  }
  return (row) =>
    row.replaceAll(PATTERN, (mark) => {
      if (shared.has(mark)) return mark;
      const found = known.get(mark) ?? copied(mark);
      known.set(mark, found);
      return found;
    });
}

const PATTERN = new RegExp(MARKS.join('|'), 'g');
