// A customer's balances, explained: which grant pays next, what is held back, what comes when.
import type { Balance, Customer, CustomerAlert, LiveGrant } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { alertWords } from '../alerts.ts';
import { facts, heading, link, live, section } from '../parts/parts.ts';
import { pager, table } from '../parts/tables.ts';
import { badge, code, instant, quantity } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

/** A feature with the grants behind its balance, in the order in which they are used up. */
export type FeatureBalance = {
  readonly balance: Balance;
  readonly grants: readonly LiveGrant[];
  /** Whether there are grants behind them. */
  readonly hasMoreGrants: boolean;
  readonly alerts: readonly CustomerAlert[];
  /** The slug of the pool of credits that pays beyond them; null: none does. */
  readonly pool: string | null;
};

/** In the address: the cursor behind which the features go on. */
export const FEATURES_PARAMETER = 'features';

export function balancesSection(
  place: Place,
  at: string,
  {
    features,
    nextFeatures: next,
  }: { readonly features: readonly FeatureBalance[]; readonly nextFeatures: string | null },
): Html {
  return section(
    'Features and limits',
    html`${live(
      'balances',
      features.length === 0
        ? html`<p class="empty">No features yet. A plan or a grant gives them.</p>`
        : html`${features.map((feature) => explained(place, at, feature))}`,
    )}
    ${pager(place, { hasMore: next !== null, last: next ?? undefined }, FEATURES_PARAMETER)}`,
  );
}

/** The grants of a customer by themselves, page by page. */
export function grantsPage(
  place: Place,
  {
    customer,
    data,
    nextCursor: next,
  }: {
    readonly customer: Customer;
    readonly data: readonly LiveGrant[];
    readonly nextCursor: string | null;
  },
): Html {
  const at = `/customers/${customer.id}`;
  return html`${heading('Grants', {
    under: link(place, at, customer.name ?? customer.email ?? code(customer.id)),
  })}
  ${grantTable(place, at, {
    caption: 'Grants, in the order in which they are used up',
    grants: data,
    payer: undefined,
    isOfAll: true,
  })}
  ${pager(place, { hasMore: next !== null, last: next ?? undefined })}`;
}

function explained(
  place: Place,
  at: string,
  { balance, grants, hasMoreGrants, alerts, pool }: FeatureBalance,
): Html {
  const payer = grants.find(pays);
  const coming = whatComes(place, grants);
  const { featureKey, periodStart, periodEnd } = balance;
  const fired = alerts.filter(({ triggered }) => triggered);
  const isBoolean = grants.length > 0 && grants.every((grant) => grant.boolean);
  const beyond = pool === null ? null : html`, which ${pool} pays`;
  const noneOf = () =>
    hasMoreGrants ? 'a grant that is not listed here' : (pool ?? unpaid(grants));
  return html`<h3>${featureKey}</h3>
    ${facts([
      isBoolean ? ['Included', 'yes'] : ['Left', quantity(balance.remaining)],
      isBoolean ? null : ['Used', `${quantity(balance.consumed)} of ${quantity(balance.limit)}`],
      balance.reserved === 0 ? null : ['Reserved', quantity(balance.reserved)],
      balance.overage === 0 ? null : ['Overage', html`${quantity(balance.overage)}${beyond}`],
      fired.length === 0 ? null : ['Triggered alerts', fired.map(alertWords).join(', ')],
      periodStart === null
        ? null
        : [
            'Period',
            html`${instant(place, periodStart)} – ${instant(place, periodEnd) ?? 'no end'}`,
          ],
      ['The next use takes from', payer === undefined ? noneOf() : nameOf(payer)],
    ])}
    ${grantTable(place, at, {
      caption: `Grants of ${featureKey}, in the order in which they are used up`,
      grants,
      payer,
    })}
    ${
      hasMoreGrants
        ? html`<p>
            ${link(place, `${at}/grants?${new URLSearchParams({ feature_key: featureKey }).toString()}`, 'All grants')}
          </p>`
        : null
    }
    ${
      coming.length === 0
        ? null
        : table({
            caption: `Upcoming changes of ${featureKey}`,
            columns: ['When', 'Change'],
            rows: coming,
            empty: '',
          })
    }`;
}

function grantTable(
  place: Place,
  at: string,
  of: {
    readonly caption: string;
    readonly grants: readonly LiveGrant[];
    /** The one that pays for what is used next, if it is one of them. */
    readonly payer: LiveGrant | undefined;
    readonly isOfAll?: boolean;
  },
): Html {
  const { caption, grants, payer, isOfAll = false } = of;
  return table({
    caption,
    columns: [
      ...(isOfAll ? ['Feature'] : []),
      'Grant',
      'State',
      { label: 'Granted', isNumber: true },
      { label: 'Used', isNumber: true },
      { label: 'Left', isNumber: true },
      'Ends',
      '',
    ],
    rows: grants.map((grant) => [
      ...(isOfAll ? [grant.featureKey] : []),
      html`${nameOf(grant)}${grant.reason === null ? null : html`<br /><small class="muted">${grant.reason}</small>`}`,
      stateOf(grant, payer),
      quantity(grant.amount),
      quantity(grant.used),
      grant.unlimited && grant.suspended !== null ? '0' : quantity(grant.remaining),
      instant(place, grant.expiresAt),
      place.may('voidGrant') && grant.subscriptionId === null
        ? link(place, `${at}/grants/${grant.id}/void`, 'Void')
        : null,
    ]),
    empty: 'No grants.',
  });
}

/** Whether it pays for what is used next. */
function pays({ status, suspended, remaining }: LiveGrant): boolean {
  return status === 'active' && suspended === null && remaining !== 0;
}

function unpaid(grants: readonly LiveGrant[]): string {
  if (grants.some(({ overageAllowed, suspended }) => overageAllowed && suspended === null)) {
    return 'nothing: it is over the limit, and overage is allowed';
  }
  const held = grants.find(({ suspended }) => suspended !== null);
  if (held !== undefined) {
    return held.suspended === 'blocked'
      ? 'nothing: its subscription is blocked until it is paid'
      : 'nothing: its subscription is paused';
  }
  return 'nothing: it is used up, so use is denied';
}

const SOURCES = {
  subscription: 'Plan',
  top_up: 'Top-up',
  rollover: 'Rollover',
  manual: 'Allowance',
} as const satisfies Record<LiveGrant['source'], string>;

function nameOf({ source, resetInterval, priority }: LiveGrant): string {
  const often = resetInterval === null ? '' : `, each ${resetInterval}`;
  return `${SOURCES[source]}${often}${priority === 100 ? '' : `, priority ${priority}`}`;
}

function stateOf(grant: LiveGrant, payer: LiveGrant | undefined): Html {
  if (grant.suspended !== null) return badge(grant.suspended);
  if (grant.status === 'scheduled') return badge('scheduled');
  if (grant === payer) return badge('active');
  return grant.remaining === 0 ? badge('used_up') : badge('waiting');
}

/** Renewals, grants of the future and ends, in order of time. */
function whatComes(place: Place, grants: readonly LiveGrant[]): (readonly [Html | null, string])[] {
  const found = grants.flatMap((grant) => {
    const { amount, expiresAt, renewsAt, effectiveAt, status } = grant;
    const given = quantity(amount);
    return [
      status === 'scheduled' ? ([effectiveAt, `${nameOf(grant)} starts: ${given}`] as const) : null,
      renewsAt === null ? null : ([renewsAt, `${nameOf(grant)} renews: ${given}`] as const),
      expiresAt === null
        ? null
        : ([expiresAt, `${nameOf(grant)} expires, with what is left of it`] as const),
    ].filter((one) => one !== null);
  });
  return found
    .sort(([a], [b]) => Date.parse(a) - Date.parse(b))
    .map(([at, what]) => [instant(place, at), what]);
}
