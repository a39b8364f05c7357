import { Type } from '@sinclair/typebox';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { brandOf } from '../../pages/brand.ts';
import { checkoutPage } from '../../pages/checkout/page.ts';
import type { Embed } from '../../pages/embed/frame.ts';
import type { CheckoutView } from '../../pages/checkout/view.ts';
import type { SoldUsage } from '../../pages/sold-usage.ts';
import type { Payments } from '../../payments/payments.ts';
import { regionalCurrency } from '../../payments/regions.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import { isAt, pageOf, pageOfNamed } from '../processor-page.ts';
import type { Processor, Processors } from '../../processors/processor.ts';
import { soldUsageOf } from '../checkout/sold.ts';
import { awaitingCookie, isAwaiting } from '../checkout/return-cookie.ts';
import {
  findSession,
  type Session,
  type Terms,
  termsOf,
  type BuyerChoices,
} from '../checkout/session.ts';
import {
  type Asks,
  asksOf,
  closedView,
  continueUrlOf,
  type FormState,
  initialForm,
  isSpent,
  openView,
  paidView,
  processingView,
  knownBuyerOf,
} from '../checkout/view.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { EMBEDDED_BACK, embedOf } from '../checkout/embed.ts';
import { type PageOptions, sendPage } from '../page.ts';
import {
  codeOf,
  enteredOf,
  type Correction,
  PayForm,
  readOrder,
  TOTAL_CHANGED,
} from '../wire/pay.ts';
import { urlOf } from '../edge/url.ts';

export type PayRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly orgClock: OrgClock;
  readonly payments: Payments;
  readonly processors: Processors;
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  readonly addressOf: (request: Request) => string;
};

const tag = 'Hosted pages';
const params = { token: "The token at the end of the checkout's URL: it is the credential." };
const mediaType = 'text/html';

const READ = {
  operationId: 'showCheckout',
  method: 'GET',
  path: '/pay/{token}',
  summary: 'Show the hosted checkout page',
  description:
    "For the buyer's browser. `?currency=` and `?discount_code=` choose what it shows first. A " +
    'buyer who waits for the payment, here or at a bank, is redirected to `success_url` once it ' +
    'is paid; a later visitor reads that it is paid. With `?embed=1` pages at the origins of ' +
    '`success_url` and `cancel_url` may show it in a frame (`/embed.js`): they are told the ' +
    'result, and nobody is redirected.',
  at: 'checkout',
  tag,
  params,
  answers: { 200: Type.String(), 303: null, 404: Type.String() },
  mediaType,
} as const;

const PAY = {
  operationId: 'payCheckout',
  method: 'POST',
  path: '/pay/{token}',
  summary: 'Pay the checkout',
  description:
    'What the form of the page sends. Redirects to `success_url`, to the page of the processor ' +
    'or the bank, or back to the page, which shows the result. `action=give_up` cancels the ' +
    'attempt that waits at the processor, named by `attempt`, and opens the form again.',
  at: 'checkout',
  tag,
  params,
  form: PayForm,
  answers: {
    200: Type.String(),
    303: null,
    400: Type.String(),
    404: Type.String(),
    409: Type.String(),
  },
  mediaType,
} as const;

/** A bank may append parameters of its own, so the page reads these and ignores the others. */
const CURRENCY = 'currency';
const DISCOUNT_CODE = 'discount_code';

/** The page itself, at whatever address a proxy shows it. */
const BACK = '?';

const WAIT_SECONDS_MIN = 2;
/** Where the page has buttons: a press must not fall into a reload. */
const WAIT_SECONDS_MIN_ELSEWHERE = 5;
const WAIT_SECONDS_MAX = 30;

export function payRoutes(deps: PayRoutesDeps): Route[] {
  const { settings, limiter, addressOf } = deps;
  const limit = limiter.limit('discount-code', settings.limits.discountCodes);
  const tries =
    (request: Request, { checkout }: Session) =>
    async () =>
      (await limit.take(`${addressOf(request)} ${checkout.organisationId}`)).allowed;
  return [readPage(deps, tries), pay(deps, tries)];
}

/** Whether this client may try another discount code of the merchant. */
type Tries = (request: Request, session: Session) => BuyerChoices['mayTryCode'];

function readPage(deps: PayRoutesDeps, tries: Tries): Route {
  const { edge, sql, orgClock, payments } = deps;
  return edge.open(READ, async ({ params: { token }, request }) => {
    let actionUrl: string | null = null;
    let session = await findSession(sql, token, orgClock);
    if (session?.payment && isAsked(session)) {
      ({ actionUrl } = await payments.refresh(session.payment.id));
      session = await findSession(sql, token, orgClock);
    }
    if (session === null) return notFound();
    const { id, status } = session.checkout;
    const embed = embedOf(request, session.checkout);
    if (status === 'paid' && embed === null && isAwaiting(request, id)) {
      return onward(session, { cookie: awaiting(deps, session, false), embed });
    }
    const parameters = urlOf(request).searchParams;
    const choices = {
      currency: parameters.get(CURRENCY) ?? undefined,
      code: parameters.get(DISCOUNT_CODE)?.trim(),
      regional: regionalCurrency(request.headers),
      mayTryCode: tries(request, session),
    };
    return show(deps, session, { choices, actionUrl, embed });
  });
}

/**
 * Whether the processor has the charge and may know its result by now. Until its first answer,
 * another request is still waiting for it.
 */
function isAsked({ checkout, payment }: Session): boolean {
  if (checkout.status !== 'processing' || payment === null) return false;
  return payment.method !== null || payment.status === 'requires_action';
}

/** Shows the page in its current state. */
async function show(
  deps: PayRoutesDeps,
  session: Session,
  {
    choices,
    actionUrl,
    embed,
  }: {
    readonly choices: BuyerChoices;
    readonly actionUrl: string | null;
    readonly embed: Embed | null;
  },
): Promise<Response> {
  const { orgClock, settings } = deps;
  const { status } = session.checkout;
  const now = orgClock.now(session.checkout);
  switch (status) {
    case 'active': {
      const attemptsMax = settings.limits.cardAttempts;
      if (isSpent(session.checkout, attemptsMax))
        return send(deps, session, { view: closedView(session, 'locked'), embed });
      const offer = await offerOf(deps, session, { choices, now });
      if (offer === null)
        return send(deps, session, { view: closedView(session, 'unavailable'), embed });
      const shown = initialForm(session, attemptsMax);
      return sendOpen(deps, session, { offer, shown, status: 200, embed });
    }
    case 'processing':
      return sendProcessing(deps, session, { actionUrl, embed, now });
    case 'paid':
      return send(deps, session, { view: paidView(session), embed });
    case 'expired':
    case 'canceled':
      return send(deps, session, { view: closedView(session, status), embed });
    default:
      return unreachable(status);
  }
}

function pay(deps: PayRoutesDeps, tries: Tries): Route {
  const { edge, sql, orgClock, payments } = deps;
  return edge.open(PAY, async ({ params: { token }, body: form, request }) => {
    const session = await findSession(sql, token, orgClock);
    if (session === null) return notFound();
    const embed = embedOf(request, session.checkout);
    if (form.action === 'give_up') return giveUp(deps, session, { attempt: form.attempt, embed });
    const now = orgClock.now(session.checkout);
    const regional = regionalCurrency(request.headers);
    const mayTryCode = tries(request, session);
    const choices = { currency: form.currency, code: codeOf(form), regional, mayTryCode };
    const offer = await offerOf(deps, session, { choices, now });
    if (offer === null) return after(deps, token, embed);
    const again = ({ offer: anew, status, ...said }: Correction & { offer: Offer }) => {
      const shown = { ...enteredOf(form), ...said };
      return sendOpen(deps, session, { offer: anew, shown, status, embed });
    };
    const reading = readOrder(form, { ...offer, said: knownBuyerOf(session.checkout), now });
    if (reading.kind === 'mend') return again({ ...reading, offer });
    const outcome = await payments.pay(token, { ...reading.order, isEmbedded: embed !== null });
    switch (outcome.kind) {
      case 'requires_action':
        return lead(deps, session, { url: outcome.url, processor: offer.processor, embed });
      case 'total_changed':
      case 'discount_refused': {
        const changed = await offerOf(deps, session, { choices, now });
        if (changed === null) return after(deps, token, embed);
        return again({ offer: changed, ...TOTAL_CHANGED });
      }
      case 'attempted':
      case 'not_open':
      case 'locked':
      case 'email_required':
        return after(deps, token, embed);
      default:
        return unreachable(outcome);
    }
  });
}

/** Leads to where the buyer has to act: the bank, or the processor's page. */
function lead(
  deps: PayRoutesDeps,
  session: Session,
  to: { readonly url: string; readonly processor: Processor; readonly embed: Embed | null },
): Response {
  const { url, processor, embed } = to;
  const page = pageOf(processor);
  const cookie = embed === null ? awaiting(deps, session, true) : null;
  // A processor's page is in no frame: ours has a link to it, in another tab.
  const isLink = page !== null && (embed !== null || !isAt(url, page));
  return see(isLink ? backTo(embed) : url, cookie);
}

/** Gives up the attempt that the page showed. In another tab, the next one may have begun. */
async function giveUp(
  { payments }: PayRoutesDeps,
  { payment }: Session,
  { attempt, embed }: { readonly attempt: string | undefined; readonly embed: Embed | null },
): Promise<Response> {
  if (payment !== null && payment.id === attempt) await payments.giveUp(payment.id);
  return see(backTo(embed), null);
}

/** The current terms; null where there is nothing to pay. */
type Offer = {
  readonly processor: Processor;
  readonly terms: Terms;
  readonly asks: Asks;
  readonly now: number;
  readonly sold: readonly SoldUsage[];
};

async function offerOf(
  { sql, processors }: PayRoutesDeps,
  session: Session,
  options: { readonly choices: BuyerChoices; readonly now: number },
): Promise<Offer | null> {
  const { checkout } = session;
  const processor = processors.taking(checkout);
  if (checkout.status !== 'active' || processor === null) return null;
  const terms = await termsOf(sql, session, { ...options, refusalOf: processor.refusalOf });
  if (terms === null) return null;
  const sold = await soldUsageOf(sql, session, terms.quote);
  const asks = asksOf(terms.quote, sold, processor);
  return { processor, terms, asks, now: options.now, sold };
}

/** Where a buyer goes after an attempt, or where no attempt was possible. */
async function after(deps: PayRoutesDeps, token: string, embed: Embed | null): Promise<Response> {
  const session = await findSession(deps.sql, token, deps.orgClock);
  if (session === null) return notFound();
  // A second click may have waited for the first one, which paid; only the page says what is over.
  const isWaiting = session.checkout.status === 'processing';
  const cookie = isWaiting && embed === null ? awaiting(deps, session, true) : null;
  return onward(session, { cookie, embed });
}

/**
 * Redirects to the merchant; to the page where it is not paid, or the page is the end. In a frame
 * it always is.
 */
function onward(
  { checkout }: Session,
  { cookie, embed }: { readonly cookie: string | null; readonly embed: Embed | null },
): Response {
  if (embed !== null) return see(EMBEDDED_BACK, null);
  return see(continueUrlOf(checkout) ?? BACK, cookie);
}

function backTo(embed: Embed | null): string {
  return embed === null ? BACK : EMBEDDED_BACK;
}

function awaiting({ settings }: PayRoutesDeps, { checkout }: Session, isWaiting: boolean): string {
  const isSecure = settings.checkoutUrl.startsWith('https:');
  return awaitingCookie(checkout.id, { isWaiting, isSecure });
}

function see(location: string, cookie: string | null): Response {
  return new Response(null, {
    status: 303,
    headers: {
      location,
      ...(cookie !== null && { 'set-cookie': cookie }),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
  });
}

function notFound(): Response {
  return sendPage(checkoutPage({ kind: 'not_found' }), { status: 404 });
}

function send(
  { settings }: PayRoutesDeps,
  { branding }: Session,
  page: Omit<PageOptions, 'framedBy'> & {
    readonly view: CheckoutView;
    readonly embed: Embed | null;
  },
): Response {
  const { view, embed, ...options } = page;
  const brand = brandOf(branding, settings.appUrl);
  return sendPage(checkoutPage(view, embed, brand), { ...options, framedBy: embed?.origins ?? [] });
}

/** The form may lead to the page of the processor, which the sandbox has for its bank. */
function sendOpen(
  deps: PayRoutesDeps,
  session: Session,
  {
    offer,
    shown,
    status,
    embed,
  }: {
    readonly offer: Offer;
    readonly shown: FormState;
    readonly status: number;
    readonly embed: Embed | null;
  },
): Response {
  const view = openView(session, { ...offer, shown });
  const formAction = ["'self'", offer.processor.pageOrigin, ...onwardSources(session)];
  return send(deps, session, { view, embed, status, formAction });
}

function sendProcessing(
  deps: PayRoutesDeps,
  session: Session,
  {
    actionUrl,
    embed,
    now,
  }: { readonly actionUrl: string | null; readonly embed: Embed | null; readonly now: number },
): Response {
  const { checkout, payment } = session;
  const page = payment === null ? null : pageOfNamed(deps.processors, checkout, payment.processor);
  const view = processingView(session, { page, actionUrl });
  const wait = waitSeconds(session, now);
  if (view.kind !== 'elsewhere') return send(deps, session, { view, embed, refreshAfter: wait });
  return send(deps, session, {
    view,
    embed,
    refreshAfter: Math.max(wait, WAIT_SECONDS_MIN_ELSEWHERE),
    formAction: ["'self'", ...onwardSources(session)],
  });
}

/** Where a form that finds the checkout paid leads: wherever `success_url` redirects. */
function onwardSources({ checkout }: Session): readonly string[] {
  if (checkout.successUrl === null) return [];
  const { protocol, origin } = new URL(checkout.successUrl);
  return [protocol === 'https:' ? 'https:' : origin];
}

/** Seconds until the page reloads: fewer at first, for a buyer who has just paid. */
function waitSeconds({ payment }: Session, now: number): number {
  const waited = payment === null ? 0 : (now - payment.createdAt.getTime()) / 1000;
  return Math.min(Math.max(Math.round(waited / 5), WAIT_SECONDS_MIN), WAIT_SECONDS_MAX);
}
