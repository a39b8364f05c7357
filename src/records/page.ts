// A page of a list: newest first, from a row on.
//
// Holds: each list has one order, which an index gives, and the id makes it total. `after` names the last row that was seen: what
// follows it in that order is the next page, without a gap or a repeat, whatever was added at the front meanwhile, at the same cost
// for the last page as for the first. An offset is counted off row by row, so it is bounded (src/http/edge/query.ts).
// Does not: judge the row by the list's filters. It may have changed since, and its place is what counts.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { PendingQuery, Row } from 'postgres';
import type { Executor } from '../platform/postgres/postgres.ts';
import { isUuid } from './uuid.ts';

type By = {
  readonly column: string;
  readonly type: string;
  /** Whether no two rows of the list have the same. */
  readonly isTotal?: boolean;
};

const BY_TIME: By = { column: 'created_at', type: 'timestamptz' };

/** What is listed, and what its order is of before the id; null where the id alone gives it. */
const LISTS = {
  annotations: { table: 'annotations', by: null },
  checkouts: { table: 'checkouts', by: null },
  customers: { table: 'customers', by: null },
  deliveries: { table: 'deliveries', by: null },
  discounts: { table: 'discounts', by: null },
  entitlements: { table: 'entitlements', by: null },
  events: { table: 'events', by: { column: 'at', type: 'timestamptz' } },
  // The same order: the times of an object's events ascend with their sequence.
  eventsOfObject: { table: 'events', by: { column: 'sequence', type: 'bigint', isTotal: true } },
  invoices: { table: 'invoices', by: BY_TIME },
  meters: { table: 'meters', by: null },
  payments: { table: 'payments', by: BY_TIME },
  products: { table: 'products', by: null },
  refunds: { table: 'refunds', by: BY_TIME },
  subscriptions: { table: 'subscriptions', by: BY_TIME },
  webhookEndpoints: { table: 'webhook_endpoints', by: null },
} as const satisfies Readonly<Record<string, { readonly table: string; readonly by: By | null }>>;

export type ListName = keyof typeof LISTS;

/** Columns that name the owner of a list, and what they hold. */
export type Whose = Readonly<Record<string, string | number>>;

type Fragment = PendingQuery<Row[]>;

/** Where a row stands in its list. `at` as text: a Date has no microseconds. */
export type Cursor = { readonly id: string; readonly at: string | null };

/** Up to one row more than `limit` is read: it tells whether there is more. */
export type Page = {
  readonly limit: number;
  readonly offset: number;
  readonly after?: Cursor | undefined;
};

/** null where nothing of this id is among `whose` rows. Deleted ones have their place still, while they are kept. */
export async function findPlace(
  sql: Executor,
  list: { readonly name: ListName; readonly whose: Whose },
  id: string,
): Promise<Cursor | null> {
  if (!isUuid(id)) return null;
  const { table, by } = LISTS[list.name];
  const owned = Object.entries(list.whose).map(
    ([column, value]) => sql`and ${sql(column)} = ${value}`,
  );
  const [row] = await sql<Cursor[]>`
    select id, ${by === null ? sql`null` : sql`${sql(by.column)}::text`} as at
    from ${sql(table)} where id = ${id} ${owned}`;
  return row ?? null;
}

/** What an organisation's rows have in common, in one mode. */
export function ofScope({ organisationId, mode }: Tenant): Whose {
  return { organisation_id: organisationId, mode };
}

/** What ends a list's statement: it follows the conditions. */
export function pageOf(sql: Executor, name: ListName, page: Page): Fragment {
  const { limit, offset, after } = page;
  const { table, by }: { table: string; by: By | null } = LISTS[name];
  const id = sql(`${table}.id`);
  const end = sql`limit ${limit + 1} offset ${offset}`;
  if (by === null) {
    const beyond = after === undefined ? sql`` : sql`and ${id} < ${after.id}`;
    return sql`${beyond} order by ${id} desc ${end}`;
  }
  const column = sql(`${table}.${by.column}`);
  const at = sql`${after?.at ?? null}::text::${sql.unsafe(by.type)}`;
  if (by.isTotal === true) {
    const beyond = after === undefined ? sql`` : sql`and ${column} < ${at}`;
    return sql`${beyond} order by ${column} desc ${end}`;
  }
  const beyond =
    after === undefined ? sql`` : sql`and (${column}, ${id}) < (${at}, ${after.id}::uuid)`;
  return sql`${beyond} order by ${column} desc, ${id} desc ${end}`;
}
