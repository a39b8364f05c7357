// The customer replaces the payment method of its subscriptions in the portal.
import { tenantOf } from '../../../ledger/kernel/tenant.ts';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { Ids } from '../../../ledger/ports.ts';
import type { FieldError } from '../../pages/fields.ts';
import type { Method } from '../../pages/instrument.ts';
import { methodPage } from '../../pages/portal/method.ts';
import type { Frame } from '../../pages/portal/view.ts';
import type { Processors } from '../../processors/processor.ts';
import { findPaymentMethod } from '../../records/payment-methods.ts';
import { isUuid } from '../../records/uuid.ts';
import type { MethodReply } from '../../subscriptions/subscriptions.ts';
import type { PortalPrincipal } from '../edge/auth.ts';
import { sendPage } from '../page.ts';
import { type ActionDeps, backTo, nothingHere, type PortalCall } from './actions.ts';
import { frameOf } from './view.ts';
import { readInstrument } from '../wire/instrument.ts';
import { portalUrl } from '../wire/portal-tokens.ts';
import type { MethodForm } from '../wire/portal.ts';
import { urlOf } from '../edge/url.ts';

export type MethodDeps = ActionDeps & { readonly ids: Ids; readonly processors: Processors };

/** The form, or the result where the bank redirects back. */
export async function readMethodForm(deps: MethodDeps, call: PortalCall): Promise<Response> {
  const { principal, request } = call;
  if (!takesFields(deps, principal)) return nothingHere();
  const frame = await framed(deps, call);
  const attempt = urlOf(request).searchParams.get('attempt') ?? '';
  if (!isUuid(attempt)) return show(deps, call, { frame, status: 200 });
  const { customerId } = principal;
  const key = keyOf(deps, principal, attempt);
  const reply = await deps.subscriptions.methodReturned(tenantOf(principal), { customerId, key });
  return became(deps, call, { frame, reply });
}

export async function replaceMethod(
  deps: MethodDeps,
  call: PortalCall & { readonly body: MethodForm },
): Promise<Response> {
  const { principal, params, body: form } = call;
  if (!takesFields(deps, principal)) return nothingHere();
  const frame = await framed(deps, call);
  const entered = form.payment_method === 'bank_debit' ? 'bank_debit' : 'card';
  const read = readInstrument(entered, form, deps.orgClock.now(principal));
  if (!read.ok) return show(deps, call, { frame, status: 400, entered, errors: read.errors });
  const back = `${portalUrl(deps.settings.appUrl, params.token)}/payment-method`;
  const reply = await deps.subscriptions.replaceMethod(tenantOf(principal), {
    customerId: principal.customerId,
    key: keyOf(deps, principal, form.attempt),
    instrument: read.instrument,
    returnUrl: `${back}?attempt=${form.attempt}`,
  });
  return became(deps, call, { frame, reply, entered });
}

/** Includes the customer's id: another customer's attempt is another key. */
function keyOf({ ids }: MethodDeps, { customerId }: PortalPrincipal, attempt: string): string {
  return ids.derive('portal-method', customerId, attempt.toLowerCase());
}

function takesFields({ processors }: MethodDeps, principal: PortalPrincipal): boolean {
  return processors.taking(tenantOf(principal))?.page === 'fields';
}

function framed({ sql, settings }: MethodDeps, { principal, params }: PortalCall): Promise<Frame> {
  return frameOf(sql, principal, { appUrl: settings.appUrl, token: params.token });
}

const UNAVAILABLE = 'It could not be saved now. Nothing was changed: try again.';
const UNCONFIRMED = 'Your bank has not confirmed it. Nothing was changed: try again.';

async function became(
  deps: MethodDeps,
  call: PortalCall,
  result: { readonly frame: Frame; readonly reply: MethodReply; readonly entered?: Method },
): Promise<Response> {
  const { frame, reply, entered = 'card' } = result;
  switch (reply.kind) {
    case 'saved':
      return backTo(frame, 'method_replaced');
    case 'requires_action':
      if (call.request.method === 'GET') {
        return show(deps, call, { frame, status: 200, refusal: UNCONFIRMED });
      }
      return new Response(null, {
        status: 303,
        headers: {
          location: reply.url,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
        },
      });
    case 'declined':
      return show(deps, call, { frame, status: 402, entered, refusal: reply.message });
    case 'unavailable':
      return show(deps, call, { frame, status: 402, entered, refusal: UNAVAILABLE });
    default:
      return unreachable(reply);
  }
}

async function show(
  { sql, ids, settings }: MethodDeps,
  { principal }: PortalCall,
  shown: {
    readonly frame: Frame;
    readonly status: number;
    readonly entered?: Method;
    readonly errors?: readonly FieldError[];
    readonly refusal?: string;
  },
): Promise<Response> {
  const { frame, status, entered = 'card', errors = [], refusal = null } = shown;
  const payer = { customerId: principal.customerId, subscriptionId: null };
  const method = await findPaymentMethod(sql, principal, payer);
  const view = { ...frame, attempt: ids.next(), method, entered, errors, refusal };
  // The form may lead to the sandbox's bank.
  const formAction = ["'self'", new URL(settings.baseUrl).origin];
  return sendPage(methodPage(view), { status, formAction });
}
