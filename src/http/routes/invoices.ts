import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { invoicePage } from '../../pages/invoice.ts';
import type { Sql } from '../../platform/postgres.ts';
import { findInvoice, listInvoices } from '../../records/invoices.ts';
import type { Edge, Route } from '../edge.ts';
import { refuse } from '../errors.ts';
import { sendPage } from '../page.ts';
import { listed, PAGE, pageOf } from '../query.ts';
import { fromInvoice, Invoice, InvoiceStatus } from '../wire/invoices.ts';
import { Body, ListOf, Uuid } from '../wire/values.ts';

export type InvoiceRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  /** Where `hosted_url` leads. */
  readonly appUrl: string;
};

const tag = 'Invoices';
const params = { id: 'The id of the invoice.' };

const LIST = {
  summary: 'List invoices, newest first',
  tag,
  query: Body({
    ...PAGE,
    customer_id: Type.Optional(Uuid),
    subscription_id: Type.Optional(Uuid),
    status: Type.Optional(InvoiceStatus),
  }),
  answers: { 200: ListOf(Invoice) },
} as const;

const READ = {
  summary: 'Get an invoice',
  tag,
  params,
  answers: { 200: Invoice },
  refusals: ['not_found'],
} as const;

const PRINT = {
  summary: 'Get an invoice to print',
  description: 'HTML for A4, without a script.',
  tag,
  params,
  answers: { 200: Type.String() },
  mediaType: 'text/html',
  refusals: ['not_found'],
} as const;

const notFound = () => refuse('not_found', 'no such invoice');

export function invoiceRoutes(deps: InvoiceRoutesDeps) {
  return new Elysia()
    .get('/invoices', ...readInvoices(deps))
    .get('/invoices/:id', ...readInvoice(deps))
    .get('/api/invoices/:id/pdf', ...printInvoice(deps));
}

function readInvoices({ edge, sql, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(LIST, async ({ principal, query }) => {
    const page = pageOf(query);
    const { customer_id: customerId, subscription_id: subscriptionId, status } = query;
    const filter = { customerId, subscriptionId, status };
    const invoices = await listInvoices(sql, principal, { ...page, ...filter });
    const data = invoices.map((invoice) => fromInvoice(invoice, appUrl));
    return Response.json(listed(data, page));
  });
}

function readInvoice({ edge, sql, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const invoice = await findInvoice(sql, principal, id);
    return invoice === null ? notFound() : Response.json(fromInvoice(invoice, appUrl));
  });
}

function printInvoice({ edge, sql }: InvoiceRoutesDeps): Route {
  return edge.organisation(PRINT, async ({ principal, params: { id } }) => {
    const invoice = await findInvoice(sql, principal, id);
    return invoice === null ? notFound() : sendPage(invoicePage(invoice));
  });
}
