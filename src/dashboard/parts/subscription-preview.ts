// What an action on a subscription would bill and do if it were done now.
import type { Subscription, SubscriptionPreview } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { lineTable } from './invoice-lines.ts';
import { facts } from './parts.ts';
import type { Place } from './place.ts';
import { instant, money } from './values.ts';

export function previewOf(place: Place, before: Subscription, preview: SubscriptionPreview): Html {
  const { amountDue, discountTotal, credited, currency, lines, asOf } = preview;
  return html`${facts([
      ['Charged now', isNothing(amountDue) ? 'nothing' : money(amountDue, currency)],
      isNothing(discountTotal) ? null : ['Discount', money(discountTotal, currency)],
      isNothing(credited) ? null : ['Credit for later invoices', money(credited, currency)],
      ['Takes effect', effectOf(preview)],
      periodOf(place, before, preview.subscription),
    ])}
    ${lines.length === 0 ? null : lineTable(place, preview)}
    <p class="muted">
      Reckoned ${instant(place, asOf)}: it changes as time passes and usage is added.
    </p>`;
}

/** An amount of the API has only zeros where it is nothing. */
const isNothing = (amount: string): boolean => !/[1-9]/.test(amount);

function effectOf({ waitsForPayment }: SubscriptionPreview): string {
  return waitsForPayment ? 'when its payment succeeds' : 'immediately';
}

function periodOf(
  place: Place,
  before: Subscription,
  { status, endedAt, currentPeriodStart, currentPeriodEnd }: Subscription,
): readonly [string, Html | null] {
  if (status === 'canceled') return ['Ends', instant(place, endedAt)];
  const isSame =
    currentPeriodStart === before.currentPeriodStart &&
    currentPeriodEnd === before.currentPeriodEnd;
  const span = html`${instant(place, currentPeriodStart)} to ${instant(place, currentPeriodEnd)}`;
  return [isSame ? 'Current period' : 'New period', span];
}
