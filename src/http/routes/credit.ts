import { Type } from '@sinclair/typebox';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Ids } from '../../../ledger/ports.ts';
import { type CreditAsked, type CreditOfCurrency, readCredit } from '../../invoices/credit.ts';
import { CREDIT_ENTRIES_MAX, CUSTOMER_ROWS_MAX } from '../../platform/answer-bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findCustomer } from '../../records/customers.ts';
import { cursors, NOT_A_CURSOR } from '../cursor.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { isStorableText } from '../edge/json.ts';
import { PageText } from '../page-text.ts';
import {
  Credit,
  CreditEntries,
  CreditEntriesQuery,
  fromCredit,
  fromEntry,
} from '../wire/credit.ts';
import { Uuid } from '../wire/values.ts';

type CreditDeps = { readonly edge: Edge; readonly lists: FairSql; readonly ids: Ids };

const tag = 'Customers';
const params = { id: "The id of the customer, or the merchant's own (external_customer_id)." };

const READ = {
  operationId: 'getCredit',
  method: 'GET',
  path: '/customers/{id}/credit',
  client: 'customers.retrieveCredit',
  summary: 'Get the credit of a customer',
  description:
    "What later invoices of the customer's subscriptions use before anything is charged, by " +
    'currency, with the newest entries. A currency that never had credit is not listed.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Credit },
  refusals: ['not_found'],
} as const;

const LIST = {
  operationId: 'listCreditEntries',
  method: 'GET',
  path: '/customers/{id}/credit/entries',
  client: 'customers.listCreditEntries',
  summary: 'List the credit entries of a customer, newest first',
  description: 'In one currency. `next_cursor` is set while there are more.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  query: CreditEntriesQuery,
  answers: { 200: CreditEntries },
  refusals: ['not_found'],
} as const;

const PLACES = cursors(Type.Object({ at: Type.Integer(), id: Uuid }));

export function creditRoutes(deps: CreditDeps): Route[] {
  return [readRoute(deps), listRoute(deps)];
}

function readRoute({ edge, lists, ids }: CreditDeps): Route {
  return edge.organisation(READ, ({ principal, params: { id } }) =>
    lists.run(principal, async (sql) => {
      const asked = { most: CREDIT_ENTRIES_MAX, behind: null };
      const credit = await creditOf(sql, principal, { ids, id, asked });
      return credit === null ? noCustomer() : Response.json({ data: credit.map(fromCredit) });
    }),
  );
}

function listRoute({ edge, lists, ids }: CreditDeps): Route {
  return edge.organisation(LIST, ({ principal, params: { id }, query }) => {
    const after = PLACES.read(query.cursor);
    if (after === 'none') return refuseInvalid([NOT_A_CURSOR]);
    const currency = query.currency.toUpperCase();
    const { limit = CUSTOMER_ROWS_MAX } = query;
    const behind = after === null ? null : { id: after.id, at: new Date(after.at) };
    return lists.run(principal, async (sql) => {
      const asked = { most: limit, behind };
      const credit = await creditOf(sql, principal, { ids, id, asked });
      if (credit === null) return noCustomer();
      return pageOf(
        currency,
        credit.find((one) => one.currency === currency),
      );
    });
  });
}

const noCustomer = () => refuse('not_found', 'no such customer');

/** null where there is no such customer. */
async function creditOf(
  sql: Sql,
  scope: Tenant,
  { ids, id, asked }: { readonly ids: Ids; readonly id: string; readonly asked: CreditAsked },
): Promise<CreditOfCurrency[] | null> {
  const customer = isStorableText(id) ? await findCustomer(sql, scope, id) : null;
  return customer === null ? null : readCredit(sql, ids, { customerId: customer.id, ...asked });
}

function pageOf(currency: string, credit: CreditOfCurrency | undefined): Response {
  const page = new PageText();
  let next: string | null = null;
  for (const entry of credit?.entries ?? []) {
    if (!page.add(fromEntry(entry, currency))) return page.answer({ next_cursor: next });
    next = PLACES.write({ at: entry.at.getTime(), id: entry.id });
  }
  return page.answer({ next_cursor: credit?.hasMore === true ? next : null });
}
