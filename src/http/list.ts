// Lists: the parameters and the response that all of them share, and the connections they are read
// over.
//
// Holds: no page costs more than the first. `after` continues from a row; an offset, whose rows the
// database has to count, is bounded. The row of another tenant is unknown, like one that does not
// exist. A page ends before `limit` rows where the next one would take the answer past its bytes;
// rows are read in portions, so that hardly more is read than is answered.
import { Type } from '@sinclair/typebox';
import type { Sql } from '../platform/postgres/postgres.ts';
import { findCustomerByExternalId } from '../records/customers.ts';
import {
  type Cursor,
  findPlace,
  type ListName,
  type Page,
  placeBehind,
  type Whose,
} from '../records/page.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Principal } from './edge/auth.ts';
import { refuseInvalid } from './edge/errors.ts';
import type { FairSql } from './edge/fair-sql.ts';
import { PageText } from './page-text.ts';
import { Uuid } from './wire/values.ts';

const OFFSET_MAX = 10_000;

/** The parameters of a list (docs/spec/conventions.md#lists). */
export const PAGE = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      error: 'must be a whole number from 1 to 200',
      description:
        'Rows of a page. It has fewer if the next row would exceed 1 MiB: `has_more` is true, ' +
        'and `limit` in the answer is their number.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OFFSET_MAX,
      default: 0,
      error: `must be a whole number from 0 to ${OFFSET_MAX}: further on, use after`,
    }),
  ),
  after: Type.Optional({
    ...Uuid,
    description:
      'The id of the last row of the page before: the list continues after it. Not together ' +
      'with `offset`.',
  }),
};

type PageQuery = {
  readonly limit?: number;
  readonly offset?: number;
  readonly after?: string;
};

type Listed<T> = {
  /**
   * Rows that are read first: they say how many more are read at once. Few where one may be large.
   */
  readonly portion?: number;
  readonly name: ListName;
  readonly whose: Whose;
  /** One row more than the page holds, where there is one. */
  readonly rows: (sql: Sql, page: Page) => Promise<readonly T[]>;
  readonly show: (row: T) => { readonly id: string };
};

export async function answerList<T>(
  lists: FairSql,
  { principal, query }: { readonly principal: Principal; readonly query: PageQuery },
  list: Listed<T>,
): Promise<Response> {
  const { limit = 50, offset = 0, after } = query;
  if (after !== undefined && query.offset !== undefined) {
    return refuseInvalid([{ path: ['after'], message: 'does not go with offset' }]);
  }
  return lists.run(principal, async (sql) => {
    const place = after === undefined ? undefined : await findPlace(sql, list, after);
    if (place === null) {
      return refuseInvalid([{ path: ['after'], message: 'is not the id of a row of this list' }]);
    }
    const read = {
      portion: list.portion,
      rows: (page: Page) => list.rows(sql, page),
      behind: (id: string) => placeBehind(sql, list, id),
      show: list.show,
    };
    return answerRows(read, { limit, offset, after: place });
  });
}

type Read<T> = {
  readonly portion?: number | undefined;
  /** One row more than the page holds, where there is one. */
  readonly rows: (page: Page) => Promise<readonly T[]>;
  /** Where the row is that was shown last; null where it is gone meanwhile. */
  readonly behind: (id: string) => Promise<Cursor | null>;
  readonly show: (row: T) => { readonly id: string };
};

/** The page, as far as its rows fit into an answer. */
export async function answerRows<T>(read: Read<T>, page: Page): Promise<Response> {
  const { text, hasMore } = await readRows(read, page);
  // Where bytes have ended it, whoever goes on by offset misses none either.
  const limit = hasMore ? text.rows : page.limit;
  return text.answer({ limit, offset: page.offset, has_more: hasMore });
}

const PORTION_ROWS = 20;

async function readRows<T>(
  read: Read<T>,
  { limit, offset, after }: Page,
): Promise<{ readonly text: PageText; readonly hasMore: boolean }> {
  const text = new PageText();
  let portion: Page = { limit: Math.min(limit, read.portion ?? PORTION_ROWS), offset, after };
  for (;;) {
    const rows = await read.rows(portion);
    let last = '';
    for (const row of rows.slice(0, portion.limit)) {
      const shown = read.show(row);
      if (!text.add(shown)) return { text, hasMore: true };
      last = shown.id;
    }
    if (rows.length <= portion.limit) return { text, hasMore: false };
    if (text.rows >= limit) return { text, hasMore: true };
    const behind = await read.behind(last);
    if (behind === null) return { text, hasMore: true };
    // Those that follow may be larger than those before: not many more at once than there were.
    const next = Math.min(limit - text.rows, text.rowsLeft(), 2 * portion.limit);
    portion = { limit: next, offset: 0, after: behind };
  }
}

type OfCustomer = { readonly customer_id?: string; readonly external_customer_id?: string };

/**
 * Filters by a customer that either id names, or by none; nothing matches where the two ids name
 * different customers.
 */
export function ofCustomer<T>(
  scope: Tenant,
  { customer_id: id, external_customer_id: externalId }: OfCustomer,
  rows: (sql: Sql, page: Page, customerId: string | undefined) => Promise<readonly T[]>,
): (sql: Sql, page: Page) => Promise<readonly T[]> {
  if (externalId === undefined) return (sql, page) => rows(sql, page, id);
  return async (sql, page) => {
    const customer = await findCustomerByExternalId(sql, scope, externalId);
    const isNamed = customer !== null && (id === undefined || id.toLowerCase() === customer.id);
    return isNamed ? rows(sql, page, customer.id) : [];
  };
}
