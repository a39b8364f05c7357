// The columns of what a customer's actor writes now and then: accounts that it opens, grants,
// states of meters, alarms and events. They come as JSON (`columns.ts`).
import type {
  AccountOpening,
  AlarmKind,
  EventRow,
  FlushRows,
  GrantRow,
  StateRow,
} from '../storage.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { added, int8, type JsonColumns, kept, replaced, time } from './columns.ts';

export const ACCOUNT_COLUMNS = {
  id: kept(({ id }) => id),
  slot: kept(({ slot }) => slot),
  organisation_id: kept(({ owner }) => owner.organisationId),
  mode: kept(({ owner }) => owner.mode),
  kind: kept(({ kind }) => kind),
  customer_id: kept(({ customerId }) => customerId),
  meter_id: kept(({ owner }) => owner.meterId),
  currency: kept(({ owner }) => owner.currency),
  period_start: kept(({ period }) => time(period?.start ?? null)),
} as const satisfies JsonColumns<AccountOpening>;

const OPENING_TOTALS = {
  id: kept(({ id }) => id),
  debits_posted: added(({ delta }) => int8(delta.debitsPosted)),
  debits_pending: added(({ delta }) => int8(delta.debitsPending)),
  credits_posted: added(({ delta }) => int8(delta.creditsPosted)),
  credits_pending: added(({ delta }) => int8(delta.creditsPending)),
} as const satisfies JsonColumns<AccountOpening>;

/** The totals of an actor's account. */
export const BALANCE_COLUMNS = {
  ...OPENING_TOTALS,
  slot: kept(({ slot }) => slot),
  aggregate: kept(({ period }) => (period === null ? null : int8(period.aggregate))),
  latest_at: kept(({ period }) => time(period?.latest?.at ?? null)),
  latest_id: kept(({ period }) => period?.latest?.id ?? null),
  period_end: kept(({ period }) => time(period?.end ?? null)),
  updated_at: kept(({ period }) => time(period?.updatedAt ?? null)),
  // A payment's refunds may not exceed what was captured, even where its actor is wrong.
  capped: kept(({ kind }) => kind === 'payment'),
} as const satisfies JsonColumns<AccountOpening>;

/** The totals of one of the node's other sides. */
export const SIDE_COLUMNS = OPENING_TOTALS;

export const MEMBER_COLUMNS = {
  slot: kept(({ slot }) => slot),
  account_id: kept(({ accountId }) => accountId),
  member: kept(({ member }) => int8(member)),
} as const satisfies JsonColumns<FlushRows['members'][number]>;

export const GRANT_COLUMNS = {
  slot: kept(({ customer }) => customer.slot),
  id: kept(({ grant }) => grant.id),
  organisation_id: kept(({ customer }) => customer.organisationId),
  mode: kept(({ customer }) => customer.mode),
  customer_id: kept(({ customer }) => customer.id),
  meter_id: kept(({ meterId }) => meterId),
  source: kept(({ grant }) => grant.source),
  amount: kept(({ grant }) => (grant.amount === null ? null : int8(grant.amount))),
  used: replaced(({ grant }) => int8(grant.used)),
  spent: replaced(({ grant }) => int8(grant.spent)),
  effective_at: kept(({ grant }) => time(grant.effectiveAt)),
  priority: kept(({ grant }) => grant.priority),
  overage_allowed: kept(({ grant }) => grant.overageAllowed),
  cycle_anchor: kept(({ grant }) => time(grant.recurs?.cycle.anchor ?? null)),
  reset_interval: kept(({ grant }) => grant.recurs?.cycle.interval ?? null),
  reset_count: kept(({ grant }) => grant.recurs?.cycle.count ?? null),
  cycle_zone: kept(({ grant }) => grant.recurs?.cycle.zone ?? null),
  rollover_max: kept(({ grant }) =>
    grant.recurs?.rollover ? int8(grant.recurs.rollover.max) : null,
  ),
  rollover_periods: kept(({ grant }) => grant.recurs?.rollover?.expiresAfterPeriods ?? null),
  started: replaced(({ grant }) => grant.started),
  expires_at: replaced(({ grant }) => time(grant.expiresAt)),
  renews_at: replaced(({ grant }) => time(grant.renewsAt)),
  suspended: replaced(({ grant }) => grant.suspended),
  is_boolean: kept(({ grant }) => grant.boolean),
  product_id: kept(({ grant }) => grant.productId),
  subscription_id: kept(({ grant }) => grant.subscriptionId),
  reason: kept(({ grant }) => grant.reason),
  created_at: kept(({ grant }) => time(grant.createdAt)),
  ended_at: replaced(({ grant }) => time(grant.ended?.at ?? null)),
  ended_how: replaced(({ grant }) => grant.ended?.how ?? null),
} as const satisfies JsonColumns<GrantRow>;

export const STATE_COLUMNS = {
  slot: kept(({ customer }) => customer.slot),
  customer_id: kept(({ customer }) => customer.id),
  meter_id: kept(({ state }) => state.meterId),
  period_start: replaced(({ state }) => time(state.current.start)),
  period_end: replaced(({ state }) => time(state.current.end)),
  allocated: replaced(({ state }) => int8(state.allocated)),
  first_grant_at: replaced(({ state }) => time(state.firstGrantAt)),
  ever_expired: replaced(({ state }) => state.everExpired),
  exhausted: replaced(({ state }) => state.exhausted),
  sequence: replaced(({ state }) => int8(state.sequence)),
  event_at: replaced(({ state }) => time(state.eventAt)),
} as const satisfies JsonColumns<StateRow>;

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
  slot: kept(({ slot }) => slot),
  actor_id: kept(({ actorId }) => actorId),
  subject_id: kept(({ subjectId }) => subjectId),
  due_at: replaced(({ dueAt }) => time(dueAt)),
  kind: kept(({ kind }) => kind),
  organisation_id: kept(({ tenant }) => tenant.organisationId),
  mode: kept(({ tenant }) => tenant.mode),
} as const satisfies JsonColumns<AlarmRow>;

export function meterAlarm({ customer, state }: StateRow): AlarmRow {
  return {
    slot: customer.slot,
    actorId: customer.id,
    subjectId: state.meterId,
    dueAt: state.nextDue === Infinity ? null : state.nextDue,
    kind: 'meter',
    tenant: customer,
  };
}

export const EVENT_COLUMNS = {
  id: kept(({ event }) => event.id),
  organisation_id: kept(({ organisationId }) => organisationId),
  mode: kept(({ mode }) => mode),
  type: kept(({ event }) => event.type),
  object_type: kept(({ event }) => event.objectType),
  object_id: kept(({ event }) => event.objectId),
  account_id: kept(({ event }) => event.accountId),
  sequence: kept(({ event }) => int8(event.sequence)),
  at: kept(({ event }) => time(event.timestamp)),
  data: kept(({ event }) => event.data),
} as const satisfies JsonColumns<EventRow>;
