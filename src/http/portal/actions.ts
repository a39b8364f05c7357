// A customer's actions on a subscription in the portal: preview, execute, report.
//
// How: a program sends JSON and gets the subscription. A page sends a form and is redirected, so
// that a reload does nothing again; a refused action shows the form again, with the reason.
import { must, unreachable } from '../../../ledger/kernel/assert.ts';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import type { FieldError } from '../../pages/fields.ts';
import { actionPage } from '../../pages/portal/action.ts';
import { refusedPage } from '../../pages/portal/refused.ts';
import {
  type Action,
  type Entered,
  type Frame,
  NOTICES,
  type Notice,
  type SubscriptionView,
} from '../../pages/portal/view.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findPaymentMethod } from '../../records/payment-methods.ts';
import { findSubscription, type SubscriptionRecord } from '../../records/subscriptions.ts';
import type {
  SubscriptionAction,
  SubscriptionActionReply,
  Subscriptions,
} from '../../subscriptions/subscriptions.ts';
import type { PortalPrincipal } from '../edge/auth.ts';
import { isForm } from '../edge/body.ts';
import { respond } from '../idempotency/idempotency.ts';
import { sendPage } from '../page.ts';
import { featuresOf, frameOf, type PortalRecords, subscriptionViews } from './view.ts';
import { actAnswer } from '../subscription-answers.ts';
import { resumeDaysOf } from '../wire/portal.ts';
import { urlOf } from '../edge/url.ts';

export type ActionDeps = PortalRecords & {
  readonly orgClock: OrgClock;
  readonly settings: Settings;
  readonly subscriptions: Subscriptions;
};

export type PortalCall = {
  readonly principal: PortalPrincipal;
  readonly params: { readonly token: string };
  readonly request: Request;
};

type PortalRequest = {
  readonly action: Action;
  /** null: the time to resume at is invalid. A form gives a day in this zone. */
  readonly wanted: (zone: string | null) => SubscriptionAction | null;
  readonly entered?: Entered;
};

const NOTHING: Entered = { mode: 'at_period_end', resumesAt: '', keepInvoices: false };
const RESUMES_ON = 'Enter a day after today, at most a year from now.';

export function nothingHere(): Response {
  return sendPage(refusedPage('not_found'), { status: 404 });
}

/** The notice of the action before. Other parameters of the address are ignored. */
export function noticeOf(request: Request): Notice | null {
  const done = urlOf(request).searchParams.get('done');
  return NOTICES.find((notice) => notice === done) ?? null;
}

/**
 * Redirects to the customer's page, or to the only one that its link opens, which shows the notice.
 */
export function backTo({ home, base }: Frame, notice: Notice | null): Response {
  const there = home ?? `${base}/payment-method`;
  const location = notice === null ? there : `${there}?done=${notice}`;
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'same-origin' };
  return new Response(null, { status: 303, headers });
}

export async function preview(
  deps: ActionDeps,
  call: PortalCall,
  action: Action,
): Promise<Response> {
  const { sql, settings } = deps;
  const { principal, params, request } = call;
  const id = urlOf(request).searchParams.get('subscription_id') ?? '';
  const record = await findOwn(sql, principal, id);
  if (record === null) return nothingHere();
  const frame = await frameOf(sql, principal, { appUrl: settings.appUrl, token: params.token });
  const subscription = await viewOf(deps, principal, record);
  if (!subscription.actions.includes(action)) return backTo(frame, null);
  return show(deps, call, { subscription, frame, action, status: 200, entered: NOTHING });
}

async function findOwn(
  sql: Sql,
  principal: PortalPrincipal,
  id: string,
): Promise<SubscriptionRecord | null> {
  const record = await findSubscription(sql, principal, id);
  return record?.customerId === principal.customerId ? record : null;
}

async function viewOf(
  deps: ActionDeps,
  principal: PortalPrincipal,
  record: SubscriptionRecord,
): Promise<SubscriptionView> {
  const features = await featuresOf(deps, principal);
  const now = deps.orgClock.now(principal);
  const options = { records: [record], features, now };
  const [view] = await subscriptionViews(deps.sql, principal, options);
  return must(view, 'a view of each subscription');
}

async function show(
  { sql, orgClock }: ActionDeps,
  { principal }: PortalCall,
  shown: {
    readonly subscription: SubscriptionView;
    readonly frame: Frame;
    readonly action: Action;
    readonly status: number;
    readonly entered: Entered;
    readonly errors?: readonly FieldError[];
    readonly refusal?: string;
  },
): Promise<Response> {
  const { subscription, frame, action, status, entered, errors = [], refusal = null } = shown;
  const now = orgClock.now(principal);
  const view = {
    ...frame,
    action,
    subscription,
    method: await findPaymentMethod(sql, principal, {
      customerId: principal.customerId,
      subscriptionId: subscription.id,
    }),
    resumeDays: resumeDaysOf(now, frame.timeZone),
    entered,
    errors,
    refusal,
  };
  return sendPage(actionPage(view), { status, formAction: ["'self'"] });
}

export async function act(
  deps: ActionDeps,
  call: PortalCall & { readonly body: { readonly subscription_id: string } },
  { action, wanted, entered = NOTHING }: PortalRequest,
): Promise<Response> {
  const { sql, settings, subscriptions } = deps;
  const { principal, params, request, body } = call;
  const { organisationId, mode, customerId } = principal;
  const scope = { organisationId, mode };
  const id = body.subscription_id;
  const frame = isForm(request)
    ? await frameOf(sql, principal, { appUrl: settings.appUrl, token: params.token })
    : null;
  const command = wanted(frame?.timeZone ?? null);
  const reply: SubscriptionActionReply =
    command === null
      ? { kind: 'resumes_at_out_of_range' }
      : await subscriptions.act({ scope, id, customerId }, command);
  if (frame === null) return respond(actAnswer(reply, action));
  if (reply.kind === 'done') return backTo(frame, doneOf(action, reply.record));
  const record = await findOwn(sql, principal, id);
  if (record === null) return nothingHere();
  const subscription = await viewOf(deps, principal, record);
  return show(deps, call, { subscription, frame, action, entered, ...refusalView(reply) });
}

/** The refusal in words for a customer. */
function refusalView(reply: Exclude<SubscriptionActionReply, { kind: 'done' }>): {
  readonly status: number;
  readonly errors?: readonly FieldError[];
  readonly refusal?: string;
} {
  if (reply.kind === 'resumes_at_out_of_range') {
    return { status: 400, errors: [{ field: 'resumes_at', message: RESUMES_ON }] };
  }
  if (reply.kind === 'payment_failed') {
    const refusal = `The payment did not go through: ${reply.message} Nothing was changed.`;
    return { status: 402, refusal };
  }
  return { status: 409, refusal: 'This cannot be done now. Nothing was changed.' };
}

function doneOf(action: Action, { subscription }: SubscriptionRecord): Notice {
  switch (action) {
    case 'cancel':
      return subscription.status === 'canceled' ? 'canceled' : 'cancel_scheduled';
    case 'uncancel':
      return 'uncanceled';
    case 'unschedule':
      return 'unscheduled';
    case 'pause':
      return 'paused';
    case 'resume':
      return subscription.status === 'active' ? 'resumed' : 'resuming';
    default:
      return unreachable(action);
  }
}
