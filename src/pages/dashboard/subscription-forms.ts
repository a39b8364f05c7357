// What is done with a subscription: each page says what will be, before it is done.
import type {
  Price,
  Product,
  Subscription,
  SubscriptionPreview,
  UpcomingInvoice,
} from '../../client/types.ts';
import { type Html, html } from '../html.ts';
import { per } from '../checkout/summary.ts';
import { confirmPage } from './confirm.ts';
import { checkbox, field, select } from './forms.ts';
import { heading, link, section } from './parts.ts';
import { instant, money } from './values.ts';
import type { Place } from './place.ts';
import { previewOf } from './subscription-preview.ts';
import { upcomingOf } from './subscriptions.ts';

/** What is acted on, as it is. */
export type Subject = {
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

export function cancelPage(
  place: Place,
  { subscription, upcoming }: Subject,
  atOnce: SubscriptionPreview,
): Html {
  const { currentPeriodEnd, planName } = subscription;
  return confirmPage(place, {
    title: `Cancel ${planName}`,
    text: html`${section(
      'At the end of the period',
      html`<p>
          Nothing is charged now. The customer keeps it until ${instant(place, currentPeriodEnd)},
          and it can be taken back until then. Usage that was not billed by then is billed then.
        </p>
        ${
          upcoming === null
            ? null
            : html`<p>What would be billed next, as it is:</p>
                ${upcomingOf(place, upcoming)}`
        }`,
    )}
    ${section(
      'At once',
      html`<p>
          It ends now: what it gives is gone, nothing is paid back, and usage that was not billed
          yet is billed.
        </p>
        ${previewOf(place, subscription, atOnce)}`,
    )}`,
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

export function uncancelPage(place: Place, { subscription, price }: Subject): Html {
  return confirmPage(place, {
    title: 'Take the cancellation back',
    text: html`<p>
      It goes on: on ${instant(place, subscription.currentPeriodEnd)} it renews${costOf(price)}.
    </p>`,
    submit: 'Take it back',
    back: backOf(subscription),
  });
}

export function unschedulePage(place: Place, { subscription }: Subject): Html {
  const { pendingChange } = subscription;
  return confirmPage(place, {
    title: 'Take the change back',
    text: html`<p>
      It has waited for its payment since ${instant(place, pendingChange?.since ?? null)}, and does
      not begin. If the bank pays all the same, all of it is refunded.
    </p>`,
    submit: 'Take it back',
    back: backOf(subscription),
  });
}

export function pausePage(place: Place, { subscription }: Subject): Html {
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

export function resumePage(
  place: Place,
  { subscription }: Subject,
  preview: SubscriptionPreview,
): Html {
  return confirmPage(place, {
    title: `Resume ${subscription.planName}`,
    text: html`<p>
        ${
          preview.waitsForPayment
            ? 'A new period begins with its payment. Declined, it stays paused.'
            : 'It goes on at once, and nothing is charged now.'
        }
      </p>
      ${previewOf(place, subscription, preview)}`,
    submit: 'Resume',
    back: backOf(subscription),
  });
}

export function endTrialPage(
  place: Place,
  { subscription }: Subject,
  preview: SubscriptionPreview,
): Html {
  return confirmPage(place, {
    title: 'End the trial',
    text: html`<p>
        It is free until ${instant(place, subscription.trialEnd)}. The first paid period begins now,
        and is charged.
      </p>
      ${previewOf(place, subscription, preview)}`,
    submit: 'End the trial and charge',
    isGrave: true,
    back: backOf(subscription),
  });
}

/** The plan that is chosen, and what the change to it would do. */
export function changePreviewPage(
  place: Place,
  { subscription }: Subject,
  chosen: {
    readonly preview: SubscriptionPreview;
    readonly fields: Readonly<Record<string, string>>;
  },
): Html {
  const { preview, fields } = chosen;
  const then = preview.subscription;
  return confirmPage(place, {
    title: `Change ${subscription.planName}`,
    text: html`<p>
        From ${subscription.quantity} of ${subscription.planName} to ${then.quantity} of
        ${then.planName}.
      </p>
      ${previewOf(place, subscription, preview)}`,
    submit: 'Change it',
    back: backOf(subscription),
    hidden: fields,
  });
}

export function changePage(
  place: Place,
  { subscription, product, price }: Subject,
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
    submit: 'See what it would bill',
    hidden: { preview: 'true' },
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
