// A page of a list: newest first, from a row on.
//
// How it works: each list has one order, which an index gives; the id makes it total. `after` names
// the last row that was seen. The rows after it in that order are the next page.
// Holds: no gap and no repeat, whatever is added at the front meanwhile, and the last page costs as
// much as the first. An offset is counted row by row, so it is bounded (src/http/edge/query.ts).
// Does not: apply the list's filters to the row of `after`. It may have changed since; its place is
// what counts.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { PendingQuery, Row } from 'postgres';
import type { Executor } from '../platform/postgres/postgres.ts';
import { isUuid } from './uuid.ts';

type By = {
  readonly column: string;
  readonly type: string;
  /** Whether no two rows of the list have the same value. */
  readonly isTotal?: boolean;
};

const BY_TIME: By = { column: 'created_at', type: 'timestamptz' };

/**
 * Each list: its table, and the column of its order before the id; null where the id alone gives
 * the order.
 */
const LISTS = {
  alerts: { table: 'alerts', by: null },
  annotations: { table: 'annotations', by: null },
  apiKeys: { table: 'api_keys', by: null },
  auditLog: { table: 'audit_log', by: { column: 'at', type: 'timestamptz' } },
  checkouts: { table: 'checkouts', by: null },
  customers: { table: 'customers', by: null },
  deliveries: { table: 'deliveries', by: null },
  discounts: { table: 'discounts', by: null },
  entitlements: { table: 'entitlements', by: null },
  events: { table: 'events', by: { column: 'at', type: 'timestamptz' } },
  // The same order: the times of an object's events ascend with their sequence.
  eventsOfObject: { table: 'events', by: { column: 'sequence', type: 'bigint', isTotal: true } },
  invitations: { table: 'invitations', by: null },
  invoices: { table: 'invoices', by: BY_TIME },
  members: { table: 'organisation_members', by: null },
  meters: { table: 'meters', by: null },
  payments: { table: 'payments', by: BY_TIME },
  payouts: { table: 'payouts', by: BY_TIME },
  products: { table: 'products', by: null },
  refunds: { table: 'refunds', by: BY_TIME },
  subscriptions: { table: 'subscriptions', by: BY_TIME },
  usagePrices: { table: 'usage_prices', by: null },
  webhookEndpoints: { table: 'webhook_endpoints', by: null },
} as const satisfies Readonly<Record<string, { readonly table: string; readonly by: By | null }>>;

export type ListName = keyof typeof LISTS;

/** Columns that name the owner of a list, with their values, or with what they are not. */
export type Whose = Readonly<Record<string, string | number | { readonly isNot: string }>>;

type Fragment = PendingQuery<Row[]>;

/** Where a row is in its list. `at` is text, because a Date has no microseconds. */
export type Cursor = { readonly id: string; readonly at: string | null };

/** Up to one row more than `limit` is read: it tells whether there is more. */
export type Page = {
  readonly limit: number;
  readonly offset: number;
  readonly after?: Cursor | undefined;
};

/**
 * null where the owner has no row with this id. A deleted row has its place as long as it is kept.
 */
export async function findPlace(
  sql: Executor,
  list: { readonly name: ListName; readonly whose: Whose },
  id: string,
): Promise<Cursor | null> {
  if (!isUuid(id)) return null;
  const { table, by } = LISTS[list.name];
  const owned = Object.entries(list.whose).map(([column, value]) =>
    typeof value === 'object'
      ? sql`and ${sql(column)} is distinct from ${value.isNot}`
      : sql`and ${sql(column)} = ${value}`,
  );
  const [row] = await sql<Cursor[]>`
    select id, ${by === null ? sql`null` : sql`${sql(by.column)}::text`} as at
    from ${sql(table)} where id = ${id} ${owned}`;
  return row ?? null;
}

/** Where a row is that was just read. null where it is gone meanwhile. */
export async function placeBehind(
  sql: Executor,
  list: { readonly name: ListName; readonly whose: Whose },
  id: string,
): Promise<Cursor | null> {
  return LISTS[list.name].by === null ? { id, at: null } : findPlace(sql, list, id);
}

/** The columns that all rows of an organisation share, in one mode. */
export function ofScope({ organisationId, mode }: Tenant): Whose {
  return { organisation_id: organisationId, mode };
}

/** The end of a list's statement, after its conditions. */
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
