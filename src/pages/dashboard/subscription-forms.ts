// What is done with a subscription: each page says what will be, before it is done.
import type { Price, Product, Subscription, UpcomingInvoice } from '../../client/types.ts';
import { type Html, html } from '../html.ts';
import { per } from '../checkout/summary.ts';
import { confirmPage } from './confirm.ts';
import { checkbox, field, heading, instant, link, money, select } from './parts.ts';
import type { Place } from './place.ts';
import { upcomingOf } from './subscriptions.ts';

export type Preview = {
  readonly subscription: Subscription;
  /** What it bills next, as it is; null where it has ended. */
  readonly upcoming: UpcomingInvoice | null;
  /** Its own product and price. */
  readonly product: Product;
  readonly price: Price | null;
};

const backOf = ({ id }: Subscription): string => `/subscriptions/${id}`;

/** Where the state of the subscription does not allow it (any more). */
export function notNow(place: Place, subscription: Subscription, title: string): Html {
  return html`${heading(title)}
    <p>As it stands now this cannot be done, or is done already.</p>
    <p>${link(place, backOf(subscription), 'Back to the subscription')}</p>`;
}

export function cancelPage(place: Place, { subscription, upcoming }: Preview): Html {
  const { currentPeriodEnd, planName } = subscription;
  return confirmPage(place, {
    title: `Cancel ${planName}`,
    text: html`<p>
        At the end of the period the customer keeps it until ${instant(place, currentPeriodEnd)},
        and it can be taken back until then. At once it ends now: what it gives is gone, nothing is
        paid back, and usage that was not billed yet is billed.
      </p>
      ${
        upcoming === null
          ? null
          : html`<h2>What would be billed next, as it is</h2>
              ${upcomingOf(place, upcoming)}`
      }`,
    submit: 'Cancel the subscription',
    isGrave: true,
    back: backOf(subscription),
    fields: [
      select(place, {
        name: 'mode',
        label: 'When',
        options: [
          { value: 'at_period_end', label: 'at the end of the period' },
          { value: 'immediate', label: 'at once' },
        ],
      }),
    ],
  });
}

export function uncancelPage(place: Place, { subscription, price }: Preview): Html {
  return confirmPage(place, {
    title: 'Take the cancellation back',
    text: html`<p>
      It goes on: on ${instant(place, subscription.currentPeriodEnd)} it renews${costOf(price)}.
    </p>`,
    submit: 'Take it back',
    back: backOf(subscription),
  });
}

export function pausePage(place: Place, { subscription }: Preview): Html {
  return confirmPage(place, {
    title: `Pause ${subscription.planName}`,
    text: `At once the customer may no longer use what it gives. What is overdue goes on being collected.`,
    submit: 'Pause',
    back: backOf(subscription),
    fields: [
      field(place, {
        name: 'resumes_at',
        label: `Until, in ${place.zone}`,
        type: 'datetime-local',
        hint: 'Empty: until it is resumed.',
      }),
      checkbox(place, {
        name: 'keep_invoices',
        label: 'Periods go on',
        isChecked: subscription.keepInvoices,
        hint: 'They leave draft invoices, which nobody charges.',
      }),
    ],
  });
}

export function resumePage(place: Place, { subscription, price }: Preview): Html {
  const { currentPeriodEnd, planName } = subscription;
  const isPaid = Date.parse(currentPeriodEnd) > place.now;
  return confirmPage(place, {
    title: `Resume ${planName}`,
    text: isPaid
      ? html`<p>
          The period is paid until ${instant(place, currentPeriodEnd)}: it goes on, and nothing is
          charged now.
        </p>`
      : html`<p>
          The paid period is over: a new one begins with its payment${costOf(price)}, times
          ${subscription.quantity}. Declined, it stays paused.
        </p>`,
    submit: 'Resume',
    back: backOf(subscription),
  });
}

export function endTrialPage(place: Place, { subscription, price }: Preview): Html {
  return confirmPage(place, {
    title: 'End the trial',
    text: html`<p>
      It is free until ${instant(place, subscription.trialEnd)}. The first paid period begins now,
      and is charged${costOf(price)}, times ${subscription.quantity}.
    </p>`,
    submit: 'End the trial and charge',
    isGrave: true,
    back: backOf(subscription),
  });
}

export function changePage(
  place: Place,
  { subscription, product, price }: Preview,
  plans: readonly { readonly product: Product; readonly price: Price }[],
): Html {
  const nameOf = (
    of: Product,
    { amount, currency, interval = 'month', intervalCount = 1 }: Price,
  ) => `${of.name}: ${amount} ${currency} ${per({ interval, count: intervalCount })}`;
  const isListed = plans.some((plan) => plan.price.id === subscription.priceId);
  const present =
    isListed || price === null ? [] : [{ value: price.id, label: nameOf(product, price) }];
  return confirmPage(place, {
    title: `Change ${subscription.planName}`,
    text: html`<p>
        Now it is ${subscription.quantity} of ${product.name}${costOf(price)}, paid until
        ${instant(place, subscription.currentPeriodEnd)}.
      </p>
      <p>
        What is left of this plan comes back, by the millisecond, and what is left of the period is
        charged for the new one: a dearer plan begins with its payment and not without, a cheaper
        one leaves a credit for the next invoices. Another interval begins a new period.
      </p>`,
    submit: 'Change it',
    back: backOf(subscription),
    fields: [
      select(place, {
        name: 'price_id',
        label: 'Plan',
        value: subscription.priceId,
        options: [
          ...present,
          ...plans.map((plan) => ({
            value: plan.price.id,
            label: nameOf(plan.product, plan.price),
          })),
        ],
      }),
      field(place, {
        name: 'quantity',
        label: 'Quantity',
        value: String(subscription.quantity),
        maxlength: 7,
      }),
    ],
  });
}

function costOf(price: Price | null): Html | null {
  if (price === null) return null;
  const { amount, currency, interval = 'month', intervalCount: count = 1 } = price;
  return html` (${money(amount, currency)} ${per({ interval, count })})`;
}
