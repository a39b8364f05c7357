import { Type } from '@sinclair/typebox';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { KeyLocks } from '../../platform/postgres/key-locks.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { tenantOf } from '../../../ledger/kernel/tenant.ts';
import { findSubscription, listSubscriptions } from '../../records/subscriptions.ts';
import type {
  SubscriptionAction,
  CreateReply,
  Subscriptions,
} from '../../subscriptions/subscriptions.ts';
import { findUpcoming } from '../../subscriptions/upcoming.ts';
import { fromUpcoming, UpcomingInvoice } from '../wire/invoices.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import { ofScope } from '../../records/page.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import {
  type Answer,
  answer,
  onceRepeatable,
  refusal,
  refusedField,
} from '../idempotency/idempotency.ts';
import type { Operation } from '../operation.ts';
import { findNamedCustomer, namingIssue } from '../named-customer.ts';
import { answerList, ofCustomer, PAGE } from '../list.ts';
import { actAnswer, NOT_FOR_SALE, QUANTITY_TOO_LARGE } from '../subscription-answers.ts';
import {
  fromSubscription,
  Subscription,
  SubscriptionCancel,
  SubscriptionChange,
  SubscriptionCreate,
  SubscriptionPause,
  SubscriptionStatus,
  toCancel,
  toChange,
  toPause,
} from '../wire/subscriptions.ts';
import { Body, ExternalCustomerId, ListOf, Uuid } from '../wire/values.ts';

export type SubscriptionRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly ids: Ids;
  readonly ledger: Ledger;
  readonly lists: FairSql;
  readonly orgClock: OrgClock;
  readonly keyLocks: KeyLocks;
  readonly subscriptions: Pick<Subscriptions, 'create' | 'act'>;
  readonly settings: Pick<Settings, 'bounds'>;
};

const tag = 'Subscriptions';
const params = { id: 'The id of the subscription.' };
const NOT_FOUND = 'no such subscription';

const CREATE = {
  operationId: 'createSubscription',
  method: 'POST',
  path: '/subscriptions',
  client: 'subscriptions.create',
  summary: 'Start a subscription by hand',
  description:
    "The customer's newest payment method is charged. Without one, or if it is declined, the " +
    'first invoice stays open and dunning runs; the features are available at once. A trial is ' +
    'charged when it ends.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription' },
  body: SubscriptionCreate,
  idempotent: true,
  answers: { 201: Subscription },
  refusals: ['not_found', 'conflict'],
} as const;

const LIST = {
  operationId: 'listSubscriptions',
  method: 'GET',
  path: '/subscriptions',
  client: 'subscriptions.list',
  summary: 'List subscriptions, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body({
    ...PAGE,
    customer_id: Type.Optional(Uuid),
    external_customer_id: Type.Optional(ExternalCustomerId),
    product_id: Type.Optional(Uuid),
    status: Type.Optional(SubscriptionStatus),
  }),
  answers: { 200: ListOf(Subscription) },
} as const;

export const READ_SUBSCRIPTION = {
  operationId: 'getSubscription',
  method: 'GET',
  path: '/subscriptions/{id}',
  client: 'subscriptions.retrieve',
  summary: 'Get a subscription',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Subscription },
  refusals: ['not_found'],
} as const;

const UPCOMING = {
  operationId: 'getUpcomingInvoice',
  method: 'GET',
  path: '/subscriptions/{id}/upcoming-invoice',
  client: 'subscriptions.upcomingInvoice',
  summary: 'Preview the next invoice of a subscription',
  description: [
    'What the renewal would bill, or the final invoice of a subscription that is being ' +
      'canceled, if the period ended with what is recorded now: the plan, usage beyond the ' +
      'allowances including minimums still to come, corrections of billed usage, and credit. ' +
      'Nothing is written.',
    'If nothing else happens, advancing the test clock to `period_end` bills exactly that. ' +
      'Usage is added as it is recorded, so ask again when it matters.',
    'For a subscription that is still paused then: its draft, or no lines if it makes none. ' +
      'Blocked: no lines. After the end: `invalid_state`.',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: UpcomingInvoice },
  refusals: ['not_found', 'invalid_state'],
} as const;

const ACTION = {
  tag,
  params,
  idempotent: true,
  answers: { 200: Subscription },
} as const;
const REFUSALS = ['not_found', 'invalid_state'] as const;
const CHARGING = [...REFUSALS, 'payment_failed'] as const;

const CHANGE = {
  ...ACTION,
  operationId: 'changeSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/change',
  client: 'subscriptions.change',
  summary: 'Change the price or the quantity of a subscription',
  description:
    'At once. The unused time of the current plan is credited, to the millisecond, and the rest ' +
    'of the period is charged for the new plan. A more expensive plan takes effect when its ' +
    'payment succeeds (else 402); a cheaper one leaves credit for the next invoices. Another ' +
    'interval begins a new period.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: SubscriptionChange,
  refusals: CHARGING,
} as const;

const CANCEL = {
  ...ACTION,
  operationId: 'cancelSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/cancel',
  client: 'subscriptions.cancel',
  summary: 'Cancel a subscription',
  description:
    'At the end of the period, or at once with `immediate`, which may follow a scheduled ' +
    'cancellation. Repeating the call changes nothing. A change that waits for its payment ' +
    '(`pending_change`) is undone; if the bank still pays, the whole payment is refunded.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: SubscriptionCancel,
  bodyOptional: true,
  refusals: ['not_found'],
} as const;

const UNCANCEL = {
  ...ACTION,
  operationId: 'uncancelSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/uncancel',
  client: 'subscriptions.uncancel',
  summary: 'Undo a scheduled cancellation',
  description: 'Without a scheduled cancellation nothing changes.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  refusals: REFUSALS,
} as const;

const UNSCHEDULE = {
  ...ACTION,
  operationId: 'unscheduleSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/unschedule',
  client: 'subscriptions.unschedule',
  summary: 'Undo a pending change',
  description:
    'Undoes `pending_change`, which waits for its payment. It will not take effect. If the bank ' +
    'still pays, the whole payment is refunded; the invoice stays open until the bank has ' +
    'decided, unless the processor cancels the charge at once. Without a pending change: ' +
    '`invalid_state`. `subscription.updated` with `changes: ["pendingChange"]` is sent when a ' +
    'change begins to wait and when it no longer does.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  refusals: REFUSALS,
} as const;

const PAUSE = {
  ...ACTION,
  operationId: 'pauseSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/pause',
  client: 'subscriptions.pause',
  summary: 'Pause a subscription',
  description:
    'At once: `/check` answers `subscription_paused`. Without `resumes_at` it stays paused until ' +
    'it is resumed. Repeating the call with other values replaces them. A period that begins at ' +
    '`resumes_at` begins as at a renewal, paid or not. Overdue invoices are still collected, and ' +
    'dunning may end the subscription.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  body: SubscriptionPause,
  bodyOptional: true,
  refusals: REFUSALS,
} as const;

const RESUME = {
  ...ACTION,
  operationId: 'resumeSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/resume',
  client: 'subscriptions.resume',
  summary: 'Resume a subscription',
  description:
    'Within the paid period it continues and nothing is charged. After it a new period begins ' +
    'when its payment succeeds: if it is declined, the subscription stays paused (402). A ' +
    'subscription that is blocked past its period is charged nothing: the next period begins ' +
    'when the debt is paid.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  refusals: CHARGING,
} as const;

const END_TRIAL = {
  ...ACTION,
  operationId: 'endTrial',
  method: 'POST',
  path: '/subscriptions/{id}/end-trial',
  client: 'subscriptions.endTrial',
  summary: 'End a trial now',
  description: 'The first paid period begins now, and is charged.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'subscription', before: READ_SUBSCRIPTION },
  refusals: REFUSALS,
} as const;

export function subscriptionRoutes(deps: SubscriptionRoutesDeps): Route[] {
  return [
    createOne(deps),
    readAll(deps),
    readOne(deps),
    readUpcoming(deps),
    changeOne(deps),
    cancelOne(deps),
    uncancelOne(deps),
    unscheduleOne(deps),
    pauseOne(deps),
    resumeOne(deps),
    endTrialOfOne(deps),
  ];
}

function createOne({
  edge,
  sql,
  orgClock,
  keyLocks,
  subscriptions,
  settings,
}: SubscriptionRoutesDeps): Route {
  return edge.organisation(CREATE, ({ principal, body, idempotencyKey: key }) => {
    const issue = namingIssue(body);
    if (issue !== null) return refuseInvalid([issue]);
    const now = orgClock.now(principal);
    const attempt = { sql, keyLocks, principal, operation: CREATE, key, body, now };
    return onceRepeatable(attempt, async () => {
      const customer = await findNamedCustomer(sql, principal, body);
      if (customer === null) return refusal('not_found', 'no such customer');
      const reply = await subscriptions.create(tenantOf(principal), {
        customerId: customer.id,
        productId: body.product_id,
        priceId: body.price_id?.toLowerCase() ?? null,
        quantity: body.quantity ?? 1,
        trialDays: body.trial_days ?? null,
        metadata: body.metadata ?? {},
        idempotencyKey: key,
      });
      if (reply.kind === 'full') {
        const { subscriptionsPerCustomer: max } = settings.bounds;
        return refusal('conflict', new Full('subscriptionsPerCustomer', max).message);
      }
      return createAnswer(reply, body.price_id !== undefined);
    });
  });
}

function createAnswer(
  reply: Exclude<CreateReply, { kind: 'full' }>,
  isPriceNamed: boolean,
): Answer {
  switch (reply.kind) {
    case 'created':
      return answer(201, fromSubscription(reply.record));
    case 'customer_not_found':
      return refusal('not_found', 'no such customer');
    case 'product_not_found':
      return refusal('not_found', 'no such product');
    case 'price_not_found':
      return isPriceNamed
        ? refusal('not_found', 'the product has no such recurring price')
        : refusedField('product_id', 'has no recurring price');
    case 'not_for_sale':
      return refusedField('product_id', NOT_FOR_SALE);
    case 'quantity_too_large':
      return refusedField('quantity', QUANTITY_TOO_LARGE);
    case 'amount_refused':
      return refusedField('price_id', reply.message);
    default:
      return unreachable(reply);
  }
}

function readAll({ edge, lists }: SubscriptionRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const { product_id: productId, status } = query;
    return answerList(
      lists,
      { principal, query },
      {
        name: 'subscriptions',
        whose: ofScope(principal),
        rows: ofCustomer(principal, query, (sql, page, customerId) =>
          listSubscriptions(sql, principal, { ...page, customerId, productId, status }),
        ),
        show: fromSubscription,
      },
    );
  });
}

function readOne({ edge, sql }: SubscriptionRoutesDeps): Route {
  return edge.organisation(READ_SUBSCRIPTION, async ({ principal, params: { id } }) => {
    const record = await findSubscription(sql, principal, id);
    return record === null
      ? refuse('not_found', NOT_FOUND)
      : Response.json(fromSubscription(record));
  });
}

function readUpcoming({ edge, sql, ledger }: SubscriptionRoutesDeps): Route {
  return edge.organisation(UPCOMING, async ({ principal, params: { id } }) => {
    const record = await findSubscription(sql, principal, id);
    if (record === null) return refuse('not_found', NOT_FOUND);
    const upcoming = await findUpcoming({ sql, ledger }, principal, record);
    return upcoming === null
      ? refuse('invalid_state', 'the subscription has ended: nothing more is billed')
      : Response.json(fromUpcoming(upcoming));
  });
}

function changeOne(deps: SubscriptionRoutesDeps): Route {
  return deps.edge.organisation(CHANGE, (call) =>
    actOnce(deps, { ...call, operation: CHANGE }, toChange(call.body)),
  );
}

function cancelOne(deps: SubscriptionRoutesDeps): Route {
  return deps.edge.organisation(CANCEL, (call) =>
    actOnce(deps, { ...call, operation: CANCEL }, toCancel(call.body)),
  );
}

function uncancelOne(deps: SubscriptionRoutesDeps): Route {
  return deps.edge.organisation(UNCANCEL, (call) =>
    actOnce(deps, { ...call, operation: UNCANCEL }, { kind: 'uncancel' }),
  );
}

function unscheduleOne(deps: SubscriptionRoutesDeps): Route {
  return deps.edge.organisation(UNSCHEDULE, (call) =>
    actOnce(deps, { ...call, operation: UNSCHEDULE }, { kind: 'unschedule' }),
  );
}

function pauseOne(deps: SubscriptionRoutesDeps): Route {
  return deps.edge.organisation(PAUSE, (call) => {
    const pause = toPause(call.body);
    return 'path' in pause
      ? refuseInvalid([pause])
      : actOnce(deps, { ...call, operation: PAUSE }, pause);
  });
}

function resumeOne(deps: SubscriptionRoutesDeps): Route {
  return deps.edge.organisation(RESUME, (call) =>
    actOnce(deps, { ...call, operation: RESUME }, { kind: 'resume' }),
  );
}

function endTrialOfOne(deps: SubscriptionRoutesDeps): Route {
  return deps.edge.organisation(END_TRIAL, (call) =>
    actOnce(deps, { ...call, operation: END_TRIAL }, { kind: 'end_trial' }),
  );
}

/** Once done, these are refused, or would be done once more. The others may be repeated. */
const ONCE = new Set<SubscriptionAction['kind']>(['change', 'resume', 'unschedule', 'end_trial']);

type ActionCall = {
  readonly operation: Operation;
  readonly principal: OrganisationPrincipal;
  readonly params: { readonly id: string };
  readonly idempotencyKey: string | null;
};

function actOnce(
  { sql, ids, orgClock, keyLocks, subscriptions }: SubscriptionRoutesDeps,
  { operation, principal, params: { id: given }, idempotencyKey: key }: ActionCall,
  act: SubscriptionAction,
): Promise<Response> {
  const id = given.toLowerCase();
  const now = orgClock.now(principal);
  const target = { scope: tenantOf(principal), id };
  const begin = ONCE.has(act.kind) ? { begin: () => ids.next() } : {};
  const attempt = { sql, keyLocks, principal, operation, key, body: { id, act }, now, ...begin };
  return onceRepeatable(attempt, async (begun) => {
    const keyed = begun === null ? null : { requestId: begun.text, isAgain: begun.isAgain };
    return actAnswer(await subscriptions.act(target, act, keyed), act.kind);
  });
}
