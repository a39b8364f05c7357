// What is topped up automatically: when, for how much, and the button that switches it.
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { type Html, html } from '../html.ts';
import { day, money, more, written } from './parts.ts';
import type { PortalView, TopUpView } from './view.ts';

export function topUps(view: PortalView): Html | null {
  const { topUps: all, base, timeZone } = view;
  if (all.length === 0) return null;
  return html`<section aria-labelledby="topups">
    <h2 id="topups">Automatic top-ups</h2>
    ${all.map((one) => card(one, { base, timeZone }))} ${more(view, 'topups')}
  </section>`;
}

type Where = Pick<PortalView, 'base' | 'timeZone'>;

function card(one: TopUpView, { base, timeZone }: Where): Html {
  const { name, enabled, featureKey } = one;
  const [text, tone] = badge(one);
  const turn = enabled ? 'off' : 'on';
  const why = enabled ? stateOf(one, timeZone) : null;
  return html`<div class="card">
    <p class="lead"><strong>${written(name)}</strong><span class="badge ${tone}">${text}</span></p>
    <p class="cost">${terms(one)}</p>
    ${why === null ? null : html`<p class="notice">${why}</p>`}
    <form
      class="actions"
      method="post"
      action="${base}/auto-topups/${encodeURIComponent(featureKey)}"
    >
      <input type="hidden" name="enabled" value="${String(!enabled)}" />
      <button class="button quiet" aria-label="Turn ${turn}: ${name}">Turn ${turn}</button>
    </form>
  </div>`;
}

function badge({ enabled, status }: TopUpView): readonly [text: string, tone: string] {
  if (!enabled) return ['Off', 'dead'];
  if (status === 'suspended') return ['Stopped', 'bad'];
  return status === 'charging' ? ['Payment under way', 'wait'] : ['On', ''];
}

function terms({ threshold, amount, scale, unit, price, limit }: TopUpView): Html {
  const number = (units: bigint) => NUMBER.format(quantityNumber(units, scale));
  const units = unit === null ? null : html` ${written(unit)}`;
  const cost = price === null ? null : html` for ${money(price.amount, price.currency)}`;
  const most = limit === null ? null : html`, at most ${limit.count} a ${limit.interval}`;
  return html`Adds ${number(amount)}${units}${cost} whenever fewer than ${number(threshold)} are
  left${most}.`;
}

function stateOf(
  { status, reason, nextAttemptAt: next }: TopUpView,
  timeZone: string,
): Html | null {
  if (status === 'charging' && next !== null)
    return html`The last payment did not go through. The next attempt is on ${day(next, timeZone)}.`;
  switch (reason) {
    case 'limit':
      return next === null
        ? null
        : html`The limit is reached. It continues on ${day(next, timeZone)}.`;
    case 'no_payment_method':
      return html`There is no payment method. Add one below.`;
    case 'authentication_required':
      return html`Your bank asks you to confirm payments. Replace the payment method below.`;
    case 'declined':
      return html`The payment was declined. Replace the payment method below.`;
    case null:
      return null;
    default:
      return reason satisfies never;
  }
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 9 });
