// The audit: the invariants as queries over the whole database, each of which returns no row.
//
// How it works: all checks run in one snapshot, beside a running service. A check that finds rows
// shows the first of them. The ledger has its own checks; those of money, subscriptions,
// usage, reservations, credits, webhooks and alerts are beside this file.
// Does not: repair anything.
import type { Sql } from 'postgres';
import { LEDGER_CHECKS } from '../../ledger/store/audit.ts';
import type { Bigints } from '../../ledger/store/bigints.ts';
import { ALERT_CHECKS } from './audit-alerts.ts';
import { CREDIT_CHECKS } from './audit-credits.ts';
import { GRANT_CHECKS } from './audit-grants.ts';
import { LEVEL_CHECKS } from './audit-levels.ts';
import { PAYMENT_CHECKS } from './audit-payments.ts';
import { RESERVATION_CHECKS } from './audit-reservations.ts';
import { SUBSCRIPTION_CHECKS } from './audit-subscriptions.ts';
import { USAGE_BIN_CHECKS } from './audit-usage-bins.ts';
import { USAGE_CHECKS } from './audit-usage.ts';
import { TOPUP_CHECKS } from './audit-topups.ts';
import { WEBHOOK_CHECKS } from './audit-webhooks.ts';

export type Finding = { readonly check: string; readonly detail: string };

export const CHECKS: Readonly<Record<string, string>> = {
  ...PAYMENT_CHECKS,
  ...SUBSCRIPTION_CHECKS,
  ...TOPUP_CHECKS,
  ...USAGE_CHECKS,
  ...USAGE_BIN_CHECKS,
  ...GRANT_CHECKS,
  ...LEVEL_CHECKS,
  ...RESERVATION_CHECKS,
  ...WEBHOOK_CHECKS,
  ...CREDIT_CHECKS,
  ...ALERT_CHECKS,
  ...LEDGER_CHECKS,
};

const ROWS_SHOWN = 5;

/** Every check that found something, with the first rows. An empty list: all invariants hold. */
export async function audit(sql: Sql<Bigints>): Promise<readonly Finding[]> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    // Before the snapshot is taken: from then on no month of the archive is dropped.
    await transaction`lock table transfers_archive in access share mode`;
    await transaction`select set_config('statement_timeout', '0', true)`;
    // Sent together: on a small database a check takes no longer than its way there.
    const findings = await Promise.all(
      Object.entries(CHECKS).map(async ([name, query]) =>
        findingsOf(name, await transaction.unsafe(query)),
      ),
    );
    return findings.flat();
  });
}

/** Of the rows that a check returns. */
export function findingsOf(
  check: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Finding[] {
  const findings = rows.slice(0, ROWS_SHOWN).map((row) => {
    const detail = Object.entries(row).map(([field, value]) => `${field} ${String(value)}`);
    return { check, detail: detail.join(', ') };
  });
  if (rows.length > ROWS_SHOWN) {
    findings.push({ check, detail: `and ${rows.length - ROWS_SHOWN} more` });
  }
  return findings;
}
