// Payouts for tests that are not about a processor: rows as reconciliation writes them.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import {
  findPayoutToSum,
  type NewPayout,
  type PayoutSums,
  putPayouts,
  savePayoutSums,
} from '../../src/records/payouts.ts';

/** An account that is not connected any more, so nothing is asked of it: its key opens nothing. */
export async function insertAccount(
  sql: Sql,
  { organisationId, mode }: Tenant,
  connectedAt = new Date(),
): Promise<string> {
  const id = ids.next();
  await sql`
    insert into processor_accounts (id, organisation_id, mode, type, account, sealed_key, last4, checked_at, connected_at, ended_at)
    values (${id}, ${organisationId}, ${mode}, 'stripe', ${`acct_${id.replaceAll('-', '')}`}, ${Buffer.from('x')}, '4242',
      ${connectedAt}, ${connectedAt}, ${connectedAt})`;
  return id;
}

export async function insertPayout(
  sql: Sql,
  accountId: string,
  payout: Partial<NewPayout> & { readonly sums?: PayoutSums } = {},
): Promise<void> {
  const { sums, ...given } = payout;
  const made: NewPayout = {
    payout: `po_${ids.next().replaceAll('-', '')}`,
    amount: 91_240n,
    currency: 'USD',
    status: 'paid',
    arrivalOn: '2026-11-23',
    createdAt: new Date(),
    itemised: sums !== undefined,
    ...given,
  };
  await putPayouts(sql, { ids, accountId }, [made]);
  const open = await findPayoutToSum(sql, accountId);
  if (sums !== undefined && open !== null) await savePayoutSums(sql, open, { sums, next: null });
}
