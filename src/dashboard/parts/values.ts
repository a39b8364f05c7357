// How states, amounts and times are written.
import { showAmount, showDecimal } from '../../pages/amount.ts';
import { type Html, html } from '../../pages/html.ts';
import { parseMoney } from '../../../ledger/kernel/money.ts';
import type { Place } from './place.ts';

export const code = (text: string): Html => html`<span class="code">${text}</span>`;
/** What stands on one line, such as a number of an invoice. */
export const whole = (text: string): Html => html`<span class="whole">${text}</span>`;

const GOOD = new Set([
  'active',
  'succeeded',
  'paid',
  'delivered',
  'enabled',
  'accepted',
  'ok',
  'completed',
  'ready',
  'armed',
]);
const WAITING = new Set([
  'pending',
  'processing',
  'trialing',
  'open',
  'draft',
  'paused',
  'past_due',
  'requires_action',
  'retrying',
  'scheduled',
  'charging',
  'limit',
  'webhook_secret_required',
  'partially_refunded',
  'held',
  'advancing',
  'fired',
]);
const BAD = new Set([
  'failed',
  'blocked',
  'declined',
  'uncollectible',
  'lost',
  'disabled',
  'failing',
  'denied',
  'revoked',
  'exhausted',
  'no_payment_method',
  'authentication_required',
]);

/** A state as a badge: in words, and in a colour besides. With an id it is kept as it is now. */
export function badge(state: string, liveId?: string): Html {
  const kind = GOOD.has(state)
    ? ''
    : WAITING.has(state)
      ? ' wait'
      : BAD.has(state)
        ? ' bad'
        : ' dead';
  const isLive = liveId === undefined ? null : html` id="${liveId}" data-live`;
  return html`<span class="badge${kind}" ${isLive}>${state.replaceAll('_', ' ')}</span>`;
}

/** An amount as the API writes it ("12.50"), for people. */
export function money(amount: string, currency: string): Html {
  const isNegative = amount.startsWith('-');
  const minor = parseMoney(isNegative ? amount.slice(1) : amount, currency);
  const shown = typeof minor === 'bigint' ? showAmount(minor, currency) : `${amount} ${currency}`;
  return html`<span class="money">${isNegative ? '−' : ''}${shown}</span>`;
}

/** A quantity as the API writes it, for people. */
export function quantity(value: number | string | null): string {
  return value === null ? 'unlimited' : showDecimal(String(value));
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, key: 'day' | 'time'): Intl.DateTimeFormat {
  const name = `${key} ${zone}`;
  let known = formats.get(name);
  if (known === undefined) {
    // A process serves many organisations in few zones.
    if (formats.size > 500) formats.clear();
    const time = key === 'time' ? ({ timeStyle: 'medium' } as const) : {};
    known = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', ...time, timeZone: zone });
    formats.set(name, known);
  }
  return known;
}

/** An instant in the organisation's zone. */
export function instant({ zone }: Pick<Place, 'zone'>, iso: string | null): Html | null {
  if (iso === null) return null;
  return html`<time datetime="${iso}" title="${iso}"
    >${format(zone, 'time').format(new Date(iso))}</time
  >`;
}

export function day({ zone }: Pick<Place, 'zone'>, iso: string | null): Html | null {
  if (iso === null) return null;
  return html`<time datetime="${iso}" title="${iso}"
    >${format(zone, 'day').format(new Date(iso))}</time
  >`;
}
