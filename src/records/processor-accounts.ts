// Accounts at payment processors that organisations have connected.
//
// Holds: an organisation has one in each mode that takes what is new. One that was ended keeps its
// key: it is still asked about what it took. Keys are stored encrypted for the id of their row.
import { must } from '../../ledger/kernel/assert.ts';
import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';

export type ProcessorAccount = {
  readonly id: string;
  readonly organisationId: string;
  readonly mode: Mode;
  readonly type: 'stripe';
  /** As the processor names it: `acct_…`. */
  readonly account: string;
  readonly sealedKey: Buffer;
  /** The last four characters of the key. */
  readonly last4: string;
  readonly sealedWebhookSecret: Buffer | null;
  readonly webhookEndpointId: string | null;
  /** `failing`: the processor refused the key. */
  readonly status: 'active' | 'failing';
  readonly checkedAt: Date;
  readonly connectedAt: Date;
  /** Since when it takes nothing new; null for the current one. */
  readonly endedAt: Date | null;
};

/** By what payments and saved methods name it. */
export function processorNameOf({ type, account }: Pick<ProcessorAccount, 'type' | 'account'>) {
  return `${type}:${account}`;
}

const columns = (sql: Executor) => sql`
  id, organisation_id as "organisationId", mode, type, account, sealed_key as "sealedKey", last4,
  sealed_webhook_secret as "sealedWebhookSecret", webhook_endpoint_id as "webhookEndpointId", status,
  checked_at as "checkedAt", connected_at as "connectedAt", ended_at as "endedAt"`;

/** All, or those of one organisation; ended ones too. */
export function listProcessorAccounts(
  sql: Executor,
  organisationId: string | null,
): Promise<ProcessorAccount[]> {
  return sql<ProcessorAccount[]>`
    select ${columns(sql)} from processor_accounts
    ${organisationId === null ? sql`` : sql`where organisation_id = ${organisationId}`}`;
}

/** The one that takes what is new; null for none. */
export async function findProcessorAccount(
  sql: Executor,
  { organisationId, mode }: Tenant,
): Promise<ProcessorAccount | null> {
  const [row] = await sql<ProcessorAccount[]>`
    select ${columns(sql)} from processor_accounts
    where organisation_id = ${organisationId} and mode = ${mode} and ended_at is null`;
  return row ?? null;
}

/** The account of that name at the processor, ended or not; null where it was never connected. */
export async function findProcessorAccountOf(
  sql: Executor,
  { organisationId, mode }: Tenant,
  account: string,
): Promise<ProcessorAccount | null> {
  const [row] = await sql<ProcessorAccount[]>`
    select ${columns(sql)} from processor_accounts
    where organisation_id = ${organisationId} and mode = ${mode} and type = 'stripe' and account = ${account}`;
  return row ?? null;
}

export type NewProcessorAccount = Pick<
  ProcessorAccount,
  'id' | 'account' | 'sealedKey' | 'last4' | 'sealedWebhookSecret' | 'webhookEndpointId'
>;

/**
 * Makes an account the one that takes what is new, and ends another one, which is `replaced`.
 * `put.id` is that of its row where it was connected before.
 */
export async function putProcessorAccount(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  { put, now }: { readonly put: NewProcessorAccount; readonly now: number },
): Promise<{ readonly account: ProcessorAccount; readonly replaced: ProcessorAccount | null }> {
  const at = new Date(now);
  const { id, account, sealedKey, last4, sealedWebhookSecret, webhookEndpointId } = put;
  const [replaced] = await sql<ProcessorAccount[]>`
    update processor_accounts set ended_at = ${at}
    where organisation_id = ${organisationId} and mode = ${mode} and ended_at is null and id <> ${id}
    returning ${columns(sql)}`;
  const [row] = await sql<ProcessorAccount[]>`
    insert into processor_accounts as p (id, organisation_id, mode, type, account, sealed_key, last4,
      sealed_webhook_secret, webhook_endpoint_id, status, checked_at, connected_at)
    values (${id}, ${organisationId}, ${mode}, 'stripe', ${account}, ${sealedKey}, ${last4},
      ${sealedWebhookSecret}, ${webhookEndpointId}, 'active', ${at}, ${at})
    on conflict (id) do update set sealed_key = excluded.sealed_key, last4 = excluded.last4,
      sealed_webhook_secret = excluded.sealed_webhook_secret, webhook_endpoint_id = excluded.webhook_endpoint_id,
      status = 'active', checked_at = ${at}, ended_at = null,
      connected_at = case when p.ended_at is null then p.connected_at else ${at} end
    returning ${columns(sql)}`;
  await notifyChange(sql, 'processor', organisationId);
  return { account: must(row, 'the account that was put'), replaced: replaced ?? null };
}

/** Ends the current one; null where there is none. */
export async function endProcessorAccount(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  now: number,
): Promise<ProcessorAccount | null> {
  const [row] = await sql<ProcessorAccount[]>`
    update processor_accounts set ended_at = ${new Date(now)}
    where organisation_id = ${organisationId} and mode = ${mode} and ended_at is null
    returning ${columns(sql)}`;
  if (row === undefined) return null;
  await notifyChange(sql, 'processor', organisationId);
  return row;
}

/** Marks an account whose key the processor does not accept, unless it has another key by now. */
export async function failProcessorAccount(
  sql: Executor,
  { id, key, now }: { readonly id: string; readonly key: string; readonly now: number },
): Promise<void> {
  await sql`
    update processor_accounts set status = 'failing', checked_at = ${new Date(now)}
    where id = ${id} and last4 = ${key.slice(-4)} and status = 'active'`;
}

/** The endpoint of an ended account is gone, and nothing is signed with its secret any more. */
export async function forgetWebhookEndpoint(
  sql: Executor,
  { id, webhookEndpointId }: Pick<ProcessorAccount, 'id' | 'webhookEndpointId'>,
): Promise<void> {
  await sql`
    update processor_accounts set webhook_endpoint_id = null, sealed_webhook_secret = null
    where id = ${id} and webhook_endpoint_id = ${webhookEndpointId} and ended_at is not null`;
}

/** Any one of the keys, to see whether the configured SECRETS_KEY decrypts it. */
export async function findSealedProcessorKey(
  sql: Executor,
): Promise<{ readonly sealed: Buffer; readonly ownerId: string } | null> {
  const [row] = await sql<{ sealed: Buffer; ownerId: string }[]>`
    select sealed_key as sealed, id as "ownerId" from processor_accounts
    order by ended_at desc nulls first limit 1`;
  return row ?? null;
}
