// The steps of a run, in their order: each reads one list, a page at a time.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import {
  findOldestMoving,
  findPayoutToSum,
  leavePayoutUnsummed,
  putPayouts,
  savePayoutSums,
} from '../records/payouts.ts';
import {
  listUnlistedCharges,
  listUnlistedRefunds,
  type Place,
} from '../records/processor-transactions.ts';
import { listOpenOf } from '../records/reconciliation-differences.ts';
import { check } from './check.ts';
import { addItems, sumsInCoins } from './payout-sums.ts';
import type { Done, Step, StepDeps } from './step.ts';
import { compareDisputes, compareTransactions } from './theirs.ts';

/** What is looked at on both sides, at a time. */
const CHECKED = 20;
/** Read from our side at a time: most of it is listed. */
const READ = 500;
/** A payout that is paid may fail for days. */
const PAYOUTS_AGAIN_MS = 14 * DAY_MS;

export const STEPS: readonly Step[] = [
  { name: 'open', page: checkOpen },
  { name: 'transactions', page: compareTransactions },
  { name: 'charges', page: checkUnlisted('charge') },
  { name: 'refunds', page: checkUnlisted('refund') },
  { name: 'disputes', page: compareDisputes },
  { name: 'payouts', page: readPayouts },
  { name: 'sums', page: sumPayouts },
];

/** Differences of earlier runs: what is not one any more is resolved. */
async function checkOpen(deps: StepDeps, cursor: string | null): Promise<Done> {
  const { sql, account, keep } = deps;
  const open = await listOpenOf(sql, account.accountId, { after: cursor, limit: CHECKED });
  for (const difference of open) {
    await keep();
    await check(deps, difference);
  }
  return { next: open.length < CHECKED ? null : (open.at(-1)?.id ?? null) };
}

/** What of ours is in none of the processor's lists. It is asked for, one by one. */
function checkUnlisted(subject: 'charge' | 'refund'): Step['page'] {
  const list = subject === 'charge' ? listUnlistedCharges : listUnlistedRefunds;
  return async (deps, cursor) => {
    const { sql, account, run, keep } = deps;
    const window = { since: run.oursSince, until: run.oursUntil };
    const after = cursor === null ? null : (JSON.parse(cursor) as Place);
    const { rows, next } = await list(sql, account, { window, after, limit: READ });
    for (const row of rows) {
      await keep();
      const paymentId = 'paymentId' in row ? row.paymentId : row.id;
      await check(deps, { subject, key: row.id, reference: null, paymentId });
    }
    return { next: next === null ? null : JSON.stringify(next) };
  };
}

/** New ones, and those that may have changed. */
async function readPayouts(deps: StepDeps, cursor: string | null): Promise<Done> {
  const { sql, ids, account, books, run } = deps;
  const again = new Date(run.since.getTime() - PAYOUTS_AGAIN_MS);
  const moving = await findOldestMoving(sql, account.accountId);
  const since = moving !== null && moving < again ? moving : again;
  const { rows, next } = await books.payouts(since, cursor);
  await putPayouts(sql, { ids, accountId: account.accountId }, rows);
  return { next };
}

/** A page of the transactions of one payout; its own row says how far that is. */
async function sumPayouts(deps: StepDeps): Promise<Done> {
  const { sql, account, books } = deps;
  const payout = await findPayoutToSum(sql, account.accountId);
  if (payout === null) return { next: null };
  const page = await books.inPayout(payout.payout, payout.cursor);
  const inUnits = page === null ? null : addItems(payout, page.rows);
  const isLast = page?.next === null;
  const coinsOf = (units: bigint) => books.coinsOf(units, payout.currency);
  const sums = inUnits !== null && isLast ? sumsInCoins(inUnits, coinsOf) : inUnits;
  if (page === null || sums === null) await leavePayoutUnsummed(sql, payout.id);
  else await savePayoutSums(sql, payout, { sums, next: page.next });
  return { next: payout.id };
}
