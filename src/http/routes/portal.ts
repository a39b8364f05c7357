import { Type } from '@sinclair/typebox';
import type { Ids, OrgClock, Timers } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { brandOf } from '../../pages/brand.ts';
import { invoicePage } from '../../pages/invoice.ts';
import { portalPage } from '../../pages/portal/page.ts';
import type { Processors } from '../../processors/processor.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findInvoice, type InvoiceRecord } from '../../records/invoices.ts';
import { brandingOf } from '../../records/organisations.ts';
import type { Subscriptions } from '../../subscriptions/subscriptions.ts';
import type { PortalPrincipal } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse } from '../edge/errors.ts';
import type { UsageCsv } from '../usage-csv.ts';
import { SHEET_QUERY, sheetOf } from '../invoice-sheet.ts';
import { sendPage } from '../page.ts';
import { act, noticeOf, nothingHere, preview } from '../portal/actions.ts';
import { readMethodForm, replaceMethod } from '../portal/method.ts';
import { switchTopUp } from '../portal/topups.ts';
import { frameOf, isShown, type PortalRecords, portalView } from '../portal/view.ts';
import {
  dayAgain,
  MethodForm,
  PauseForm,
  PortalCancel,
  PortalPause,
  PortalResume,
  PortalTopupSwitch,
  PortalUncancel,
  TopupSwitchForm,
  toPause,
} from '../wire/portal.ts';
import { urlOf } from '../edge/url.ts';
import { AutoTopup } from '../wire/auto-topups.ts';
import { Subscription } from '../wire/subscriptions.ts';
import { READ_AUTO_TOPUP } from './auto-topups.ts';
import { READ_SUBSCRIPTION } from './subscriptions.ts';

export type PortalRoutesDeps = PortalRecords & {
  readonly edge: Edge;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly settings: Settings;
  readonly subscriptions: Subscriptions;
  readonly processors: Processors;
  readonly usageCsv: UsageCsv;
};

const tag = 'Portal';
const params = { token: "The token at the end of the portal's URL: it is the credential." };
const at = 'app';
const page = { tag, params, at, mediaType: 'text/html' } as const;

const READ = {
  ...page,
  operationId: 'showPortal',
  method: 'GET',
  path: '/portal/{token}',
  summary: 'Show the portal page of a customer',
  description:
    'For a browser: subscriptions, usage, payment method, invoices and actions. A bad token is a ' +
    '401 page.',
  audit: 'nothing',
  answers: { 200: Type.String() },
} as const;

const PREVIEW = {
  method: 'GET',
  ...page,
  summary: 'Preview an action on a subscription',
  description:
    'For the customer. `?subscription_id=` names the subscription. The form of the page does it.',
  audit: 'nothing',
  answers: { 200: Type.String(), 303: null, 404: Type.String() },
} as const;

const ACT = {
  tag,
  params,
  at,
  answers: { 200: Subscription, 303: null },
  refusals: ['not_found', 'invalid_state'],
} as const;

const CANCEL = {
  ...ACT,
  operationId: 'cancelInPortal',
  method: 'POST',
  path: '/portal/{token}/cancel',
  summary: 'Cancel a subscription',
  description:
    'At the end of the period or at once. Takes JSON, or the form of the page, which redirects ' +
    'back to it.',
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: PortalCancel,
  form: PortalCancel,
  refusals: ['not_found'],
} as const;

const UNCANCEL = {
  ...ACT,
  operationId: 'uncancelInPortal',
  method: 'POST',
  path: '/portal/{token}/uncancel',
  summary: 'Undo a scheduled cancellation',
  description: 'Without a scheduled cancellation nothing changes.',
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: PortalUncancel,
  form: PortalUncancel,
} as const;

const UNSCHEDULE = {
  ...ACT,
  operationId: 'unscheduleInPortal',
  method: 'POST',
  path: '/portal/{token}/unschedule',
  summary: 'Undo a pending change',
  description:
    'A change that waits for its payment will not take effect. If the bank still pays, the whole ' +
    'payment is refunded.',
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: PortalUncancel,
  form: PortalUncancel,
} as const;

const PAUSE = {
  ...ACT,
  operationId: 'pauseInPortal',
  method: 'POST',
  path: '/portal/{token}/pause',
  summary: 'Pause a subscription',
  description: 'At once, until it is resumed or until `resumes_at`, at most a year from now.',
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: PortalPause,
  form: PauseForm,
} as const;

const RESUME = {
  ...ACT,
  operationId: 'resumeInPortal',
  method: 'POST',
  path: '/portal/{token}/resume',
  summary: 'Resume a subscription',
  description:
    'Within the paid period nothing is charged. After it a new period begins when its payment ' +
    'succeeds. An active subscription stays as it is.',
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: PortalResume,
  form: PortalResume,
  refusals: ['not_found', 'invalid_state', 'payment_failed'],
} as const;

const REPLACE = {
  ...page,
  operationId: 'replacePaymentMethod',
  method: 'POST',
  path: '/portal/{token}/payment-method',
  summary: 'Replace the payment method',
  description:
    "What the form of the page sends. Redirects to the processor's page, if it has one, and " +
    'back. Overdue invoices are charged again at once.',
  page: 'payment_method',
  audit: { object: 'customer' },
  form: MethodForm,
  answers: { 303: null, 400: Type.String(), 402: Type.String(), 404: Type.String() },
} as const;

const METHOD = {
  ...page,
  operationId: 'showPaymentMethodForm',
  method: 'GET',
  path: '/portal/{token}/payment-method',
  summary: 'Show the payment method form',
  description:
    'A bank that asked for confirmation, and the page of a processor, lead back here. 404 if the ' +
    'method cannot be replaced.',
  page: 'payment_method',
  audit: { object: 'customer', as: REPLACE.operationId },
  answers: { 200: Type.String(), 303: null, 402: Type.String(), 404: Type.String() },
} as const;

const SWITCH = {
  ...ACT,
  operationId: 'switchAutoTopupInPortal',
  method: 'POST',
  path: '/portal/{token}/auto-topups/{feature_key}',
  summary: 'Turn an automatic top-up on or off',
  description:
    'A charge under way is not canceled. Takes JSON, or the form of the page, which redirects ' +
    'back to it.',
  audit: { object: 'auto_topup', before: READ_AUTO_TOPUP },
  params: { ...params, feature_key: 'The slug of the meter.' },
  body: PortalTopupSwitch,
  form: TopupSwitchForm,
  answers: { 200: AutoTopup, 303: null },
  refusals: ['not_found'],
} as const;

const PRINT = {
  ...page,
  operationId: 'printInvoiceInPortal',
  method: 'GET',
  path: '/portal/{token}/invoices/{id}',
  summary: 'Get an invoice of the customer to print',
  audit: 'nothing',
  params: { ...params, id: 'The id of the invoice.' },
  query: Type.Object(SHEET_QUERY),
  answers: { 200: Type.String(), 404: Type.String() },
} as const;

const USAGE = {
  tag,
  at,
  operationId: 'downloadUsageInPortal',
  method: 'GET',
  path: '/portal/{token}/invoices/{id}/usage.csv',
  summary: 'Download the usage behind an invoice of the customer',
  description:
    'CSV, as the merchant gets it. One download at a time, and 4 of all customers of the ' +
    'merchant on a node (429).',
  audit: 'nothing',
  params: { ...params, id: 'The id of the invoice.' },
  answers: { 200: Type.String() },
  mediaType: 'text/csv',
  refusals: ['not_found'],
} as const;

export function portalRoutes(deps: PortalRoutesDeps): Route[] {
  const { edge } = deps;
  const previewOf = (action: Parameters<typeof preview>[2], operationId: string) =>
    edge.portal({ ...PREVIEW, operationId, path: `/portal/{token}/${action}` }, (call) =>
      preview(deps, call, action),
    );
  return [
    readPortal(deps),
    previewOf('cancel', 'previewCancel'),
    cancel(deps),
    previewOf('uncancel', 'previewUncancel'),
    uncancel(deps),
    previewOf('unschedule', 'previewUnschedule'),
    unschedule(deps),
    previewOf('pause', 'previewPause'),
    pause(deps),
    previewOf('resume', 'previewResume'),
    resume(deps),
    edge.portal(METHOD, (call) => readMethodForm(deps, call)),
    edge.portal(REPLACE, (call) => replaceMethod(deps, call)),
    switchRoute(deps),
    printInvoice(deps),
    downloadUsage(deps),
  ];
}

function readPortal(deps: PortalRoutesDeps): Route {
  const { edge, sql, orgClock, settings, processors } = deps;
  return edge.portal(READ, async ({ principal, params: { token }, request }) => {
    const frame = await frameOf(sql, principal, { appUrl: settings.appUrl, token });
    const view = await portalView(deps, principal, {
      frame,
      notice: noticeOf(request),
      canReplaceMethod: processors.taking(principal) !== null,
      now: orgClock.now(principal),
      query: urlOf(request).searchParams,
    });
    return sendPage(portalPage(view));
  });
}

function cancel(deps: PortalRoutesDeps): Route {
  return deps.edge.portal(CANCEL, (call) => {
    const { mode = 'at_period_end' } = call.body;
    const entered = { mode, resumesAt: '', keepInvoices: false };
    return act(deps, call, { action: 'cancel', wanted: () => ({ kind: 'cancel', mode }), entered });
  });
}

function uncancel(deps: PortalRoutesDeps): Route {
  return deps.edge.portal(UNCANCEL, (call) =>
    act(deps, call, { action: 'uncancel', wanted: () => ({ kind: 'uncancel' }) }),
  );
}

function unschedule(deps: PortalRoutesDeps): Route {
  return deps.edge.portal(UNSCHEDULE, (call) =>
    act(deps, call, { action: 'unschedule', wanted: () => ({ kind: 'unschedule' }) }),
  );
}

function pause(deps: PortalRoutesDeps): Route {
  return deps.edge.portal(PAUSE, (call) => {
    const { resumes_at: resumesAt, keep_invoices: keeps } = call.body;
    const entered = {
      mode: 'at_period_end',
      resumesAt: dayAgain(resumesAt),
      keepInvoices: keeps === 'true',
    } as const;
    return act(deps, call, {
      action: 'pause',
      wanted: (zone) => toPause(call.body, zone),
      entered,
    });
  });
}

function resume(deps: PortalRoutesDeps): Route {
  return deps.edge.portal(RESUME, (call) =>
    act(deps, call, { action: 'resume', wanted: () => ({ kind: 'resume' }) }),
  );
}

function switchRoute(deps: PortalRoutesDeps): Route {
  return deps.edge.portal(SWITCH, (call) => {
    const { enabled } = call.body;
    return switchTopUp(deps, call, enabled === true || enabled === 'true');
  });
}

function printInvoice({ edge, sql, timers, settings }: PortalRoutesDeps): Route {
  return edge.portal(PRINT, async ({ principal, params: { id }, query }) => {
    const invoice = await ownInvoice(sql, principal, id);
    const sheet = invoice === null ? null : await sheetOf({ sql, timers }, invoice, query);
    if (invoice === null || sheet === null) return nothingHere();
    const brand = brandOf(await brandingOf(sql, principal), settings.appUrl);
    return sendPage(invoicePage(sheet, { brand, usageHref: `${invoice.id}/usage.csv` }));
  });
}

function downloadUsage({ edge, sql, usageCsv }: PortalRoutesDeps): Route {
  return edge.portal(USAGE, async ({ principal, params: { id }, request }) => {
    const invoice = await ownInvoice(sql, principal, id);
    return invoice === null
      ? refuse('not_found', 'no such invoice')
      : usageCsv.send(principal, request, invoice);
  });
}

async function ownInvoice(
  sql: Sql,
  principal: PortalPrincipal,
  id: string,
): Promise<InvoiceRecord | null> {
  const invoice = await findInvoice(sql, principal, id);
  const isOwn = invoice !== null && invoice.customerId === principal.customerId;
  return isOwn && isShown(invoice) ? invoice : null;
}
