// The sandbox's books: two tables that nothing else reads or writes, as a real processor's are its own.
//
// What happens later is not done later: a row says what it becomes and when, and is read as what it is by then.
import type { Executor, Sql } from '../platform/postgres.ts';
import type { RefundCourse } from './cards.ts';
import type { Method, RefundFailure, RefundRequest } from './processor.ts';

export type ChargeStatus = 'succeeded' | 'pending' | 'requires_action' | 'declined' | 'canceled';
export type RefundStatus = 'succeeded' | 'pending' | 'declined';
export type NextStatus = 'succeeded' | 'declined';

export type ChargeRow = {
  readonly key: string;
  readonly status: ChargeStatus;
  readonly nextAt: Date | null;
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly method: Method | null;
  readonly refunds: RefundCourse;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly returnUrl: string | null;
};

export type NewCharge = ChargeRow & { readonly nextStatus: NextStatus | null };

export type RefundRow = {
  readonly key: string;
  readonly status: RefundStatus;
  readonly nextAt: Date | null;
  readonly failure: RefundFailure | null;
};

/** How a refund begins, and what becomes of it. */
export type NewRefund = Omit<RefundRow, 'key'> & { readonly nextStatus: NextStatus | null };

/** A charge as it is when a refund of it is decided: nobody else decides one meanwhile. */
export type LockedCharge = Pick<ChargeRow, 'status' | 'currency' | 'refunds'> & {
  /** Of its amount, what no refund has taken. */
  readonly left: bigint;
};

const statusAt = (sql: Executor, now: Date) => sql`
  case when next_at <= ${now} then next_status else status end`;

/** Whether this call made it: the first with a key does. */
export async function insertCharge(sql: Sql, charge: NewCharge, now: number): Promise<boolean> {
  const { key, status, nextStatus, nextAt, amount, currency, method, refunds } = charge;
  const { failureCode, failureMessage, returnUrl } = charge;
  const made = await sql`
    insert into sandbox_charges (key, status, next_status, next_at, amount, currency, method, refunds,
      failure_code, failure_message, return_url, created_at)
    values (${key}, ${status}, ${nextStatus}, ${nextAt}, ${amount}, ${currency},
      ${method === null ? null : sql.json(method)}, ${refunds}, ${failureCode}, ${failureMessage},
      ${returnUrl}, ${new Date(now)})
    on conflict (key) do nothing`;
  return made.count === 1;
}

export async function findCharge(sql: Sql, key: string, now: number): Promise<ChargeRow | null> {
  const [row] = await sql<ChargeRow[]>`
    select key, ${statusAt(sql, new Date(now))} as status, next_at as "nextAt", amount, currency, method,
      refunds, failure_code as "failureCode", failure_message as "failureMessage",
      return_url as "returnUrl"
    from sandbox_charges where key = ${key}`;
  return row ?? null;
}

/** Ends what waits for its buyer, and spends the key of what has not come. Anything else stays as it is. */
export async function cancelCharge(sql: Sql, key: string, now: number): Promise<void> {
  await sql`
    insert into sandbox_charges (key, status, refunds, created_at)
    values (${key}, 'canceled', 'succeed', ${new Date(now)})
    on conflict (key) do update set status = 'canceled', next_status = null
    where sandbox_charges.status = 'requires_action'`;
}

/** The buyer has answered the bank. Where to send him; null where nothing waits for an answer. */
export async function resolveAction(
  sql: Sql,
  key: string,
  refusal: { readonly failureCode: string; readonly failureMessage: string } | null,
): Promise<string | null> {
  const failed = refusal !== null;
  const [row] = await sql<{ returnUrl: string }[]>`
    update sandbox_charges set
      status = ${failed ? sql`'declined'` : sql`next_status`}, next_status = null,
      failure_code = ${failed ? refusal.failureCode : sql`failure_code`},
      failure_message = ${failed ? refusal.failureMessage : sql`failure_message`}
    where key = ${key} and status = 'requires_action'
    returning return_url as "returnUrl"`;
  return row?.returnUrl ?? null;
}

/**
 * The refund with this key: the first call makes it as `decide` says, under the lock of its charge, so that two calls never give the
 * same money back. null where there is no such charge.
 */
export async function settleRefund(
  sql: Sql,
  request: RefundRequest,
  { now, decide }: { now: number; decide: (charge: LockedCharge) => NewRefund },
): Promise<RefundRow | null> {
  const { key, chargeKey, amount } = request;
  const at = new Date(now);
  return sql.begin(async (transaction) => {
    const [charge] = await transaction<(Omit<LockedCharge, 'left'> & { amount: bigint | null })[]>`
      select ${statusAt(sql, at)} as status, amount, currency, refunds
      from sandbox_charges where key = ${chargeKey} for update`;
    if (charge === undefined) return null;
    // A statement of its own: what was committed while this one waited for the lock has to be in the sum.
    const [taken] = await transaction<{ amount: bigint }[]>`
      select coalesce(sum(amount), 0)::bigint as amount from sandbox_refunds
      where charge_key = ${chargeKey} and ${statusAt(sql, at)} <> 'declined'`;
    const left = (charge.amount ?? 0n) - (taken?.amount ?? 0n);
    const { status, nextStatus, nextAt, failure } = decide({ ...charge, left });
    await transaction`
      insert into sandbox_refunds (key, charge_key, amount, status, next_status, next_at, failure, created_at)
      values (${key}, ${chargeKey}, ${amount}, ${status}, ${nextStatus}, ${nextAt}, ${failure}, ${at})
      on conflict (key) do nothing`;
    return findRefund(transaction, key, now);
  });
}

export async function findRefund(
  sql: Executor,
  key: string,
  now: number,
): Promise<RefundRow | null> {
  const [row] = await sql<RefundRow[]>`
    select key, ${statusAt(sql, new Date(now))} as status, next_at as "nextAt", failure
    from sandbox_refunds where key = ${key}`;
  return row ?? null;
}
