// A customer's subscriptions: their state, what comes next, and the allowed actions.
import { type Html, html } from '../html.ts';
import { day, more, priceOf } from './parts.ts';
import { soldUsage } from '../sold-usage.ts';
import type { Action, PortalView, SubscriptionView } from './view.ts';

export function subscriptions(view: PortalView): Html {
  const { subscriptions: all } = view;
  return html`<section aria-labelledby="subscriptions">
    <h2 id="subscriptions">Subscriptions</h2>
    ${
      all.length === 0
        ? html`<p class="muted">No subscriptions yet.</p>`
        : all.map((subscription) => card(subscription, view))
    }
    ${more(view, 'subscriptions')}
  </section>`;
}

function card(subscription: SubscriptionView, view: PortalView): Html {
  const { id, plan, status, price } = subscription;
  const units = price.quantity === 1 ? null : html` · ${price.quantity} units`;
  return html`<article class="card ${status === 'canceled' ? 'over' : ''}" aria-labelledby="${id}">
    <div class="lead">
      <h3 id="${id}" dir="auto">${plan}</h3>
      ${badge(subscription)}
    </div>
    <p class="cost">${priceOf(price)}${units}</p>
    ${soldUsage(subscription.sold)} ${warning(subscription)} ${pending(subscription, view)}
    ${facts(subscription, view)} ${actions(subscription, view)}
  </article>`;
}

function badge({ status, overdue, cancelAt, trialEnd }: SubscriptionView): Html {
  if (status === 'canceled') return html`<p class="badge dead">Ended</p>`;
  if (overdue !== 'clear') return html`<p class="badge bad">Payment overdue</p>`;
  if (status === 'paused') return html`<p class="badge wait">Paused</p>`;
  if (cancelAt !== null) return html`<p class="badge wait">Ends soon</p>`;
  return html`<p class="badge">${trialEnd === null ? 'Active' : 'Trial'}</p>`;
}

function warning({ overdue, status }: SubscriptionView): Html | null {
  if (overdue === 'clear' || status === 'canceled') return null;
  return html`<div class="notice bad">
    <p>
      The last payment did not go through.
      ${overdue === 'blocked' ? 'Access is blocked until it does.' : null} Replace the payment
      method below to charge it again at once.
    </p>
  </div>`;
}

/** A change that begins when its payment is there. */
function pending({ pending: change }: SubscriptionView, { timeZone }: PortalView): Html | null {
  if (change === null) return null;
  const { price, since } = change;
  const units = price.quantity === 1 ? null : html` for ${price.quantity} units`;
  return html`<div class="notice">
    <p>
      A change to ${priceOf(price)}${units} has waited for its payment since
      ${day(since, timeZone)}. It takes effect when the bank has paid.
    </p>
  </div>`;
}

/** What comes next, and when. */
function facts(subscription: SubscriptionView, { timeZone }: PortalView): Html {
  const { status, cancelAt, endedAt, trialEnd, resumesAt, periodEnd, keepsInvoices } = subscription;
  const fact = (name: string, at: Date) =>
    html`<dt>${name}</dt>
      <dd>${day(at, timeZone)}</dd>`;
  const rows: Html[] = [];
  if (status === 'canceled') {
    if (endedAt !== null) rows.push(fact('Ended on', endedAt));
  } else if (status === 'paused') {
    rows.push(
      resumesAt === null
        ? html`<dt>Resumes</dt>
            <dd>when you resume it</dd>`
        : fact('Resumes on', resumesAt),
    );
    if (cancelAt !== null) rows.push(fact('Ends on', cancelAt));
    else if (keepsInvoices) rows.push(fact('Period ends on', periodEnd));
  } else {
    if (trialEnd !== null && cancelAt === null) rows.push(fact('Free until', trialEnd));
    if (cancelAt === null) rows.push(fact('Next payment', periodEnd));
    else rows.push(fact('Access until', cancelAt));
  }
  return html`<dl class="facts">${rows}</dl>`;
}

const LABELS: Readonly<Record<Action, string>> = {
  resume: 'Resume',
  uncancel: 'Undo cancellation',
  unschedule: 'Undo change',
  pause: 'Pause',
  cancel: 'Cancel',
};

function actions(
  { id, actions: legal, plan }: SubscriptionView,
  { base }: PortalView,
): Html | null {
  if (legal.length === 0) return null;
  const link = (action: Action) =>
    html`<a class="button quiet" href="${base}/${action}?subscription_id=${id}"
      >${LABELS[action]}<span class="away"> <bdi>${plan}</bdi></span></a
    >`;
  return html`<p class="actions">
    ${(Object.keys(LABELS) as Action[]).filter((action) => legal.includes(action)).map(link)}
  </p>`;
}
