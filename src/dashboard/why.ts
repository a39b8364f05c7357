// Why a customer was denied: by an id, a key, or a customer and a time; the answer in one sentence,
// then what it rests on.
import type { Decision, DecisionState, Decisions, GrantOfThen } from '../client/types.ts';
import { faultNotice } from './parts/forms.ts';
import { instantOf } from './parts/local-time.ts';
import { facts, heading, link, live, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filterField, filters, table } from './parts/tables.ts';
import { badge, code, instant, quantity } from './parts/values.ts';
import { words } from './parts/words.ts';
import { customerNamed, faultOf, filterOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { orNone } from './serve/refusals.ts';
import { given } from './form/typed.ts';
import { type Html, html } from '../pages/html.ts';
import { isUuid } from '../records/uuid.ts';

export const WHY_PAGES: readonly DashboardPage[] = [
  { path: '/why', title: 'Why', section: 'why', needs: ['listDecisions'], show: showWhy },
];

/** `2026-11-23T14:03`: a field has no seconds where they are 0. */
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

async function showWhy(visit: Visit) {
  const { place } = visit;
  try {
    return whyPage(place, await tellWhy(visit));
  } catch (error) {
    return whyPage({ ...place, fault: faultOf(error) }, { kind: 'asking' });
  }
}

async function tellWhy(visit: Visit): Promise<WhyView> {
  const { api, query } = visit;
  const search = filterOf(query, 'search');
  const asked = filterOf(query, 'customer');
  const customer = asked === undefined ? undefined : await customerNamed(api, asked);
  if (customer === null) return { kind: 'nobody' };
  if (search !== undefined) {
    const found = await bySearch(visit, search, customer);
    return found === null ? { kind: 'nobody' } : shownOf(visit, found);
  }
  if (customer === undefined) return { kind: 'asking' };
  const at = atOf(visit);
  const featureKey = filterOf(query, 'feature_key');
  const found = await orNone(api.decisions.find({ at, ...customer, ...given({ featureKey }) }));
  return found === null ? { kind: 'nobody' } : shownOf(visit, found);
}

type Named = NonNullable<Awaited<ReturnType<typeof customerNamed>>>;

/** By the id of an event or of anything else, then by that of a request, then by a key. */
async function bySearch(
  { api }: Visit,
  search: string,
  customer: Named | undefined,
): Promise<Decisions | null> {
  const looks = [
    ...(isUuid(search) ? [() => api.decisions.find({ eventId: search })] : []),
    ...(search.length <= 128 ? [() => api.decisions.find({ requestId: search })] : []),
    ...(customer === undefined
      ? []
      : [() => orNone(api.decisions.find({ idempotencyKey: search, ...customer }))]),
  ];
  let found: Decisions | null = { data: [], state: null, object: null };
  for (const look of looks) {
    found = await look();
    if (found !== null && (found.data.length > 0 || found.object !== null)) break;
  }
  return found;
}

/** Now where none was given; the middle of a minute that was given without seconds. */
function atOf({ query, place }: Visit): string {
  const exact = filterOf(query, 'instant');
  if (exact !== undefined) return exact;
  const local = filterOf(query, 'at');
  if (local === undefined) return new Date(place.now).toISOString();
  return instantOf(MINUTE.test(local) ? `${local}:30` : local, place.zone);
}

/** With what the links need: a refund is shown on the page of its payment. */
async function shownOf({ api, place }: Visit, found: Decisions): Promise<WhyView> {
  const { object } = found;
  const isRefund = object?.type === 'refund' && place.may('getRefund');
  const refund = isRefund ? await orNone(api.refunds.retrieve(object.id)) : null;
  return { kind: 'found', found, paymentId: refund?.paymentId ?? null };
}

type WhyView =
  | { readonly kind: 'asking' }
  /** There is no such customer or feature. */
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'found';
      readonly found: Decisions;
      /** Of the refund that was found. */
      readonly paymentId: string | null;
    };

function whyPage(place: Place, view: WhyView): Html {
  return html`${heading('Why', { under: 'Why a call was allowed or denied.' })}
  ${faultNotice(place)} ${answerOf(place, view)} ${questions(place)}`;
}

/** Two forms: what is pasted, and what is remembered. */
function questions(place: Place): Html {
  const customer = (label: string) =>
    filterField(place, { name: 'customer', label, hint: 'Id, your id or e-mail' });
  return html`${section('By id or key', [
    filters(
      [
        filterField(place, {
          name: 'search',
          label: 'Request id, event id or key',
          type: 'search',
          hint: 'The x-request-id of the call, the id that /track answered, or an idempotency key',
        }),
        // The field of the other form has this name, too.
        html`<div class="field">
          <label for="f-whose">Customer of the key</label>
          <input
            id="f-whose"
            name="customer"
            value="${place.query.has('search') ? (place.query.get('customer') ?? '') : ''}"
            maxlength="255"
            autocomplete="off"
          />
        </div>`,
      ],
      'By id or key',
    ),
  ])}
  ${section('By customer and time', [
    filters(
      [
        customer('Customer'),
        filterField(place, {
          name: 'at',
          label: 'When',
          type: 'datetime-local',
          hint: `In ${place.zone}`,
        }),
        filterField(place, {
          name: 'feature_key',
          label: 'Feature',
          maxlength: 64,
          hint: 'Leave empty for any',
        }),
      ],
      'By customer and time',
    ),
  ])}`;
}

function answerOf(place: Place, view: WhyView): Html | null {
  if (view.kind === 'asking') return null;
  if (view.kind === 'nobody') {
    return html`<p class="empty">There is no such customer or feature.</p>`;
  }
  const { found, paymentId } = view;
  const { data, state, object } = found;
  const decision = data.find(({ id }) => id === state?.decisionId) ?? data[0];
  const isNothing = decision === undefined && object === null;
  const told = html`${object === null ? null : objectNotice(place, object, paymentId)}
  ${isNothing ? NOTHING : null} ${decision === undefined ? null : decided(place, decision)}
  ${state === null ? null : standing(place, state, decision)}
  ${data.length < 2 ? null : around(place, data, decision)}`;
  return isNothing ? live(ANSWER, told) : html`<div id="${ANSWER}">${told}</div>`;
}

const ANSWER = 'answer';
const NOTHING = html`<p class="empty">
  No decision found. A denial can be found one second after the call, and for 30 days unless the
  operator has set another time. Allowed checks are not recorded.
</p>`;

const PATHS: Readonly<Record<string, string>> = {
  payment: '/payments',
  invoice: '/invoices',
  subscription: '/subscriptions',
  customer: '/customers',
  checkout: '/checkouts',
  event: '/events',
  product: '/products',
  meter: '/meters',
  webhook_endpoint: '/webhooks',
};

/** What the id names is no decision about usage: where it is shown. */
function objectNotice(
  place: Place,
  { type, id }: { readonly type: string; readonly id: string },
  paymentId: string | null,
): Html {
  const at = paymentId === null ? pathOf(type, id) : pathOf('payment', paymentId);
  return html`<p class="notice">
    This is about a ${words(type)}: ${at === null ? code(id) : link(place, at, code(id))}.
  </p>`;
}

function pathOf(type: string, id: string): string | null {
  const path = PATHS[type];
  return path === undefined ? null : `${path}/${encodeURIComponent(id)}`;
}

const KINDS: Record<Decision['kind'], string> = {
  check: 'A check',
  consume: 'Check with consume',
  reserve: 'Reservation',
  track: 'Track, overage rejected',
  usage: 'Usage',
};

function decided(place: Place, decision: Decision): Html {
  const { balanceBefore: before, allowed } = decision;
  const verdict = allowed ? (decision.value < 0 ? 'Corrected' : 'Recorded') : 'Denied';
  const isLate = decision.decidedAt !== decision.at;
  return html`<section class="part" aria-label="The answer">
    <p class="notice ${allowed ? '' : 'bad'}" role="status">
      <strong>${verdict}</strong> at ${instant(place, decision.at)}, ${decision.featureKey}:
      ${decision.rule}
    </p>
    ${facts([
      ['Customer', customerOf(place, decision)],
      ['What', `${KINDS[decision.kind]} of ${quantity(decision.value)} ${decision.featureKey}`],
      ['Rule', badge(decision.reason)],
      ['Left before', quantity(before.balance)],
      ['Used before', `${quantity(before.consumed)} of ${quantity(before.limit)}`],
      allowed ? ['Left after', quantity(decision.balanceAfter.balance)] : null,
      decision.periodStart === null
        ? null
        : [
            'Period',
            html`${instant(place, decision.periodStart)} –
            ${instant(place, decision.periodEnd) ?? 'no end'}`,
          ],
      decision.count === 1
        ? null
        : ['Count', html`${decision.count} times, until ${instant(place, decision.lastAt)}`],
      decision.replayed ? ['Repeated', 'The key was used before. This is its first answer.'] : null,
      isLate ? ['Decided', instant(place, decision.decidedAt)] : null,
      decision.eventId === null ? null : ['Event', code(decision.eventId)],
      decision.requestIds.length === 0
        ? null
        : ['Requests', html`${decision.requestIds.map((id) => html`${code(id)} `)}`],
    ])}
  </section>`;
}

function customerOf(place: Place, { customerId, externalCustomerId }: Decision): Html {
  return link(place, `/customers/${customerId}`, externalCustomerId ?? code(customerId));
}

/** What was in force at that instant. What is of now says so. */
function standing(place: Place, state: DecisionState, decision: Decision | undefined): Html {
  const { grants, subscriptions } = state;
  const payer = grants.find(isUsable);
  return html`${section(`Grants of ${state.featureKey} then`, [
    table({
      caption: `Grants of ${state.featureKey} at that time, in the order in which they are used up`,
      columns: ['Grant', 'State then', { label: 'Amount', isNumber: true }, 'From', 'Until', 'Of'],
      rows: grants.map((grant) => [
        nameOf(grant),
        grant === payer ? html`${badge('active')} pays first` : badge(stateOf(grant)),
        quantity(grant.amount),
        instant(place, grant.effectiveAt),
        instant(place, grant.endedAt ?? grant.expiresAt),
        grant.subscriptionId === null
          ? null
          : link(place, `/subscriptions/${grant.subscriptionId}`, 'Subscription'),
      ]),
      empty: 'The customer had no grant of this feature, and none was scheduled.',
    }),
    decision?.allowed === false && payer !== undefined && payer.amount !== null
      ? html`<p class="muted">
          The grant marked “pays first” would have paid if enough of it had been left. A grant shows
          what it gives in each period, not what was left of it.
        </p>`
      : null,
    state.leftOut === 0
      ? null
      : html`<p class="muted">
          Within a minute of it, ${state.leftOut} more denials of ${state.featureKey}, of all
          customers, were only counted: there were too many to store each.
        </p>`,
  ])}
  ${
    subscriptions.length === 0
      ? null
      : section('Their subscriptions', [
          table({
            caption: 'Subscriptions, then and now',
            columns: ['Subscription', 'Then', 'Since', 'Now', 'Unpaid'],
            rows: subscriptions.map((one) => [
              link(place, `/subscriptions/${one.id}`, one.planNow),
              badge(one.blocked ? 'blocked' : (one.status ?? 'not started')),
              instant(place, one.since),
              badge(one.statusNow),
              link(
                place,
                `/invoices?${new URLSearchParams({ customer: state.customerId }).toString()}`,
                'Invoices',
              ),
            ]),
            empty: '',
          }),
        ])
  }`;
}

const isUsable = ({ state, suspended }: GrantOfThen): boolean =>
  state === 'in_force' && suspended === null;

const STATES = { in_force: 'in force', over: 'over', to_come: 'scheduled' } as const;

function stateOf({ state, suspended, endedHow }: GrantOfThen): string {
  if (state === 'in_force') return suspended ?? STATES.in_force;
  return state === 'over' ? (endedHow ?? STATES.over) : STATES.to_come;
}

const SOURCES: Record<GrantOfThen['source'], string> = {
  subscription: 'Plan',
  top_up: 'Top-up',
  rollover: 'Rollover',
  manual: 'Allowance',
};

function nameOf(grant: GrantOfThen): Html {
  const { source, resetInterval, priority, reason, isSold, overageAllowed } = grant;
  const often = resetInterval === null ? '' : `, each ${resetInterval}`;
  const order = priority === 100 ? '' : `, priority ${priority}`;
  const beyond = isSold ? ', overage is sold' : overageAllowed ? ', overage allowed' : '';
  return html`${SOURCES[source]}${often}${order}${beyond}
  ${reason === null ? null : html`<br /><small class="muted">${reason}</small>`}`;
}

/** The decisions beside it, newest first; each leads to its own explanation. */
function around(place: Place, data: readonly Decision[], current: Decision | undefined): Html {
  return section('Nearby decisions', [
    table({
      caption: 'Decisions, newest first',
      columns: [
        'When',
        'Feature',
        'What',
        { label: 'Requested', isNumber: true },
        { label: 'Left before', isNumber: true },
        'Answer',
      ],
      rows: data.map((decision) => [
        decision === current
          ? html`<strong>${instant(place, decision.at)}</strong>`
          : link(place, explanationOf(decision), instant(place, decision.at)),
        decision.featureKey,
        words(decision.kind),
        quantity(decision.value),
        quantity(decision.balanceBefore.balance),
        html`${badge(decision.allowed ? 'ok' : 'denied')}
        ${decision.allowed ? null : words(decision.reason)}
        ${decision.count === 1 ? null : `${decision.count} times`}`,
      ]),
      empty: '',
    }),
  ]);
}

/** Of one decision: where the page explains it, below the place's base. */
export function explanationOf(decision: Decision): string {
  const { allowed, eventId, at, customerId, featureKey } = decision;
  const of =
    allowed && eventId !== null
      ? { search: eventId }
      : { customer: customerId, instant: at, feature_key: featureKey };
  return `/why?${new URLSearchParams(of).toString()}`;
}
