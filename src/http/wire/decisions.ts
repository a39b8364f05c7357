// GET /decisions: what was decided about usage, and why.
import { type Static, Type } from '@sinclair/typebox';
import { burnOrder, GRANT_SOURCES } from '../../../ledger/metering/grants.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { ruleOf } from '../../decisions/rules.ts';
import type { DecisionRecord } from '../../records/decisions.ts';
import {
  type GrantThen,
  type SubscriptionThen,
  suspensionThen,
} from '../../records/grants-then.ts';
import { CheckReason } from './metering.ts';
import {
  Body,
  ExternalCustomerId,
  namedOneOf,
  Nullable,
  Timestamp,
  Uuid,
  oneOf,
} from './values.ts';

export const DecisionQuery = Body({
  request_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The x-request-id of a call that was denied, or that changed something.',
    }),
  ),
  event_id: Type.Optional({
    ...Uuid,
    description:
      'The id in the answer of /track. The id of any other object: `object` says what it is.',
  }),
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'An idempotency key of the customer, from a body or a header.',
    }),
  ),
  at: Type.Optional({
    ...Timestamp,
    description: "A time of the organization's clock: the decisions about the customer around it.",
  }),
  customer_id: Type.Optional(Uuid),
  external_customer_id: Type.Optional(ExternalCustomerId),
  feature_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Only with `at`.' }),
  ),
  only: Type.Optional({
    ...namedOneOf(['denied']),
    description: 'Only with `at`: denials only.',
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 50,
      default: 20,
      description: 'The number of decisions before and after `at`.',
      error: 'must be a whole number from 1 to 50',
    }),
  ),
});

export type DecisionQuery = Static<typeof DecisionQuery>;

export const BalanceThen = Type.Object({
  balance: Nullable(Type.Number({ description: 'null: unlimited.' })),
  limit: Nullable(Type.Number({ description: 'null: unlimited.' })),
  consumed: Type.Number(),
});

export const Decision = Type.Object({
  id: Uuid,
  kind: oneOf(['check', 'consume', 'track', 'reserve', 'usage'], {
    description:
      '`check`, `consume` (a check with consume), `reserve` and `track` are denials; `usage` ' +
      'was recorded, or refused so long ago that no details are stored.',
  }),
  allowed: Type.Boolean(),
  reason: CheckReason,
  rule: Type.String({ description: 'The reason as a sentence, with its numbers.' }),
  at: Type.String({
    ...Timestamp,
    description:
      "The time at which it counts, by the organization's clock. Earlier for a late event.",
  }),
  decided_at: Timestamp,
  recorded_at: Nullable(Type.String({ ...Timestamp, description: 'Real time. null: not stored.' })),
  count: Type.Integer({
    description: 'How many identical calls got this answer, until `last_at`.',
  }),
  last_at: Timestamp,
  customer_id: Uuid,
  external_customer_id: Nullable(Type.String()),
  feature_key: Type.String(),
  value: Type.Number({ description: 'The requested or reported value.' }),
  balance_before: BalanceThen,
  balance_after: BalanceThen,
  period_start: Nullable(Timestamp),
  period_end: Nullable(Timestamp),
  event_id: Nullable(
    Type.String({ ...Uuid, description: "The ledger's id of it, if it has one." }),
  ),
  replayed: Type.Boolean({ description: 'Whether it repeats a refusal under the same key.' }),
  request_ids: Type.Array(Type.String(), { description: 'The first of them.' }),
});

export const GrantOfThen = Type.Object({
  id: Uuid,
  state: oneOf(['in_force', 'over', 'to_come'], { description: 'As of that time.' }),
  suspended: Nullable(
    oneOf(['paused', 'blocked'], {
      description: 'As of that time, from the events of its subscription.',
    }),
  ),
  source: oneOf(GRANT_SOURCES),
  amount: Nullable(Type.Number({ description: 'What it gives in each period. null: unlimited.' })),
  effective_at: Timestamp,
  expires_at: Nullable(Timestamp),
  ended_at: Nullable(Timestamp),
  ended_how: Nullable(oneOf(['expired', 'voided', 'used_up'])),
  priority: Type.Integer(),
  overage_allowed: Type.Boolean(),
  is_sold: Type.Boolean({ description: 'Whether usage beyond it has a price.' }),
  reset_interval: Nullable(Type.String()),
  product_id: Nullable(Uuid),
  subscription_id: Nullable(Uuid),
  reason: Nullable(Type.String()),
});

export const SubscriptionOfThen = Type.Object({
  id: Uuid,
  status: Nullable(
    Type.String({ description: 'As of that time: active, paused, canceled. null: not started.' }),
  ),
  blocked: Type.Boolean({ description: 'As of that time, by dunning.' }),
  since: Nullable(Timestamp),
  status_now: Type.String(),
  plan_now: Type.String(),
});

export const DecisionState = Type.Object(
  {
    at: Timestamp,
    customer_id: Uuid,
    feature_key: Type.String(),
    decision_id: Nullable(
      Type.String({ ...Uuid, description: 'The decision that it is the state of.' }),
    ),
    grants: Type.Array(GrantOfThen, {
      description:
        'Those in force in burn order, then the nearest that had ended or were scheduled.',
    }),
    subscriptions: Type.Array(SubscriptionOfThen, { description: 'Of these grants.' }),
    left_out: Type.Integer({
      description:
        'Denials of the feature within a minute, of any customer, that were counted and not ' +
        'stored.',
    }),
  },
  {
    description:
      'What was in force at the denial (or else the decision) nearest to the given time.',
  },
);

export const NamedObject = Type.Object(
  { type: Type.String(), id: Type.String() },
  { description: 'The other object that the given id names, or that the request changed.' },
);

export const Decisions = Type.Object({
  data: Type.Array(Decision, { description: 'Newest first.' }),
  state: Nullable(DecisionState),
  object: Nullable(NamedObject),
});

const time = (at: Date | null): string | null => at?.toISOString() ?? null;

export function fromDecision(record: DecisionRecord): Static<typeof Decision> {
  const { scale, isDenied, reason, limit, change, reserved } = record;
  const number = (value: bigint): number => quantityNumber(value, scale);
  const leftOf = (consumed: bigint) =>
    limit === null ? null : limit - consumed - (reserved ?? 0n);
  const balance = (consumed: bigint) => {
    const left = leftOf(consumed);
    return {
      balance: left === null ? null : number(left),
      limit: limit === null ? null : number(limit),
      consumed: number(consumed),
    };
  };
  return {
    id: record.id,
    kind: record.kind,
    allowed: !isDenied,
    reason,
    rule: ruleOf(reason, isDenied, {
      asked: record.value,
      consumed: record.consumed,
      limit,
      left: leftOf(record.consumed),
      scale,
    }),
    at: record.at.toISOString(),
    decided_at: record.decidedAt.toISOString(),
    recorded_at: time(record.recordedAt),
    count: record.count,
    last_at: record.lastAt.toISOString(),
    customer_id: record.customerId,
    external_customer_id: record.externalCustomerId,
    feature_key: record.featureKey,
    value: number(record.value),
    balance_before: balance(record.consumed - change),
    balance_after: balance(record.consumed),
    // The endless period of a customer begins with time itself.
    period_start: record.periodStart?.getTime() ? record.periodStart.toISOString() : null,
    period_end: time(record.periodEnd),
    event_id: record.transferId,
    replayed: record.replayed,
    request_ids: [...record.requestIds],
  };
}

export type StateThen = {
  readonly at: Date;
  readonly customerId: string;
  readonly meter: { readonly featureKey: string; readonly scale: number };
  readonly decisionId: string | null;
  readonly grants: readonly GrantThen[];
  readonly subscriptions: readonly SubscriptionThen[];
  readonly leftOut: number;
};

export function fromState(then: StateThen): Static<typeof DecisionState> {
  const { meter, subscriptions } = then;
  const of = new Map(subscriptions.map((one) => [one.id, one]));
  return {
    at: then.at.toISOString(),
    customer_id: then.customerId,
    feature_key: meter.featureKey,
    decision_id: then.decisionId,
    grants: inOrder(then.grants, of).map((grant) => fromGrantThen(grant, of, meter.scale)),
    subscriptions: subscriptions.map((one) => ({
      id: one.id,
      status: one.status,
      blocked: one.isBlocked,
      since: time(one.since),
      status_now: one.statusNow,
      plan_now: one.planNow,
    })),
    left_out: then.leftOut,
  };
}

type Of = ReadonlyMap<string, SubscriptionThen>;

const STATES = ['in_force', 'over', 'to_come'];

function inOrder(grants: readonly GrantThen[], of: Of): GrantThen[] {
  const burning = (grant: GrantThen) => ({
    id: grant.id,
    source: grant.source,
    priority: grant.priority,
    expiresAt: grant.expiresAt?.getTime() ?? null,
    createdAt: grant.createdAt.getTime(),
    suspended: suspensionThen(of.get(grant.subscriptionId ?? '')),
  });
  return [...grants].sort(
    (a, b) =>
      STATES.indexOf(a.state) - STATES.indexOf(b.state) || burnOrder(burning(a), burning(b)),
  );
}

function fromGrantThen(grant: GrantThen, of: Of, scale: number) {
  return {
    id: grant.id,
    state: grant.state,
    suspended: suspensionThen(of.get(grant.subscriptionId ?? '')),
    source: grant.source,
    amount: grant.amount === null ? null : quantityNumber(grant.amount, scale),
    effective_at: grant.effectiveAt.toISOString(),
    expires_at: time(grant.expiresAt),
    ended_at: time(grant.endedAt),
    ended_how: grant.endedHow,
    priority: grant.priority,
    overage_allowed: grant.overageAllowed,
    is_sold: grant.isSold,
    reset_interval: grant.resetInterval,
    product_id: grant.productId,
    subscription_id: grant.subscriptionId,
    reason: grant.reason,
  };
}
