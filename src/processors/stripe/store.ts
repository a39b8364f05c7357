// The adapter's tables: which of Stripe's objects belongs to a key of ours.
//
// Holds: a key has one object for ever. A key that was given up before it had one never gets one.
import type { FailureCode, RefundFailure } from '../../../ledger/payments/payment.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';

/** A Checkout Session that charges, one that only saves, or a PaymentIntent without its buyer. */
export type ChargeKind = 'session' | 'setup' | 'intent';

export type ChargeRow = {
  readonly key: string;
  /** null where it was given up before it came. */
  readonly kind: ChargeKind | null;
  readonly currency: string | null;
  readonly stripeId: string | null;
  /** The PaymentIntent or SetupIntent, once there is one. */
  readonly intent: string | null;
  /** `open`: what became of it is what Stripe says. */
  readonly state: 'open' | 'canceled' | 'declined';
  /** Of `declined`. */
  readonly code: FailureCode | null;
  readonly createdAt: Date;
};

export type NewCharge = {
  readonly key: string;
  readonly account: string;
  readonly kind: ChargeKind;
  readonly currency: string;
  readonly createdAt: Date;
};

export type RefundRow = {
  readonly key: string;
  readonly chargeKey: string;
  readonly stripeId: string | null;
  /** Why Stripe made none. */
  readonly declined: RefundFailure | null;
};

const chargeColumns = (sql: Sql) => sql`
  key, kind, currency, stripe_id as "stripeId", intent, state, code, created_at as "createdAt"`;

const refundColumns = (sql: Sql) => sql`
  key, charge_key as "chargeKey", stripe_id as "stripeId", declined`;

/** The charge of this key, which is made if it is new. */
export async function beginCharge(sql: Sql, charge: NewCharge): Promise<ChargeRow> {
  const { key, account, kind, currency, createdAt } = charge;
  // An update that changes nothing, so that a row which is there is returned as well.
  const [row] = await sql<[ChargeRow]>`
    insert into stripe_charges (key, account, kind, currency, state, created_at)
    values (${key}, ${account}, ${kind}, ${currency}, 'open', ${createdAt})
    on conflict (key) do update set key = excluded.key
    returning ${chargeColumns(sql)}`;
  return row;
}

export async function findCharge(sql: Sql, key: string): Promise<ChargeRow | null> {
  const [row] = await sql<ChargeRow[]>`
    select ${chargeColumns(sql)} from stripe_charges where key = ${key}`;
  return row ?? null;
}

/** Keeps Stripe's id. Returns whether the key still had none and was not given up. */
export async function keepCharge(
  sql: Sql,
  { key, stripeId, intent }: Pick<ChargeRow, 'key' | 'stripeId' | 'intent'>,
): Promise<boolean> {
  const kept = await sql`
    update stripe_charges set stripe_id = ${stripeId}, intent = ${intent}
    where key = ${key} and state = 'open' and stripe_id is null`;
  return kept.count > 0;
}

/** The key of the charge that has this intent; null where it is none of ours. */
export async function findKeyOfIntent(
  sql: Sql,
  { account, intent }: { readonly account: string; readonly intent: string },
): Promise<string | null> {
  const [row] = await sql<{ key: string }[]>`
    select key from stripe_charges where account = ${account} and intent = ${intent}`;
  return row?.key ?? null;
}

/** Keeps the intent that a session has made. */
export async function keepIntent(sql: Sql, key: string, intent: string): Promise<void> {
  await sql`update stripe_charges set intent = ${intent} where key = ${key} and intent is null`;
}

/**
 * Uses up the key of a charge that has no id of Stripe's yet, also of one that has not come. Others
 * stay as they are.
 */
export async function giveUpCharge(
  sql: Sql,
  { key, account, createdAt }: Pick<NewCharge, 'key' | 'account' | 'createdAt'>,
): Promise<ChargeRow> {
  const [row] = await sql<[ChargeRow]>`
    insert into stripe_charges as c (key, account, state, created_at)
    values (${key}, ${account}, 'canceled', ${createdAt})
    on conflict (key) do update set
      state = case when c.state = 'open' and c.stripe_id is null then 'canceled' else c.state end
    returning ${chargeColumns(sql)}`;
  return row;
}

/** Declines a charge for ever. */
export async function declineCharge(sql: Sql, key: string, code: FailureCode): Promise<void> {
  await sql`
    update stripe_charges set state = 'declined', code = ${code} where key = ${key} and state = 'open'`;
}

export type NewRefund = {
  readonly key: string;
  readonly chargeKey: string;
  readonly amount: bigint;
  readonly createdAt: Date;
};

/** Writes the refund of this key. null where it is there. */
export async function insertRefund(sql: Sql, refund: NewRefund): Promise<RefundRow | null> {
  const { key, chargeKey, amount, createdAt } = refund;
  const [row] = await sql<RefundRow[]>`
    insert into stripe_refunds (key, charge_key, amount, created_at)
    values (${key}, ${chargeKey}, ${amount}, ${createdAt})
    on conflict (key) do nothing
    returning ${refundColumns(sql)}`;
  return row ?? null;
}

export async function findRefund(sql: Sql, key: string): Promise<RefundRow | null> {
  const [row] = await sql<RefundRow[]>`
    select ${refundColumns(sql)} from stripe_refunds where key = ${key}`;
  return row ?? null;
}

export async function keepRefund(sql: Sql, key: string, stripeId: string): Promise<void> {
  await sql`
    update stripe_refunds set stripe_id = ${stripeId}
    where key = ${key} and stripe_id is null and declined is null`;
}

/** Declines a refund that Stripe has not made. */
export async function declineRefund(sql: Sql, key: string, reason: RefundFailure): Promise<void> {
  await sql`
    update stripe_refunds set declined = ${reason}
    where key = ${key} and stripe_id is null and declined is null`;
}
