// The lines of an invoice, page by page: an invoice itself shows the first ones.
import { Type } from '@sinclair/typebox';
import { findInvoice, type InvoiceRecord, listInvoiceLines } from '../../records/invoices.ts';
import type { Cursor } from '../../records/page.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { answerRows, PAGE } from '../list.ts';
import { fromLine, InvoiceLine } from '../wire/invoices.ts';
import { Body, ListOf } from '../wire/values.ts';

const LIST = {
  operationId: 'listInvoiceLines',
  method: 'GET',
  path: '/invoices/{id}/lines',
  client: 'invoices.listLines',
  summary: 'List the lines of an invoice, in their order',
  description:
    'An invoice itself has the first lines; `lines_has_more` says whether there are more.',
  tag: 'Invoices',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: { id: 'The id of the invoice.' },
  query: Body({
    ...PAGE,
    after: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'The id of the last line of the page before: the list continues after it. Not ' +
          'together with `offset`.',
      }),
    ),
  }),
  answers: { 200: ListOf(InvoiceLine) },
  refusals: ['not_found'],
} as const;

type Deps = { readonly edge: Edge; readonly lists: FairSql };

export function readLines({ edge, lists }: Deps): Route {
  return edge.organisation(LIST, ({ principal, params: { id }, query }) =>
    lists.run(principal, async (sql) => {
      const { limit = 50, offset = 0, after } = query;
      const invoice = await findInvoice(sql, principal, id);
      if (invoice === null) return refuse('not_found', 'no such invoice');
      const place = after === undefined ? undefined : placeOf(invoice, after);
      if (place === null) {
        return refuseInvalid([{ path: ['after'], message: 'is not the id of a line of it' }]);
      }
      if (place !== undefined && query.offset !== undefined) {
        return refuseInvalid([{ path: ['after'], message: 'does not go with offset' }]);
      }
      const read = {
        rows: (page: { limit: number; offset: number; after?: Cursor | undefined }) => {
          const first = page.after === undefined ? page.offset : Number(page.after.at);
          return listInvoiceLines(sql, invoice, { first, count: page.limit + 1 });
        },
        behind: (lineId: string) => Promise.resolve(placeOf(invoice, lineId)),
        show: (line: InvoiceRecord['lines'][number]) => fromLine(line, invoice.currency),
      };
      return answerRows(read, { limit, offset, after: place });
    }),
  );
}

/** Lines are numbered from 1 in their ids, and never change. null: it has no such line. */
function placeOf({ id, lineCount }: InvoiceRecord, lineId: string): Cursor | null {
  const number = lineId.startsWith(`${id}-`) ? lineId.slice(id.length + 1) : '';
  const isLine = /^[1-9]\d{0,8}$/.test(number) && Number(number) <= lineCount;
  return isLine ? { id: lineId, at: number } : null;
}
