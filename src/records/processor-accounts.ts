// Accounts at payment processors that organisations have connected.
//
// Holds: an organisation has one in each mode that takes what is new. One that was ended keeps its
// key: it is still asked about what it took. Keys are stored encrypted for the id of their row.
import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

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
