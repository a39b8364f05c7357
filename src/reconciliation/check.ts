// Looks at one charge, refund or dispute on both sides, and names what differs.
//
//     both sides ─▶ differ? ─▶ the port is asked what has become of it ─▶ both sides again ─▶ record
//
// Holds: what a list says is a hint. What is recorded as a difference was read on both sides, after
// our side had the chance to learn it as it learns everything: by asking the processor's port.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ids, Log } from '../../ledger/ports.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  findOurCharges,
  findOurDispute,
  findOurRefunds,
} from '../records/processor-transactions.ts';
import {
  type Compared,
  type Found,
  recordDifferences,
} from '../records/reconciliation-differences.ts';
import type { ReconciledAccount } from '../records/reconciliation-runs.ts';
import { isUuid } from '../records/uuid.ts';
import type { AccountBooks } from './account-books.ts';
import { differencesOf, type Side, sideOfCharge, sideOfDispute, sideOfRefund } from './compare.ts';

/** Asks the port what has become of something of ours, and takes the answer. */
export type Mend = {
  charge(scope: Tenant, paymentId: string): Promise<void>;
  refund(scope: Tenant, refundId: string): Promise<void>;
  /** What is disputed of a payment. */
  disputes(scope: Tenant, paymentId: string): Promise<void>;
};

export type CheckDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly log: Log;
  readonly account: ReconciledAccount;
  readonly books: AccountBooks;
  /** null where no ledger runs: then it is only compared. */
  readonly mend: Mend | null;
};

/** Both sides of a subject, and how ours learns what it does not know. */
type Sides = {
  readonly read: () => Promise<readonly [ours: Side | null, theirs: Side | null]>;
  readonly mend: (mend: Mend, scope: Tenant) => Promise<void>;
};

/** @throws {BooksFailed} */
export async function check(deps: CheckDeps, of: Compared): Promise<void> {
  const { account, mend } = deps;
  const sides = SIDES[of.subject](deps, of);
  let [ours, theirs] = await sides.read();
  if (mend !== null && isNews(of, ours, theirs)) {
    await sides.mend(mend, account);
    [ours, theirs] = await sides.read();
  }
  await report(deps, of, differencesOf(of.subject, ours, theirs));
}

/**
 * Whether asking the port may help. It makes no amount another one, and brings nothing that is not
 * there. A dispute is news in any state: who won is told as well.
 */
function isNews({ subject }: Compared, ours: Side | null, theirs: Side | null): boolean {
  if (theirs === null || ours?.state === theirs.state) return false;
  return subject === 'dispute' || differencesOf(subject, ours, theirs).length > 0;
}

const SIDES: Readonly<Record<Compared['subject'], (deps: CheckDeps, of: Compared) => Sides>> = {
  charge: ({ sql, account, books }, { key, reference }) => ({
    async read() {
      const [ours] = await findOurCharges(sql, account, [key]);
      const known = reference ?? ours?.reference ?? null;
      const theirs = known === null ? null : await books.charge(known);
      return [ours === undefined ? null : sideOfCharge(ours), theirs?.key === key ? theirs : null];
    },
    mend: (mend, scope) => mend.charge(scope, key),
  }),
  refund: ({ sql, account, books }, { key, reference }) => ({
    async read() {
      const [ours] = isUuid(key) ? await findOurRefunds(sql, account, [key]) : [];
      const known = reference ?? ours?.reference ?? null;
      const theirs = known === null ? null : await books.refund(known);
      return [ours === undefined ? null : sideOfRefund(ours), theirs];
    },
    // Of one that was made by hand nobody here can be asked.
    mend: (mend, scope) => (isUuid(key) ? mend.refund(scope, key) : Promise.resolve()),
  }),
  dispute: ({ sql, books }, { key, paymentId }) => ({
    async read() {
      const theirs = await books.dispute(key);
      const ours = paymentId === null ? null : await findOurDispute(sql, paymentId, key);
      return [ours === null ? null : sideOfDispute(ours), theirs];
    },
    mend: (mend, scope) =>
      paymentId === null ? Promise.resolve() : mend.disputes(scope, paymentId),
  }),
};

async function report(deps: CheckDeps, of: Compared, found: readonly Found[]): Promise<void> {
  const { sql, ids, log, account } = deps;
  const { accountId, organisationId, mode, processor } = account;
  const news = await recordDifferences(sql, { accountId, ids, of, found });
  for (const { kind, ours, theirs } of found.filter((one) => news.includes(one.kind))) {
    const whose = { organisationId, mode, processor };
    log.error({ ...whose, ...of, kind, ours, theirs }, 'reconciliation found a difference');
  }
}
