// Reconciliation when an operator asks for it: every account at once, to its end.
import type { Ids } from '../../ledger/ports.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { type Difference, listDifferences } from '../records/reconciliation-differences.ts';
import {
  beginRun,
  claimRun,
  findLastRun,
  listAccounts,
  type RunReport,
} from '../records/reconciliation-runs.ts';
import { windowOf } from './reconciler.ts';
import { carryOn, type Ended, type RunDeps } from './run.ts';

export type Reconciled = {
  readonly accounts: readonly (RunReport & { readonly ended: Ended | 'skipped' })[];
  /** All that are open and not accepted, up to DIFFERENCES_MAX. */
  readonly differences: readonly Difference[];
};

const DIFFERENCES_MAX = 1000;
/** Who asks wants to know of today: what is under way is decided by then. */
const MARGIN_MS = 60_000;

/**
 * Reconciles all accounts, or those of one organisation: from `since` on, or from where the last
 * run ended, if that is earlier. `skipped`: a server is at it.
 */
export async function reconcileNow(
  deps: RunDeps,
  options: {
    readonly since: Date | null;
    readonly organisationId: string | null;
    readonly now: number;
  },
): Promise<Reconciled> {
  const { sql } = deps;
  const accountIds = await listAccounts(sql, options.organisationId);
  const accounts: Reconciled['accounts'][number][] = [];
  for (const accountId of accountIds) {
    // One that is open already is finished first.
    await runOnce(deps, accountId);
    await begin(deps, accountId, options);
    const ended = await runOnce(deps, accountId);
    const last = await findLastRun(sql, accountId);
    if (last !== null) accounts.push({ ...last, ended });
  }
  const differences = await listDifferences(sql, { accountIds, limit: DIFFERENCES_MAX });
  return { accounts, differences };
}

function begin(
  { sql, ids }: { readonly sql: Sql; readonly ids: Ids },
  accountId: string,
  { since, now }: { readonly since: Date | null; readonly now: number },
): Promise<void> {
  return beginRun(sql, { id: ids.next(), accountId, since, ...windowOf(now, MARGIN_MS) });
}

async function runOnce(deps: RunDeps, accountId: string): Promise<Ended | 'skipped'> {
  const holder = deps.ids.next();
  const run = await claimRun(deps.sql, { holder, accountId });
  if (run === null) return 'skipped';
  try {
    return await carryOn(deps, { run, holder, isOver: () => false });
  } catch (error) {
    // Of this account, such as a key that cannot be decrypted: the others are reconciled all the
    // same.
    deps.log.error({ err: error, account: accountId }, 'an account could not be reconciled');
    return 'failed';
  }
}
