// Lists: the parameters and the response that all of them share, and the connections they are read
// over.
//
// Holds: no page costs more than the first. `after` continues from a row; an offset, whose rows the
// database has to count, is bounded. The row of another tenant is unknown, like one that does not
// exist.
import { Type } from '@sinclair/typebox';
import type { Sql } from '../platform/postgres/postgres.ts';
import { findCustomerByExternalId } from '../records/customers.ts';
import { findPlace, type ListName, type Page, type Whose } from '../records/page.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Principal } from './edge/auth.ts';
import { refuseInvalid } from './edge/errors.ts';
import type { FairSql } from './edge/fair-sql.ts';
import { Uuid } from './wire/values.ts';

const OFFSET_MAX = 10_000;

/** The parameters of a list (decisions 1). */
export const PAGE = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      error: 'must be a whole number from 1 to 200',
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
      'The id of the last row of the page before: the list goes on behind it, however far. Not together with `offset`.',
  }),
};

type PageQuery = {
  readonly limit?: number;
  readonly offset?: number;
  readonly after?: string;
};

/** `rows` returns one row more than the page holds, where there is one. */
export async function answerList<T>(
  lists: FairSql,
  { principal, query }: { readonly principal: Principal; readonly query: PageQuery },
  list: {
    readonly name: ListName;
    readonly whose: Whose;
    readonly rows: (sql: Sql, page: Page) => Promise<readonly T[]>;
    readonly show: (row: T) => unknown;
  },
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
    const rows = await list.rows(sql, { limit, offset, after: place });
    const data = rows.slice(0, limit).map((row) => list.show(row));
    return Response.json({ data, limit, offset, has_more: rows.length > limit });
  });
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
