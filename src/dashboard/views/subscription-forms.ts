// What is done with a subscription: each page says what will be, before it is done.
import type {
  Price,
  Product,
  Subscription,
  SubscriptionPreview,
  UpcomingInvoice,
} from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { per } from '../../pages/checkout/summary.ts';
import { confirmPage } from '../parts/confirm.ts';
import { checkbox, field, select } from '../parts/forms.ts';
import { heading, link, section } from '../parts/parts.ts';
import { instant, money } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { previewOf } from '../parts/subscription-preview.ts';
import { upcomingOf } from '../subscriptions.ts';

/** What is acted on, as it is. */
export type Subject = {
  readonly subscription: Subscription;
  /** What it bills next, as it is; null where it has ended. */
  readonly upcoming: UpcomingInvoice | null;
  /** Its own product and price. */
  readonly product: Product;
  readonly price: Price | null;
};

const BACK = 'Back to the subscription';
const backOf = ({ id }: Subscription): string => `/subscriptions/${id}`;

/** Where the state of the subscription does not allow it (any more). */
export function notNow(place: Place, subscription: Subscription, title: string): Html {
  return html`${heading(title)}
    <p>The subscription does not allow this now, or it is already done.</p>
    <p>${link(place, backOf(subscription), BACK)}</p>`;
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
          Nothing is charged now. The customer keeps access until
          ${instant(place, currentPeriodEnd)}, and the cancellation can be undone until then. Usage
          that is still unbilled is billed at that time.
        </p>
        ${
          upcoming === null
            ? null
            : html`<p>The next invoice, as of now:</p>
                ${upcomingOf(place, upcoming)}`
        }`,
    )}
    ${section(
      'Immediately',
      html`<p>
          The subscription ends now. Access ends, nothing is refunded, and unbilled usage is billed.
        </p>
        ${previewOf(place, subscription, atOnce)}`,
    )}`,
    submit: 'Cancel subscription',
    isGrave: true,
    back: backOf(subscription),
    leave: 'Keep subscription',
    fields: [
      select(place, {
        name: 'mode',
        label: 'When',
        options: [
          { value: 'at_period_end', label: 'at the end of the period' },
          { value: 'immediate', label: 'immediately' },
        ],
      }),
    ],
  });
}

export function uncancelPage(place: Place, { subscription, price }: Subject): Html {
  return confirmPage(place, {
    title: 'Undo cancellation',
    text: html`<p>
      The subscription continues. It renews on
      ${instant(place, subscription.currentPeriodEnd)}${costOf(price)}.
    </p>`,
    submit: 'Undo cancellation',
    back: backOf(subscription),
    leave: BACK,
  });
}

export function unschedulePage(place: Place, { subscription }: Subject): Html {
  const { pendingChange } = subscription;
  return confirmPage(place, {
    title: 'Undo change',
    text: html`<p>
      The change has waited for its payment since ${instant(place, pendingChange?.since ?? null)}.
      It will not take effect. If the bank still pays, the whole payment is refunded.
    </p>`,
    submit: 'Undo change',
    back: backOf(subscription),
    leave: BACK,
  });
}

export function pausePage(place: Place, { subscription }: Subject): Html {
  return confirmPage(place, {
    title: `Pause ${subscription.planName}`,
    text: 'The customer loses access at once. Overdue invoices are still collected.',
    submit: 'Pause',
    back: backOf(subscription),
    fields: [
      field(place, {
        name: 'resumes_at',
        label: `Resumes on, in ${place.zone}`,
        type: 'datetime-local',
        hint: 'Leave empty to pause until it is resumed.',
      }),
      checkbox(place, {
        name: 'keep_invoices',
        label: 'Keep invoices',
        isChecked: subscription.keepInvoices,
        hint: 'Periods go on and leave draft invoices that are not charged.',
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
            ? 'A new period begins when its payment succeeds. If it is declined, the subscription stays paused.'
            : 'The subscription continues at once. Nothing is charged now.'
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
    title: 'End trial',
    text: html`<p>
        The trial would end on ${instant(place, subscription.trialEnd)}. The first paid period
        begins now, and is charged.
      </p>
      ${previewOf(place, subscription, preview)}`,
    submit: 'End trial and charge',
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
    submit: 'Change',
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
        The current plan is ${subscription.quantity} of ${product.name}${costOf(price)}, paid until
        ${instant(place, subscription.currentPeriodEnd)}.
      </p>
      <p>
        The unused time of the current plan is credited, and the rest of the period is charged for
        the new plan. A more expensive plan takes effect when its payment succeeds. A cheaper plan
        leaves credit for later invoices. Another interval begins a new period.
      </p>`,
    submit: 'Preview',
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
