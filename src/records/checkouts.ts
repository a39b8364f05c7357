// Checkouts: sessions on the hosted page.
//
//     active ──attempt──▶ processing ──paid──▶ paid
//       ▲─────declined───────┘
//     active ──24 h, or the merchant──▶ expired
//
// Holds: one attempt at a time. `payment_id` names it, and only that one can end it. A checkout
// expires by the clock, without a write: `status` is what a reader at `now` must see. A checkout
// that is processing does not expire.
import { must } from '../../ledger/kernel/assert.ts';
import { iso } from '../../ledger/kernel/iso.ts';
import type { OrgClock } from '../../ledger/ports.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { isToken } from '../platform/crypto/tokens.ts';
import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import { type Page, pageOf } from './page.ts';
import { answerRow, type KeyedAnswer } from './idempotency.ts';
import { isUuid } from './uuid.ts';

export type CheckoutStatus = 'active' | 'processing' | 'paid' | 'expired' | 'canceled';

/** Amounts are integers in the currency's smallest unit. */
export type CheckoutRecord = {
  readonly id: string;
  readonly organisationId: string;
  readonly mode: Mode;
  readonly token: string;
  readonly productId: string;
  /** null on a buy link: the buyer fills it in on the page. */
  readonly source: 'api' | 'buy_link';
  readonly type: 'one_time' | 'recurring';
  readonly status: CheckoutStatus;
  /** The customer that the merchant named, or that has paid. */
  readonly customerId: string | null;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly externalCustomerId: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  readonly discountId: string | null;
  readonly priceId: string;
  /** Whether the merchant chose the currency: then the buyer may not. */
  readonly currencyPinned: boolean;
  readonly subtotal: bigint;
  readonly amount: bigint;
  readonly currency: string;
  /** The last attempt. */
  readonly paymentId: string | null;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly paidAt: Date | null;
};

const statusAt = (sql: Executor, now: number) => sql`
  case when status = 'active' and expires_at <= ${new Date(now)} then 'expired' else status end`;

const columns = (sql: Executor, now: number | null) => sql`
  id, organisation_id as "organisationId", mode, token, product_id as "productId", source, type,
  ${now === null ? sql`status` : statusAt(sql, now)} as status, customer_id as "customerId", customer_email as "customerEmail", customer_name as "customerName",
  external_customer_id as "externalCustomerId", client_reference_id as "clientReferenceId", metadata,
  success_url as "successUrl", cancel_url as "cancelUrl", discount_id as "discountId",
  price_id as "priceId", currency_pinned as "currencyPinned", subtotal, amount, currency,
  payment_id as "paymentId", attempts, created_at as "createdAt", expires_at as "expiresAt",
  paid_at as "paidAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode}`;

/** A checkout to open; `keyed` where it comes with an Idempotency-Key. */
export type ToOpen = {
  readonly checkout: CheckoutRecord;
  readonly keyed: KeyedAnswer | null;
};

export type NotOpened = 'key_taken' | 'full';

/**
 * Opens checkouts of any number of callers, each where its key is free and its owner has room
 * (`openMax`; 0 for no bound). Returns those that are not opened. One statement: nothing stays
 * locked where the caller dies or freezes.
 */
export async function openCheckouts(
  sql: Executor,
  toOpen: readonly ToOpen[],
  openMax: number,
): Promise<ReadonlyMap<string, NotOpened>> {
  if (toOpen.length === 0) return new Map();
  const wanted = toOpen.map(({ checkout }) => rowOf(checkout));
  const keys = toOpen.flatMap(({ checkout, keyed }) =>
    keyed === null ? [] : [{ id: checkout.id, lock: String(keyed.lock), ...answerRow(keyed) }],
  );
  const rows = await sql<{ id: string; reason: NotOpened }[]>`
    select checkout_id as id, reason from open_checkouts(${sql.json(wanted)}, ${sql.json(keys)}, ${openMax})`;
  return new Map(rows.map(({ id, reason }) => [id, reason]));
}

/** As JSON that becomes a row of `checkouts`. */
function rowOf(checkout: CheckoutRecord) {
  return {
    id: checkout.id,
    organisation_id: checkout.organisationId,
    mode: checkout.mode,
    token: checkout.token,
    product_id: checkout.productId,
    source: checkout.source,
    type: checkout.type,
    status: checkout.status,
    customer_id: checkout.customerId,
    customer_email: checkout.customerEmail,
    customer_name: checkout.customerName,
    external_customer_id: checkout.externalCustomerId,
    client_reference_id: checkout.clientReferenceId,
    metadata: checkout.metadata,
    success_url: checkout.successUrl,
    cancel_url: checkout.cancelUrl,
    discount_id: checkout.discountId,
    price_id: checkout.priceId,
    currency_pinned: checkout.currencyPinned,
    subtotal: String(checkout.subtotal),
    amount: String(checkout.amount),
    currency: checkout.currency,
    attempts: checkout.attempts,
    created_at: checkout.createdAt.toISOString(),
    expires_at: iso(checkout.expiresAt?.getTime() ?? null),
  };
}

export async function findCheckout(
  sql: Executor,
  scope: Tenant,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<CheckoutRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<CheckoutRecord[]>`
    select ${columns(sql, now)} from checkouts where ${inScope(sql, scope)} and id = ${id}`;
  return row ?? null;
}

/** For the page: the address is the credential. The time is that of the checkout's organisation. */
export async function findCheckoutByToken(
  sql: Executor,
  token: string,
  clock: OrgClock,
): Promise<CheckoutRecord | null> {
  if (!isToken(token)) return null;
  const [row] = await sql<CheckoutRecord[]>`
    select ${columns(sql, null)} from checkouts where token = ${token}`;
  return row === undefined ? null : asOf(row, clock);
}

/** Newest first; up to one row more than `limit`. */
export async function listCheckouts(
  sql: Executor,
  scope: Tenant,
  options: Page & { readonly status?: CheckoutStatus | undefined; readonly now: number },
): Promise<CheckoutRecord[]> {
  const { status, now } = options;
  return sql<CheckoutRecord[]>`
    select ${columns(sql, now)} from ${rowsOf(sql, scope, options)} checkouts
    where ${inScope(sql, scope)}
      ${status === undefined ? sql`` : sql`and ${statusAt(sql, now)} = ${status}`}
    ${pageOf(sql, 'checkouts', options)}`;
}

/**
 * Where checkouts of a status are found, in the order of the list. The row of an expired checkout
 * may still say `active`. So open ones are found by when they end (they are bounded: twice
 * LIMIT_OPEN_CHECKOUTS), and expired ones in two places.
 */
function rowsOf(
  sql: Executor,
  scope: Tenant,
  { status, now, ...page }: Page & { readonly status?: CheckoutStatus | undefined; now: number },
) {
  if (status === undefined) return sql`checkouts`;
  const stored = (which: CheckoutStatus) =>
    sql`select * from checkouts where ${inScope(sql, scope)} and status = ${which}`;
  if (status === 'active') {
    const isOpen = sql`(expires_at > ${new Date(now)} or expires_at is null)`;
    return sql`(${stored('active')} and ${isOpen} offset 0)`;
  }
  if (status !== 'expired') return sql`(${stored(status)})`;
  const end = pageOf(sql, 'checkouts', { ...page, limit: page.limit + page.offset, offset: 0 });
  const isOver = sql`expires_at <= ${new Date(now)}`;
  return sql`((${stored('expired')} ${end}) union all (${stored('active')} and ${isOver} ${end}))`;
}

/** Closes it to buyers. An expired one stays as it is; one with a payment cannot be closed. */
export async function expireCheckout(
  sql: Transaction,
  scope: Tenant,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<CheckoutRecord | 'not_found' | 'not_active'> {
  if (!isUuid(id)) return 'not_found';
  const [found] = await sql<CheckoutRecord[]>`
    select ${columns(sql, now)} from checkouts where ${inScope(sql, scope)} and id = ${id} for update`;
  if (found === undefined) return 'not_found';
  if (found.status === 'expired') return found;
  if (found.status !== 'active') return 'not_active';
  await sql`update checkouts set status = 'expired' where id = ${id}`;
  return { ...found, status: 'expired' };
}

/** Locks it: until the transaction ends no other transaction changes it. */
export async function lockCheckout(
  sql: Transaction,
  token: string,
  clock: OrgClock,
): Promise<CheckoutRecord | null> {
  if (!isToken(token)) return null;
  const [row] = await sql<CheckoutRecord[]>`
    select ${columns(sql, null)} from checkouts where token = ${token} for update`;
  return row === undefined ? null : asOf(row, clock);
}

/** Locks its owner: until the transaction ends no other transaction sets its customer. */
export async function lockPayer(
  sql: Transaction,
  id: string,
): Promise<Pick<CheckoutRecord, 'source' | 'customerId'>> {
  const [row] = await sql<Pick<CheckoutRecord, 'source' | 'customerId'>[]>`
    select source, customer_id as "customerId" from checkouts where id = ${id} for update`;
  return must(row, 'a checkout that is being paid');
}

/** The customer of a locked checkout. */
export async function setPayer(sql: Transaction, id: string, customerId: string): Promise<void> {
  await sql`update checkouts set customer_id = ${customerId} where id = ${id}`;
}

function asOf(row: CheckoutRecord, clock: OrgClock): CheckoutRecord {
  const { status, expiresAt } = row;
  const isOver = status === 'active' && expiresAt !== null && expiresAt.getTime() <= clock.now(row);
  return isOver ? { ...row, status: 'expired' } : row;
}

/** What the buyer agreed to pay, and who the buyer is. */
export type Attempt = {
  readonly id: string;
  readonly paymentId: string;
  readonly email: string;
  readonly name: string | null;
  readonly currency: string;
  readonly priceId: string;
  readonly subtotal: bigint;
  readonly amount: bigint;
  readonly discountId: string | null;
};

/** Begins an attempt. The checkout is locked and active, and its discount was redeemed. */
export async function startAttempt(sql: Transaction, attempt: Attempt): Promise<void> {
  const { id, paymentId, email, name, currency, priceId, subtotal, amount, discountId } = attempt;
  const { count } = await sql`
    update checkouts set status = 'processing', attempts = attempts + 1, payment_id = ${paymentId},
      customer_email = ${email}, customer_name = ${name}, currency = ${currency},
      price_id = ${priceId}, subtotal = ${subtotal}, amount = ${amount}, discount_id = ${discountId},
      redemption = ${discountId === null ? null : 'taken'}
    where id = ${id} and status = 'active'`;
  if (count !== 1) throw new Error(`an attempt on checkout ${id}, which is not active`);
}

/**
 * Ends the attempt under way; null where it is not this one. Where the status is `active` then, the
 * buyer may try again. `holds`: the discount that the attempt had redeemed and that has to be
 * released.
 */
export async function finishAttempt(
  sql: Executor,
  options: {
    readonly id: string;
    readonly paymentId: string;
    readonly status: 'paid' | 'active';
    readonly now: number;
  },
): Promise<{ readonly holds: string | null } | null> {
  const { id, paymentId, status, now } = options;
  const isPaid = status === 'paid';
  const [row] = await sql<{ discountId: string | null; redemption: Redemption | null }[]>`
    update checkouts set status = ${status}, paid_at = ${isPaid ? new Date(now) : null},
      redemption = case when ${isPaid} then redemption end
    where id = ${id} and payment_id = ${paymentId} and status = 'processing'
    returning discount_id as "discountId", old.redemption`;
  if (row === undefined) return null;
  return { holds: isPaid || row.redemption === 'given_back' ? null : row.discountId };
}

/**
 * The discount of the attempt under way: redeemed; released while the buyer is at a bank; or
 * confirmed when the buyer came back.
 */
export type Redemption = 'taken' | 'given_back' | 'confirmed';

/** The discount of an attempt under way, locked. */
export async function lockRedemption(
  sql: Transaction,
  { id, paymentId }: Pick<Attempt, 'id' | 'paymentId'>,
): Promise<{ readonly discountId: string; readonly redemption: Redemption } | 'none' | 'over'> {
  const [row] = await sql<{ discountId: string | null; redemption: Redemption | null }[]>`
    select discount_id as "discountId", redemption from checkouts
    where id = ${id} and payment_id = ${paymentId} and status = 'processing' for update`;
  if (row === undefined) return 'over';
  const { discountId, redemption } = row;
  return discountId === null || redemption === null ? 'none' : { discountId, redemption };
}

export async function setRedemption(
  sql: Transaction,
  id: string,
  redemption: Redemption,
): Promise<void> {
  await sql`update checkouts set redemption = ${redemption} where id = ${id}`;
}
