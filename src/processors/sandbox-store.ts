// The tables of the sandbox. Only the sandbox writes them, like the books of a real processor; the
// audit compares them with ours.
//
// How: nothing is scheduled. A row says what it becomes and when, and a read takes that into
// account.
import type { FailureCode, RefundFailure } from '../../ledger/payments/payment.ts';
import type { Executor, Sql } from '../platform/postgres/postgres.ts';
import { namesOf, rowsOf } from '../platform/postgres/rows.ts';
import type { ChargeCourse, DisputeCourse, Failure, RefundCourse } from './cards.ts';
import type { Expiry, Method, RefundRequest } from './processor.ts';

export type ChargeStatus =
  | 'succeeded'
  | 'pending'
  | 'requires_action'
  | 'requires_confirmation'
  | 'declined'
  | 'canceled';
export type RefundStatus = 'succeeded' | 'pending' | 'declined';
export type NextStatus = 'succeeded' | 'declined';

export type ChargeRow = {
  readonly key: string;
  readonly status: ChargeStatus;
  readonly nextAt: Date | null;
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly method: Method | null;
  readonly expiry: Expiry | null;
  readonly refunds: RefundCourse;
  readonly dispute: DisputeCourse | null;
  readonly disputeEndsAt: Date | null;
  readonly failureCode: FailureCode | null;
  readonly failureMessage: string | null;
  readonly returnUrl: string | null;
  /** The charge that saved the instrument: itself where it is the one. */
  readonly mandate: string | null;
  readonly createdAt: Date;
};

export type NewCharge = ChargeRow & {
  readonly amount: bigint;
  readonly nextStatus: NextStatus | null;
  /** How later charges go, where this one saves the instrument. */
  readonly offSession: ChargeCourse | null;
};

/** What was saved. */
export type Mandate = Pick<ChargeRow, 'key' | 'method' | 'expiry' | 'refunds' | 'dispute'> & {
  readonly offSession: ChargeCourse;
  /** The message if it fails. */
  readonly failure: Failure | null;
  readonly isForgotten: boolean;
};

export type RefundRow = {
  readonly key: string;
  readonly status: RefundStatus;
  readonly nextAt: Date | null;
  readonly failure: RefundFailure | null;
};

type Time = Date | ReturnType<Executor>;

const statusAt = (sql: Executor, now: Time) => sql`
  case when next_at <= ${now} then next_status else status end`;

const chargeColumns = (sql: Executor, now: Time) => sql`
  key, ${statusAt(sql, now)} as status, next_at as "nextAt", amount, currency, method, expiry, refunds,
  dispute, dispute_ends_at as "disputeEndsAt", failure_code as "failureCode", failure_message as "failureMessage",
  return_url as "returnUrl", mandate, created_at as "createdAt"`;

const refundColumns = (sql: Executor, now: Time) => sql`
  key, ${statusAt(sql, now)} as status, next_at as "nextAt", failure`;

/**
 * Writes the charges whose keys are new, and returns those. In one order, so that two calls with
 * the same keys never deadlock.
 */
export async function insertCharges(
  sql: Sql,
  charges: readonly NewCharge[],
): Promise<readonly ChargeRow[]> {
  const rows = charges.map((charge) => ({
    key: charge.key,
    status: charge.status,
    next_status: charge.nextStatus,
    next_at: charge.nextAt?.getTime() ?? null,
    amount: charge.amount,
    currency: charge.currency,
    method: charge.method,
    expiry: charge.expiry,
    refunds: charge.refunds,
    dispute: charge.dispute,
    dispute_ends_at: charge.disputeEndsAt?.getTime() ?? null,
    failure_code: charge.failureCode,
    failure_message: charge.failureMessage,
    return_url: charge.returnUrl,
    mandate: charge.mandate,
    off_session: charge.offSession,
    created_at: charge.createdAt.getTime(),
  }));
  const names = namesOf(sql, NEW_CHARGE);
  return sql<ChargeRow[]>`
    insert into sandbox_charges (${names})
    select ${names} from unnest(${rowsOf(sql, NEW_CHARGE, rows)}::new_sandbox_charges_2[]) order by key
    on conflict (key) do nothing
    returning ${chargeColumns(sql, sql`created_at`)}`;
}

/** The type `new_sandbox_charges_2`. */
const NEW_CHARGE = {
  key: 'text',
  status: 'text',
  next_status: 'text',
  next_at: 'time',
  amount: 'bigint',
  currency: 'text',
  method: 'jsonb',
  expiry: 'jsonb',
  refunds: 'text',
  dispute: 'text',
  dispute_ends_at: 'time',
  failure_code: 'text',
  failure_message: 'text',
  return_url: 'text',
  mandate: 'text',
  off_session: 'text',
  created_at: 'time',
} as const;

export async function findCharge(sql: Sql, key: string, now: number): Promise<ChargeRow | null> {
  const [row] = await sql<ChargeRow[]>`
    select ${chargeColumns(sql, new Date(now))} from sandbox_charges where key = ${key}`;
  return row ?? null;
}

/**
 * What these charges saved. One that saved nothing is left out: it did not ask to, was declined, or
 * its buyer has not confirmed it.
 */
export function findMandates(sql: Sql, keys: readonly string[]): Promise<readonly Mandate[]> {
  // A pending charge was accepted. If it bounces later, its saved instrument stays.
  return sql<Mandate[]>`
    select key, method, expiry, refunds, dispute, off_session as "offSession", failure_code as failure,
      forgotten_at is not null as "isForgotten"
    from sandbox_charges
    where key = any(${[...keys]}::text[]) and off_session is not null and status in ('succeeded', 'pending')`;
}

export async function forgetMandate(sql: Sql, key: string, now: number): Promise<void> {
  await sql`
    update sandbox_charges set forgotten_at = ${new Date(now)}
    where key = ${key} and off_session is not null and forgotten_at is null`;
}

/** Decides a charge that the buyer has confirmed. Others stay as they are. */
export async function confirmCharge(sql: Sql, key: string): Promise<void> {
  await sql`
    update sandbox_charges set status = next_status, next_status = null
    where key = ${key} and status = 'requires_confirmation'`;
}

/**
 * Cancels a charge that waits for the buyer or for confirmation, and uses up the key of one that
 * has not arrived. Others stay as they are.
 */
export async function cancelCharge(sql: Sql, key: string, now: number): Promise<void> {
  await sql`
    insert into sandbox_charges (key, status, refunds, created_at)
    values (${key}, 'canceled', 'succeed', ${new Date(now)})
    on conflict (key) do update set status = 'canceled', next_status = null
    where sandbox_charges.status in ('requires_action', 'requires_confirmation')`;
}

/**
 * Records the buyer's answer to the bank. Returns where to send the buyer; null if no answer is
 * expected.
 */
export async function resolveAction(
  sql: Sql,
  key: string,
  refusal: { readonly failureCode: FailureCode; readonly failureMessage: string } | null,
): Promise<string | null> {
  const failed = refusal !== null;
  const [row] = await sql<{ returnUrl: string }[]>`
    update sandbox_charges set
      status = ${failed ? 'declined' : 'requires_confirmation'},
      next_status = ${failed ? null : sql`next_status`},
      failure_code = ${failed ? refusal.failureCode : sql`failure_code`},
      failure_message = ${failed ? refusal.failureMessage : sql`failure_message`}
    where key = ${key} and status = 'requires_action'
    returning return_url as "returnUrl"`;
  return row?.returnUrl ?? null;
}

/** Whether its buyer has disputed it, and may have won. */
const isDisputedAt = (sql: Executor, now: Time) => sql`
  (dispute = 'lost' or dispute = 'won' and dispute_ends_at > ${now}) is true`;

export type NewRefund = RefundRequest & { readonly at: Date; readonly settlesAt: Date };

/**
 * Takes refunds off their charges, and returns those. Left out are those that were made before, and
 * those of a charge that does not have as much as is asked of it here. One statement, so that a
 * charge is locked for one commit and no longer, and in one order, so that two never deadlock.
 */
export function takeRefunds(
  sql: Sql,
  refunds: readonly NewRefund[],
): Promise<readonly RefundRow[]> {
  const keys = refunds.map(({ key }) => key);
  const chargeKeys = refunds.map(({ chargeKey }) => chargeKey);
  const amounts = refunds.map(({ amount }) => String(amount));
  const currencies = refunds.map(({ currency }) => currency);
  const times = refunds.map(({ at }) => at.toISOString());
  const settled = refunds.map(({ settlesAt }) => settlesAt.toISOString());
  return sql<RefundRow[]>`
    with asked as materialized (
      select * from unnest(${keys}::text[], ${chargeKeys}::text[], ${amounts}::text[]::bigint[], ${currencies}::text[],
        ${times}::text[]::timestamptz[], ${settled}::text[]::timestamptz[]) as t (key, charge_key, amount, currency, at, settles_at)
      where not exists (select from sandbox_refunds made where made.key = t.key)
    ), locked as materialized (
      select key from sandbox_charges where key in (select charge_key from asked) order by key for no key update
    ), charge as (
      update sandbox_charges c set refunded = c.refunded + t.amount
      from (select charge_key, currency, sum(amount)::bigint as amount, max(at) as at from asked group by charge_key, currency) t
      where c.key = t.charge_key and c.key in (select key from locked) and c.currency = t.currency
        and ${statusAt(sql, sql`t.at`)} = 'succeeded' and not ${isDisputedAt(sql, sql`t.at`)}
        and c.refunded + t.amount <= c.amount + coalesce((
          select sum(failed.amount) from sandbox_refunds failed
          where failed.charge_key = c.key and failed.next_status = 'declined' and failed.next_at <= t.at), 0)
      returning c.key, c.currency, c.refunds)
    insert into sandbox_refunds (key, charge_key, amount, status, next_status, next_at, failure, created_at)
    select t.key, t.charge_key, t.amount,
      case charge.refunds when 'settle' then 'pending' else 'succeeded' end,
      case charge.refunds when 'settle' then 'succeeded' when 'fail_late' then 'declined' end,
      case when charge.refunds <> 'succeed' then t.settles_at end,
      case charge.refunds when 'fail_late' then 'expired_or_canceled_card' end,
      t.at
    from asked t join charge on charge.key = t.charge_key and charge.currency = t.currency
    returning ${refundColumns(sql, sql`created_at`)}`;
}

/**
 * The refund with this key, which `takeRefunds` did not take with others: made before, made now if
 * the charge has as much, or declined. null where there is no such charge.
 */
export async function makeRefund(sql: Sql, refund: NewRefund): Promise<RefundRow | null> {
  const { key, chargeKey, amount, at } = refund;
  try {
    const [made] = await takeRefunds(sql, [refund]);
    if (made !== undefined) return made;
  } catch (error) {
    // Two concurrent calls with one key: both took the amount, one wrote the refund, and the other
    // was rolled back.
    if (!isTaken(error)) throw error;
  }
  const found = await findRefund(sql, key, at.getTime());
  if (found !== null) return found;
  await sql`
    insert into sandbox_refunds (key, charge_key, amount, status, failure, created_at)
    select ${key}, key, ${amount}, 'declined', case when ${isDisputedAt(sql, at)} then 'disputed' else 'declined' end, ${at}
    from sandbox_charges where key = ${chargeKey}
    on conflict (key) do nothing`;
  return findRefund(sql, key, at.getTime());
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    'constraint_name' in error &&
    error.constraint_name === 'sandbox_refunds_pkey'
  );
}

export async function findRefund(sql: Sql, key: string, now: number): Promise<RefundRow | null> {
  const [row] = await sql<RefundRow[]>`
    select ${refundColumns(sql, new Date(now))} from sandbox_refunds where key = ${key}`;
  return row ?? null;
}
