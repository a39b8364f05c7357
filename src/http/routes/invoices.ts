import { Type } from '@sinclair/typebox';
import { must, unreachable } from '../../../ledger/kernel/assert.ts';
import type { Ids, OrgClock, Timers } from '../../../ledger/ports.ts';
import { brandOf } from '../../pages/brand.ts';
import { invoicePage } from '../../pages/invoice.ts';
import type { KeyLocks } from '../../platform/postgres/key-locks.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { draftInvoice, finalizeInvoice, issueInvoices } from '../../invoices/issue.ts';
import {
  type Changed,
  findInvoice,
  type InvoiceRecord,
  listInvoices,
} from '../../records/invoices.ts';
import { brandingOf } from '../../records/organisations.ts';
import { INVOICE_TRANSITIONS, type InvoiceAction, refusalOf } from '../../invoices/transitions.ts';
import { tenantOf } from '../../../ledger/kernel/tenant.ts';
import type { PayReply, Subscriptions } from '../../subscriptions/subscriptions.ts';
import { ofScope } from '../../records/page.ts';
import { countFailed } from '../../records/payments.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import {
  type Answer,
  answer,
  once,
  onceRepeatable,
  refusal,
  refusedField,
} from '../idempotency/idempotency.ts';
import { SHEET_QUERY, sheetOf } from '../invoice-sheet.ts';
import { findNamedCustomer } from '../named-customer.ts';
import { sendPage } from '../page.ts';
import { answerList, ofCustomer, PAGE } from '../list.ts';
import type { UsageCsv } from '../usage-csv.ts';
import {
  fromInvoice,
  Invoice,
  InvoiceCreate,
  InvoiceStatus,
  toBill,
  toNewInvoice,
} from '../wire/invoices.ts';
import { Body, ExternalCustomerId, ListOf, Uuid } from '../wire/values.ts';
import { readLines } from './invoice-lines.ts';

export type InvoiceRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly keyLocks: KeyLocks;
  readonly subscriptions: Pick<Subscriptions, 'payInvoice' | 'voidInvoice'>;
  readonly usageCsv: UsageCsv;
  /** The base of `hosted_url`. */
  readonly appUrl: string;
};

const tag = 'Invoices';
const params = { id: 'The id of the invoice.' };

const CREATE = {
  operationId: 'createInvoice',
  method: 'POST',
  path: '/invoices',
  client: 'invoices.create',
  summary: 'Create an invoice',
  description:
    'Issued at once, unless `draft` is true. An invoice with nothing to pay is paid at once.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'invoice' },
  body: InvoiceCreate,
  idempotent: true,
  answers: { 201: Invoice },
  refusals: ['not_found'],
} as const;

const LIST = {
  operationId: 'listInvoices',
  method: 'GET',
  path: '/invoices',
  client: 'invoices.list',
  summary: 'List invoices, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body({
    ...PAGE,
    customer_id: Type.Optional(Uuid),
    external_customer_id: Type.Optional(ExternalCustomerId),
    subscription_id: Type.Optional(Uuid),
    status: Type.Optional(InvoiceStatus),
    number: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The whole number, such as `INV-2026-000123`.',
      }),
    ),
  }),
  answers: { 200: ListOf(Invoice) },
} as const;

const READ = {
  operationId: 'getInvoice',
  method: 'GET',
  path: '/invoices/{id}',
  client: 'invoices.retrieve',
  summary: 'Get an invoice',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Invoice },
  refusals: ['not_found'],
} as const;

const FINALIZE = {
  operationId: 'finalizeInvoice',
  method: 'POST',
  path: '/invoices/{id}/finalize',
  client: 'invoices.finalizeInvoice',
  summary: 'Finalize a draft invoice',
  description: 'It gets its number and is due. Repeating the call changes nothing.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'invoice', before: READ },
  params,
  answers: { 200: Invoice },
  refusals: ['not_found', 'invalid_state'],
} as const;

const PAY = {
  operationId: 'payInvoice',
  method: 'POST',
  path: '/invoices/{id}/pay',
  client: 'invoices.pay',
  summary: 'Charge an invoice now',
  description:
    "Charges the customer's payment method. A charge that is still under way is 202; repeated " +
    'with its `Idempotency-Key` the call answers the outcome. An invoice that is paid already is ' +
    '200. An invoice of a subscription is paid as one of its payments, also after its end. A ' +
    'draft of a pause is not charged while the resume that replaces it waits for its payment.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'invoice', before: READ },
  params,
  idempotent: true,
  answers: { 200: Invoice, 202: Invoice },
  refusals: ['not_found', 'invalid_state', 'payment_failed'],
} as const;

const VOID = {
  operationId: 'voidInvoice',
  method: 'POST',
  path: '/invoices/{id}/void',
  client: 'invoices.voidInvoice',
  summary: 'Void an unpaid invoice',
  description: 'It keeps its number. Repeating the call changes nothing.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'invoice', before: READ },
  params,
  answers: { 200: Invoice },
  refusals: ['not_found', 'invalid_state'],
} as const;

const PRINT = {
  operationId: 'printInvoice',
  method: 'GET',
  path: '/api/invoices/{id}/pdf',
  client: 'invoices.print',
  summary: 'Get an invoice to print',
  description: 'HTML for A4, without scripts.',
  at: 'app',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  query: Body(SHEET_QUERY),
  answers: { 200: Type.String() },
  mediaType: 'text/html',
  refusals: ['not_found'],
} as const;

const USAGE = {
  operationId: 'downloadInvoiceUsage',
  method: 'GET',
  path: '/invoices/{id}/usage.csv',
  client: 'invoices.usage',
  summary: 'Download the usage behind an invoice',
  description: [
    'CSV (RFC 4180, UTF-8) with a row for each recorded event in the time that the usage lines ' +
      'bill, included usage too: `line_id`, `feature_key`, `event_id`, `event_time`, ' +
      '`recorded_time`, `value`, `metadata` (JSON). Rows are grouped by line, the oldest event ' +
      'first. An adjustment has all events of the time that it adjusts, those that were billed ' +
      'before and the late ones. An invoice without usage has only the header.',
    'Keys are not stored: the id of an event with a key is derived from it. Text that a ' +
      'spreadsheet would read as a formula is prefixed with an apostrophe. Usage is kept for as ' +
      'long as the operator has set (`RETENTION_USAGE_MONTHS`): dropped events are missing here.',
    'An organization may have 4 downloads at a time in a mode on a node (429), and a download ' +
      'may take 10 minutes. A download that is cut off fails: it never looks complete.',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Type.String() },
  mediaType: 'text/csv',
  refusals: ['not_found', 'rate_limited'],
} as const;

const NOT_FOUND = 'no such invoice';
const NO_SHEET = 'the invoice has no such sheet';
const BEING_REPLACED =
  'its subscription is being resumed: once that is paid, a new period takes the place of this one';
const notFound = () => refuse('not_found', NOT_FOUND);

export function invoiceRoutes(deps: InvoiceRoutesDeps): Route[] {
  return [
    createInvoice(deps),
    readInvoices(deps),
    readInvoice(deps),
    readLines(deps),
    downloadUsage(deps),
    finalizeOne(deps),
    payOne(deps),
    voidOne(deps),
    printInvoice(deps),
  ];
}

function createInvoice({ edge, sql, ids, orgClock, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(CREATE, ({ principal, body, idempotencyKey: key }) => {
    const bill = toBill(body);
    if ('issues' in bill) return refuseInvalid(bill.issues);
    const now = orgClock.now(principal);
    const attempt = { sql, principal, operation: CREATE, key, body, now };
    return once(attempt, async (transaction) => {
      if (bill.dueAt !== null && bill.dueAt.getTime() <= now) {
        return refusedField('due_at', 'must be in the future');
      }
      const customer = await findNamedCustomer(transaction, principal, body);
      if (customer === null) return refusal('not_found', 'no such customer');
      const invoice = toNewInvoice(ids.next(), bill, customer);
      const issuance = { scope: tenantOf(principal), invoice, now };
      if (body.draft === true) await draftInvoice(transaction, issuance);
      else await issueInvoices(transaction, [{ ...issuance, paidAt: null, eventId: ids.next() }]);
      const made = await findInvoice(transaction, principal, invoice.id);
      return answer(201, fromInvoice(must(made, 'an invoice'), appUrl));
    });
  });
}

function readInvoices({ edge, lists, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const { subscription_id: subscriptionId, status, number } = query;
    return answerList(
      lists,
      { principal, query },
      {
        name: 'invoices',
        // One may have 100 lines of 50 tiers.
        portion: 4,
        whose: ofScope(principal),
        rows: ofCustomer(principal, query, (sql, page, customerId) =>
          listInvoices(sql, principal, { ...page, customerId, subscriptionId, status, number }),
        ),
        show: (invoice: InvoiceRecord) => fromInvoice(invoice, appUrl),
      },
    );
  });
}

function readInvoice({ edge, sql, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const invoice = await findInvoice(sql, principal, id);
    return invoice === null ? notFound() : Response.json(fromInvoice(invoice, appUrl));
  });
}

function downloadUsage({ edge, sql, usageCsv }: InvoiceRoutesDeps): Route {
  return edge.organisation(USAGE, async ({ principal, params: { id }, request }) => {
    const invoice = await findInvoice(sql, principal, id);
    return invoice === null ? notFound() : usageCsv.send(principal, request, invoice);
  });
}

function finalizeOne({ edge, sql, ids, orgClock, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(FINALIZE, async ({ principal, params: { id } }) => {
    const finalizing = { id, eventId: ids.next(), now: orgClock.now(principal) };
    const changed = await sql.begin((transaction) =>
      finalizeInvoice(transaction, principal, finalizing),
    );
    return changedResponse(changed, { what: 'finalize', appUrl });
  });
}

function payOne({
  edge,
  sql,
  orgClock,
  keyLocks,
  subscriptions,
  appUrl,
}: InvoiceRoutesDeps): Route {
  return edge.organisation(PAY, ({ principal, params: { id: given }, idempotencyKey: key }) => {
    const id = given.toLowerCase();
    const now = orgClock.now(principal);
    const scope = tenantOf(principal);
    const begin = async () => String(await countFailed(sql, scope, id));
    const attempt = { sql, keyLocks, principal, operation: PAY, key, body: { id }, begin, now };
    return onceRepeatable(attempt, async (begun) => {
      const failedBefore = begun?.isAgain === true ? Number(begun.text) : null;
      return payAnswer(await subscriptions.payInvoice(scope, id, { failedBefore }), appUrl);
    });
  });
}

function payAnswer(reply: PayReply, appUrl: string): Answer {
  switch (reply.kind) {
    case 'paid':
      return answer(200, fromInvoice(reply.invoice, appUrl));
    case 'pending':
      // A later retry gets what became of it.
      return { ...answer(202, fromInvoice(reply.invoice, appUrl)), isKept: false };
    case 'payment_failed':
      return refusal('payment_failed', reply.message);
    case 'invalid_state':
      return refusal('invalid_state', stateMessage(reply.invoice, 'pay'));
    case 'being_replaced':
      return refusal('invalid_state', BEING_REPLACED);
    case 'not_found':
      return refusal('not_found', NOT_FOUND);
    default:
      return unreachable(reply);
  }
}

function voidOne({ edge, subscriptions, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(VOID, async ({ principal, params: { id } }) => {
    const changed = await subscriptions.voidInvoice(tenantOf(principal), id);
    return changedResponse(changed, { what: 'void', appUrl });
  });
}

function changedResponse(
  changed: Changed | 'not_found',
  { what, appUrl }: { readonly what: InvoiceAction; readonly appUrl: string },
): Response {
  if (changed === 'not_found') return notFound();
  const { kind, invoice } = changed;
  return kind === 'done'
    ? Response.json(fromInvoice(invoice, appUrl))
    : refuse('invalid_state', stateMessage(invoice, what));
}

function stateMessage(invoice: InvoiceRecord, what: InvoiceAction): string {
  if (refusalOf(what, invoice, { isLive: true }) !== 'status') {
    return 'a payment of the invoice is under way: it decides first';
  }
  const wanted = INVOICE_TRANSITIONS[what].from.join(' or ');
  return `the invoice is ${invoice.status}; to ${what} it, it must be ${wanted}`;
}

function printInvoice({ edge, sql, timers, appUrl }: InvoiceRoutesDeps): Route {
  return edge.organisation(PRINT, async ({ principal, params: { id }, query }) => {
    const invoice = await findInvoice(sql, principal, id);
    if (invoice === null) return notFound();
    const sheet = await sheetOf({ sql, timers }, invoice, query);
    if (sheet === null) return refuse('not_found', NO_SHEET);
    const brand = brandOf(await brandingOf(sql, principal), appUrl);
    return sendPage(invoicePage(sheet, { brand }));
  });
}
