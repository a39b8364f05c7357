import { Type } from '@sinclair/typebox';
import type { Timers } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { brandOf } from '../../pages/brand.ts';
import { invoicePage } from '../../pages/invoice.ts';
import { refusedPage } from '../../pages/portal/refused.ts';
import type { InvoiceLinks } from '../../invoices/links.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import { findLinkedInvoice } from '../../records/invoices.ts';
import { brandingOf } from '../../records/organisations.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { SHEET_QUERY, sheetOf } from '../invoice-sheet.ts';
import { sendPage } from '../page.ts';
import { refuseRatePage } from '../edge/rate-limit.ts';

export type InvoiceLinkRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly timers: Timers;
  readonly limiter: RateLimiter;
  readonly settings: Settings;
  readonly invoiceLinks: InvoiceLinks;
};

const OPEN = {
  operationId: 'openInvoiceLink',
  method: 'GET',
  path: '/api/invoices/links/open/{token}',
  summary: 'Show an invoice from the link in a mail',
  description:
    'For whoever got a receipt, without a key. HTML for A4, without scripts: the invoice as it ' +
    'is now.',
  tag: 'Hosted pages',
  params: { token: 'The token at the end of the link in the mail: it is the credential.' },
  query: Type.Object(SHEET_QUERY),
  answers: { 200: Type.String(), 404: Type.String() },
  mediaType: 'text/html',
  refusals: ['rate_limited'],
  at: 'app',
} as const;

export function invoiceLinkRoutes(deps: InvoiceLinkRoutesDeps): Route[] {
  const { edge, sql, timers, limiter, settings, invoiceLinks } = deps;
  const limit = limiter.limit('invoice-link', settings.limits.portal);
  return [
    edge.open(OPEN, async ({ params: { token }, query }) => {
      const id = invoiceLinks.invoiceOf(token);
      if (id === null) return notFound();
      const taken = await limit.take(id);
      if (!taken.allowed) return refuseRatePage(taken);
      const invoice = await findLinkedInvoice(sql, id);
      const sheet = invoice === null ? null : await sheetOf({ sql, timers }, invoice, query);
      if (invoice === null || sheet === null) return notFound();
      const brand = brandOf(await brandingOf(sql, invoice), settings.appUrl);
      return sendPage(invoicePage(sheet, { brand }));
    }),
  ];
}

function notFound(): Response {
  return sendPage(refusedPage('unauthorized'), { status: 404 });
}
