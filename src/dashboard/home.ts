// The home page: how the day goes, beside the same weekday a week before.
import type { Meter, Overview, Product } from '../client/types.ts';
import { chart } from './parts/chart.ts';
import { button, heading, link } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { SECTIONS } from './parts/sections.ts';
import { money, quantity } from './parts/values.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { showDecimal } from '../pages/amount.ts';
import { type Html, html } from '../pages/html.ts';

export const HOME_PAGES: readonly DashboardPage[] = [
  {
    path: '',
    title: 'Home',
    section: 'home',
    needs: ['getOverview', 'listMeters', 'listProducts', 'listCustomers'],
    show: showHome,
  },
];

async function showHome({ api, place }: Visit) {
  const overview = await api.reports.overview();
  const { data: meters } = await api.meters.list({ limit: 1 });
  const { data: products } = await api.products.list({ limit: 1 });
  const { data: customers } = await api.customers.list({ limit: 1 });
  return homePage(place, overview, { meters, products, hasCustomers: customers.length > 0 });
}

/** What a new organisation has not made yet. */
type Begun = {
  readonly meters: readonly Meter[];
  readonly products: readonly Product[];
  readonly hasCustomers: boolean;
};

function homePage(place: Place, overview: Overview, begun: Begun): Html {
  const { meters, products, hasCustomers } = begun;
  const isNew = meters.length === 0 || products.length === 0 || !hasCustomers;
  return html`${heading(place.organisation.name)} ${isNew ? firstSteps(place, begun) : null}
  ${cards(place, overview)} ${charts(place, overview)}`;
}

function cards(place: Place, overview: Overview): Html {
  const { revenue, subscriptions, denials, failedPayments, webhooks } = overview;
  const { active, trialing, pastDue, paused, blocked } = subscriptions;
  const others = [
    [trialing, 'in trial'],
    [pastDue, 'past due'],
    [paused, 'paused'],
    [blocked, 'blocked'],
  ] as const;
  return html`<div class="cards" id="cards" data-live>
    ${
      revenue.length === 0
        ? card(place, {
            to: '/payments',
            title: 'Revenue today',
            big: '–',
            under: 'No payments today or a week ago.',
          })
        : revenue.map(({ currency, today, lastWeek }) =>
            card(place, {
              to: '/payments',
              title: `Revenue today, ${currency}`,
              big: money(today.total, currency),
              under: html`a week ago ${money(lastWeek.total, currency)}, the whole day`,
            }),
          )
    }
    ${card(place, {
      to: '/subscriptions',
      title: 'Active subscriptions',
      big: quantity(active),
      under: others
        .filter(([count]) => count > 0)
        .map(([count, what]) => `${quantity(count)} ${what}`)
        .join(', '),
    })}
    ${card(place, {
      to: 'why' in SECTIONS ? '/why' : null,
      title: 'Denials today',
      big: quantity(denials.today.total),
      under: `${quantity(denials.lastWeek.total)} a week ago`,
    })}
    ${card(place, {
      to: '/payments?status=failed',
      title: 'Failed payments today',
      big: quantity(failedPayments.today),
      under: `${quantity(failedPayments.lastWeek)} a week ago`,
    })}
    ${card(place, {
      to: '/webhooks',
      title: 'Webhooks delivered today',
      big: quantity(webhooks.delivered),
      under: webhooksUnder(webhooks),
    })}
  </div>`;
}

function webhooksUnder({ endpoints, disabled, waiting, failed }: Overview['webhooks']): string {
  if (endpoints === 0) return 'No webhook endpoints yet.';
  const parts = [
    `${quantity(waiting)} waiting`,
    `${quantity(failed)} failed`,
    ...(disabled === 0
      ? []
      : [`${quantity(disabled)} of ${quantity(endpoints)} endpoints disabled`]),
  ];
  return parts.join(', ');
}

function card(
  place: Place,
  of: {
    readonly to: string | null;
    readonly title: string;
    readonly big: Html | string;
    readonly under: Html | string;
  },
): Html {
  return html`<div class="card">
    <div>${of.to === null ? of.title : link(place, of.to, of.title)}</div>
    <div class="big">${of.big}</div>
    <div class="muted">${of.under}</div>
  </div>`;
}

function charts(place: Place, overview: Overview): Html {
  const { today, revenue, usage, denials } = overview;
  const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: place.zone });
  const labels = today.hours.map((at) => clock.format(new Date(at)));
  const drawn = (id: string, title: string, of: { unit: string; today: Series; before: Series }) =>
    chart({
      id,
      title: `${title} by hour, today; the line is a week ago`,
      unit: of.unit,
      bars: barsOf(labels, of.today),
      before: barsOf(labels, of.before),
    });
  // The whole, too: a chart of what was used for the first time is a new one.
  return html`<div class="stack part" id="charts" data-live>
    ${revenue.map((one) =>
      drawn(`revenue-${one.currency}`, `Revenue in ${one.currency}`, {
        unit: one.currency,
        today: one.today.hours,
        before: one.lastWeek.hours,
      }),
    )}
    ${
      usage === null
        ? html`<p class="empty">Usage from before this release is still being added up.</p>`
        : usage.map((one) =>
            drawn(`usage-${one.featureKey}`, `Usage of ${one.featureKey}`, {
              unit: 'Used',
              today: one.today.hours,
              before: one.lastWeek.hours,
            }),
          )
    }
    ${
      denials.today.total + denials.lastWeek.total === 0
        ? null
        : drawn('denials', 'Denials', {
            unit: 'Denied',
            today: denials.today.hours,
            before: denials.lastWeek.hours,
          })
    }
  </div>`;
}

type Series = readonly (string | number | null)[];

/** Text is exact; the height is only looked at. */
function barsOf(labels: readonly string[], series: Series) {
  return labels.map((label, at) => {
    const value = series[at] ?? 0;
    return {
      label,
      height: Math.max(0, Number(value)),
      text: showDecimal(String(value)),
    };
  });
}

/** What to do first, and the three lines that a program needs. */
function firstSteps(place: Place, { meters, products, hasCustomers }: Begun): Html {
  const feature = meters[0]?.slug ?? 'api-calls';
  const step = (
    isDone: boolean,
    what: string,
    path: string,
    operation: Parameters<Place['may']>[0],
  ) =>
    html`<li>
      ${isDone ? html`<span class="badge">done</span> ${what}` : place.may(operation) ? button(place, path, what, false) : what}
    </li>`;
  return html`<section class="part notice">
    <h2>Get started</h2>
    <ol class="stack">
      ${step(meters.length > 0, 'Create a meter: what you count', '/meters/new', 'createMeter')}
      ${step(products.length > 0, 'Create a product: what you sell', '/products/new', 'createProduct')}
      ${step(hasCustomers, 'Create a customer, then sell by hand or by a checkout', '/customers/new', 'createCustomer')}
    </ol>
    <p>
      Then three lines in your program, with
      ${place.may('listApiKeys') ? link(place, '/keys', 'an API key') : 'an API key'}:
    </p>
    <pre tabindex="0">
const tollhouse = new Tollhouse({ apiKey: process.env.TOLLHOUSE_KEY, baseUrl });
const { allowed } = await tollhouse.check({ externalCustomerId: 'user-1', featureKey: '${feature}' });
await tollhouse.track({ externalCustomerId: 'user-1', featureKey: '${feature}', value: 1 });</pre>
  </section>`;
}
