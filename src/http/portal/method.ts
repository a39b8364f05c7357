// The customer replaces the payment method of its subscriptions in the portal.
import { tenantOf } from '../../../ledger/kernel/tenant.ts';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { Ids } from '../../../ledger/ports.ts';
import type { FieldError } from '../../pages/fields.ts';
import type { Method } from '../../pages/instrument.ts';
import { methodPage } from '../../pages/portal/method.ts';
import type { Frame, Notice, ReplaceView } from '../../pages/portal/view.ts';
import { isAt, pageOf } from '../processor-page.ts';
import type { Processors } from '../../processors/processor.ts';
import { findPaymentMethod } from '../../records/payment-methods.ts';
import { portalUrl } from '../../records/portal-tokens.ts';
import { isUuid } from '../../records/uuid.ts';
import type { MethodReply } from '../../subscriptions/subscriptions.ts';
import type { PortalPrincipal } from '../edge/auth.ts';
import { sendPage } from '../page.ts';
import { type ActionDeps, backTo, noticeOf, nothingHere, type PortalCall } from './actions.ts';
import { frameOf } from './view.ts';
import { readInstrument } from '../wire/instrument.ts';
import type { MethodForm } from '../wire/portal.ts';
import { urlOf } from '../edge/url.ts';

export type MethodDeps = ActionDeps & { readonly ids: Ids; readonly processors: Processors };

/** The form, or the result where the bank or the processor's page leads back. */
export async function readMethodForm(deps: MethodDeps, call: PortalCall): Promise<Response> {
  const { principal, request } = call;
  const attempt = urlOf(request).searchParams.get('attempt') ?? '';
  const isReturn = isUuid(attempt);
  // A try goes on with the processor that it began with.
  const isOffered = isReturn || deps.processors.taking(tenantOf(principal)) !== null;
  if (!isOffered) return nothingHere();
  const frame = await framed(deps, call);
  if (!isReturn) return show(deps, call, { frame, status: 200, notice: noticeOf(request) });
  const { customerId } = principal;
  const key = keyOf(deps, principal, attempt);
  const reply = await deps.subscriptions.methodReturned(tenantOf(principal), { customerId, key });
  return became(deps, call, { frame, reply, attempt });
}

export async function replaceMethod(
  deps: MethodDeps,
  call: PortalCall & { readonly body: MethodForm },
): Promise<Response> {
  const { principal, params, body: form } = call;
  const processor = deps.processors.taking(tenantOf(principal));
  if (processor === null) return nothingHere();
  const frame = await framed(deps, call);
  const entered = form.payment_method === 'bank_debit' ? 'bank_debit' : 'card';
  const read =
    processor.page === 'fields'
      ? readInstrument(entered, form, deps.orgClock.now(principal))
      : ({ ok: true, instrument: null } as const);
  if (!read.ok) return show(deps, call, { frame, status: 400, entered, errors: read.errors });
  const back = `${portalUrl(deps.settings.appUrl, params.token)}/payment-method`;
  const reply = await deps.subscriptions.replaceMethod(tenantOf(principal), {
    customerId: principal.customerId,
    key: keyOf(deps, principal, form.attempt),
    instrument: read.instrument,
    returnUrl: `${back}?attempt=${form.attempt}`,
  });
  return became(deps, call, { frame, reply, attempt: form.attempt, entered });
}

/** Includes the customer's id: another customer's attempt is another key. */
function keyOf({ ids }: MethodDeps, { customerId }: PortalPrincipal, attempt: string): string {
  return ids.derive('portal-method', customerId, attempt.toLowerCase());
}

function framed({ sql, settings }: MethodDeps, { principal, params }: PortalCall): Promise<Frame> {
  return frameOf(sql, principal, { appUrl: settings.appUrl, token: params.token });
}

const UNAVAILABLE = 'It could not be saved now. Nothing was changed: try again.';
const UNCONFIRMED = 'Your bank has not confirmed it. Nothing was changed: try again.';
const LEFT = 'It was not finished in time. Nothing was changed: try again.';

async function became(
  deps: MethodDeps,
  call: PortalCall,
  result: {
    readonly frame: Frame;
    readonly reply: MethodReply;
    readonly attempt: string;
    readonly entered?: Method;
  },
): Promise<Response> {
  const { frame, reply, attempt, entered = 'card' } = result;
  switch (reply.kind) {
    case 'saved':
      return backTo(frame, 'method_replaced');
    case 'pending':
      return backTo(frame, 'method_pending');
    case 'requires_action': {
      const { url, processor } = reply;
      const page = pageOf(processor);
      if (call.request.method === 'POST') {
        const isLink = page !== null && !isAt(url, page);
        return see(isLink ? `${frame.base}/payment-method?attempt=${attempt}` : url);
      }
      return page === null
        ? show(deps, call, { frame, status: 200, refusal: UNCONFIRMED })
        : show(deps, call, { frame, status: 200, unfinished: { owner: page.owner, url } });
    }
    case 'left':
      return show(deps, call, { frame, status: 402, entered, refusal: LEFT });
    case 'declined':
      return show(deps, call, { frame, status: 402, entered, refusal: reply.message });
    case 'unavailable':
      return show(deps, call, { frame, status: 402, entered, refusal: UNAVAILABLE });
    default:
      return unreachable(reply);
  }
}

function see(location: string): Response {
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
  return new Response(null, { status: 303, headers });
}

async function show(
  { sql, ids, processors }: MethodDeps,
  { principal }: PortalCall,
  shown: {
    readonly frame: Frame;
    readonly status: number;
    readonly entered?: Method;
    readonly errors?: readonly FieldError[];
    readonly refusal?: string;
    readonly notice?: Notice | null;
    readonly unfinished?: ReplaceView['unfinished'];
  },
): Promise<Response> {
  const { frame, status, entered = 'card', errors = [], refusal = null } = shown;
  const { notice = null, unfinished = null } = shown;
  const payer = { customerId: principal.customerId, subscriptionId: null };
  const method = await findPaymentMethod(sql, principal, payer);
  const processor = processors.taking(tenantOf(principal));
  const owner = processor === null ? null : (pageOf(processor)?.owner ?? null);
  const view = {
    ...frame,
    attempt: ids.next(),
    method,
    notice,
    entered,
    owner,
    unfinished,
    errors,
    refusal,
  };
  // The form may lead to the page of the processor, which the sandbox has for its bank.
  const formAction = ["'self'", ...(processor === null ? [] : [processor.pageOrigin])];
  return sendPage(methodPage(view), { status, formAction });
}
