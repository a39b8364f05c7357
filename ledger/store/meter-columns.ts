// The columns of what a customer's actor writes now and then: accounts that it opens, grants,
// states of meters, alarms and events. They come as rows (`columns.ts`).
import type {
  AccountOpening,
  AlarmKind,
  EventRow,
  FlushRows,
  GrantRow,
  StateRow,
} from '../storage.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { alarmOf } from '../metering/meter.ts';
import { indexOf, timeOf } from '../metering/stretch.ts';
import { added, kept, replaced, type RowColumns } from './columns.ts';

export const ACCOUNT_COLUMNS = {
  id: kept('uuid', ({ id }) => id),
  slot: kept('smallint', ({ slot }) => slot),
  organisation_id: kept('uuid', ({ owner }) => owner.organisationId),
  mode: kept('enum', ({ owner }) => owner.mode),
  kind: kept('enum', ({ kind }) => kind),
  customer_id: kept('uuid', ({ customerId }) => customerId),
  meter_id: kept('uuid', ({ owner }) => owner.meterId),
  currency: kept('text', ({ owner }) => owner.currency),
  period_start: kept('time', ({ period }) => period?.start ?? null),
} as const satisfies RowColumns<AccountOpening>;

const OPENING_TOTALS = {
  id: kept('uuid', ({ id }) => id),
  debits_posted: added('bigint', ({ delta }) => delta.debitsPosted),
  debits_pending: added('bigint', ({ delta }) => delta.debitsPending),
  credits_posted: added('bigint', ({ delta }) => delta.creditsPosted),
  credits_pending: added('bigint', ({ delta }) => delta.creditsPending),
} as const satisfies RowColumns<AccountOpening>;

/** The totals of an actor's account. */
export const BALANCE_COLUMNS = {
  ...OPENING_TOTALS,
  slot: kept('smallint', ({ slot }) => slot),
  aggregate: kept('bigint', ({ period }) => period?.aggregate ?? null),
  latest_at: kept('time', ({ period }) => period?.latest?.at ?? null),
  latest_id: kept('uuid', ({ period }) => period?.latest?.id ?? null),
  period_end: kept('time', ({ period }) => period?.end ?? null),
  updated_at: kept('time', ({ period }) => period?.updatedAt ?? null),
  // A payment's refunds may not exceed what was captured, even where its actor is wrong.
  capped: kept('boolean', ({ kind }) => kind === 'payment'),
} as const satisfies RowColumns<AccountOpening>;

/** The totals of one of the node's other sides. */
export const SIDE_COLUMNS = OPENING_TOTALS;

export const MEMBER_COLUMNS = {
  slot: kept('smallint', ({ slot }) => slot),
  account_id: kept('uuid', ({ accountId }) => accountId),
  member: kept('bigint', ({ member }) => member),
} as const satisfies RowColumns<FlushRows['members'][number]>;

export const POOLED_COLUMNS = {
  slot: kept('smallint', ({ slot }) => slot),
  account_id: kept('uuid', ({ accountId }) => accountId),
  rate: kept('bigint', ({ rate }) => rate),
} as const satisfies RowColumns<FlushRows['pooled'][number]>;

export const GRANT_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  id: kept('uuid', ({ grant }) => grant.id),
  organisation_id: kept('uuid', ({ customer }) => customer.organisationId),
  mode: kept('enum', ({ customer }) => customer.mode),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  meter_id: kept('uuid', ({ meterId }) => meterId),
  source: kept('text', ({ grant }) => grant.source),
  // What rolls over late is added to what rolled over before.
  amount: replaced('bigint', ({ grant }) => grant.amount),
  used: replaced('bigint', ({ grant }) => grant.used),
  spent: replaced('bigint', ({ grant }) => grant.spent),
  grown: replaced('bigint', ({ grant }) => grant.grown),
  cut: replaced('exact_json', ({ grant }) => (grant.cut.length === 0 ? null : grant.cut)),
  rests: replaced('exact_json', ({ grant }) => (grant.rests.length === 0 ? null : grant.rests)),
  started_at: replaced('time', ({ grant }) => grant.startedAt && timeOf(grant.startedAt)),
  started_in: replaced('integer', ({ grant }) => grant.startedAt && indexOf(grant.startedAt)),
  ended_in: replaced('integer', ({ grant }) => grant.endedIn),
  effective_at: kept('time', ({ grant }) => grant.effectiveAt),
  priority: kept('integer', ({ grant }) => grant.priority),
  overage_allowed: kept('boolean', ({ grant }) => grant.overageAllowed),
  usage_price_id: kept('uuid', ({ grant }) => grant.price?.id ?? null),
  charges: replaced('boolean', ({ grant }) => grant.charges),
  cycle_anchor: kept('time', ({ grant }) => grant.recurs?.cycle.anchor ?? null),
  reset_interval: kept('text', ({ grant }) => grant.recurs?.cycle.interval ?? null),
  reset_count: kept('integer', ({ grant }) => grant.recurs?.cycle.count ?? null),
  cycle_zone: kept('text', ({ grant }) => grant.recurs?.cycle.zone ?? null),
  // Of what has rolled over it is what the plan of now lets be used of it.
  rollover_max: replaced('bigint', ({ grant }) => grant.recurs?.rollover?.max ?? grant.cap),
  rollover_periods: kept(
    'integer',
    ({ grant }) => grant.recurs?.rollover?.expiresAfterPeriods ?? null,
  ),
  started: replaced('boolean', ({ grant }) => grant.started),
  expires_at: replaced('time', ({ grant }) => grant.expiresAt),
  renews_at: replaced('time', ({ grant }) => grant.renewsAt),
  suspended: replaced('text', ({ grant }) => grant.suspended),
  is_boolean: kept('boolean', ({ grant }) => grant.boolean),
  product_id: kept('uuid', ({ grant }) => grant.productId),
  subscription_id: kept('uuid', ({ grant }) => grant.subscriptionId),
  reason: kept('text', ({ grant }) => grant.reason),
  created_at: kept('time', ({ grant }) => grant.createdAt),
  ended_at: replaced('time', ({ grant }) => grant.ended?.at ?? null),
  ended_how: replaced('text', ({ grant }) => grant.ended?.how ?? null),
} as const satisfies RowColumns<GrantRow>;

export const STATE_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  meter_id: kept('uuid', ({ state }) => state.meterId),
  period_start: replaced('time', ({ state }) => state.current.start),
  period_end: replaced('time', ({ state }) => state.current.end),
  allocated: replaced('bigint', ({ state }) => state.allocated),
  stretch_start: replaced('time', ({ state }) => timeOf(state.stretch.start)),
  stretch_place: replaced('integer', ({ state }) => indexOf(state.stretch.start)),
  stretch_aggregate: replaced('bigint', ({ state }) => state.stretch.aggregate),
  first_grant_at: replaced('time', ({ state }) => state.firstGrantAt),
  ever_expired: replaced('boolean', ({ state }) => state.everExpired),
  exhausted: replaced('boolean', ({ state }) => state.exhausted),
  sequence: replaced('bigint', ({ state }) => state.sequence),
  event_at: replaced('time', ({ state }) => state.eventAt),
  fired: replaced('jsonb', ({ state }) => state.fired),
} as const satisfies RowColumns<StateRow>;

/** An alarm. `dueAt` is null where it is to be deleted. */
export type AlarmRow = {
  readonly slot: number;
  readonly actorId: string;
  readonly subjectId: string;
  readonly dueAt: number | null;
  readonly kind: AlarmKind;
  readonly tenant: Tenant;
};

export const ALARM_COLUMNS = {
  slot: kept('smallint', ({ slot }) => slot),
  actor_id: kept('uuid', ({ actorId }) => actorId),
  subject_id: kept('uuid', ({ subjectId }) => subjectId),
  due_at: replaced('time', ({ dueAt }) => dueAt),
  kind: kept('text', ({ kind }) => kind),
  organisation_id: kept('uuid', ({ tenant }) => tenant.organisationId),
  mode: kept('enum', ({ tenant }) => tenant.mode),
} as const satisfies RowColumns<AlarmRow>;

export function meterAlarm({ customer, state }: StateRow): AlarmRow {
  return {
    slot: customer.slot,
    actorId: customer.id,
    subjectId: state.meterId,
    dueAt: alarmOf(state),
    kind: 'meter',
    tenant: customer,
  };
}

export const EVENT_COLUMNS = {
  id: kept('uuid', ({ event }) => event.id),
  organisation_id: kept('uuid', ({ organisationId }) => organisationId),
  mode: kept('enum', ({ mode }) => mode),
  type: kept('text', ({ event }) => event.type),
  object_type: kept('text', ({ event }) => event.objectType),
  object_id: kept('uuid', ({ event }) => event.objectId),
  account_id: kept('uuid', ({ event }) => event.accountId),
  sequence: kept('bigint', ({ event }) => event.sequence),
  at: kept('time', ({ event }) => event.timestamp),
  data: kept('jsonb', ({ event }) => event.data),
} as const satisfies RowColumns<EventRow>;

/** Slots that this node gives away. */
export const HANDOVER_COLUMNS = {
  slot: kept('smallint', ({ slot }) => slot),
  node: kept('smallint', ({ node }) => node),
} as const satisfies RowColumns<FlushRows['handovers'][number]>;
