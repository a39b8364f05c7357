// Compares a page of the processor's list with what we have, and records what of it is ours.
//
// Holds: what is ours is recognised by our key, which only what the organisation has made there
// has, or by a charge of ours that it belongs to. A row that agrees costs no question; one that
// does not is looked at on both sides.
import { unreachable } from '../../ledger/kernel/assert.ts';
import {
  findOurCharges,
  findOurRefunds,
  findPaymentsOfCharges,
  type OurCharge,
  type OurRefund,
  type ProcessorTransaction,
  recordTransactions,
} from '../records/processor-transactions.ts';
import type { Compared } from '../records/reconciliation-differences.ts';
import { isUuid } from '../records/uuid.ts';
import type { TheirCharge, TheirDispute, TheirRefund, TheirTransaction } from './account-books.ts';
import { check } from './check.ts';
import { differencesOf, sideOfCharge, sideOfRefund } from './compare.ts';
import type { Done, StepDeps } from './step.ts';

type Source = TheirCharge | TheirRefund | TheirDispute;

/** What we have of what a page is about. */
type Known = {
  readonly charges: ReadonlyMap<string, OurCharge>;
  readonly refunds: ReadonlyMap<string, OurRefund>;
  /** The payment of each charge that is ours, by the processor's name of it. */
  readonly paymentOf: ReadonlyMap<string, string>;
};

/** What moved the balance in the window. */
export async function compareTransactions(deps: StepDeps, cursor: string | null): Promise<Done> {
  const { sql, account, books, run } = deps;
  const { rows, next } = await books.transactions(run, cursor);
  const moved = rows.filter(hasSource);
  const known = await readKnown(
    deps,
    moved.map(({ source }) => source),
  );
  const ours = moved.flatMap((row) => {
    const of = comparedOf(row.source, known);
    return of === null ? [] : [{ row, of }];
  });
  await recordTransactions(
    sql,
    account.accountId,
    ours.flatMap(({ row, of }) => transactionOf(row, of, known)),
  );
  for (const { row, of } of ours) await checkIfDifferent(deps, { source: row.source, of, known });
  return { next, compared: ours.length, notOurs: moved.length - ours.length };
}

/** Disputes that were opened in the window: not each of them moves the balance. */
export async function compareDisputes(deps: StepDeps, cursor: string | null): Promise<Done> {
  const { books, run } = deps;
  const { rows, next } = await books.disputes(run, cursor);
  const known = await readKnown(deps, rows);
  for (const source of rows) {
    const of = comparedOf(source, known);
    if (of !== null) await checkIfDifferent(deps, { source, of, known });
  }
  return { next };
}

type WithSource = TheirTransaction & { readonly source: Source };

function hasSource(row: TheirTransaction): row is WithSource {
  return row.source !== null;
}

async function readKnown(deps: StepDeps, sources: readonly Source[]): Promise<Known> {
  const { sql, account } = deps;
  const charges = sources.filter((source) => source.subject === 'charge');
  const keys = (of: Source['subject']): string[] =>
    sources.flatMap((one) =>
      one.subject === of && 'key' in one && one.key !== null && isUuid(one.key) ? [one.key] : [],
    );
  const [ourCharges, ourRefunds] = await Promise.all([
    findOurCharges(sql, account, keys('charge')),
    findOurRefunds(sql, account, keys('refund')),
  ]);
  const refunds = new Map(ourRefunds.map((refund) => [refund.id, refund]));
  const paymentOf = new Map<string, string>();
  for (const { reference, key } of charges) {
    if (key !== null && isUuid(key)) paymentOf.set(reference, key);
  }
  const strangers = sources.flatMap((source) => {
    if (source.subject === 'charge' || source.charge === null) return [];
    const isKnown = source.subject === 'refund' && refunds.has(source.key ?? '');
    return isKnown || paymentOf.has(source.charge) ? [] : [source.charge];
  });
  for (const [charge, payment] of await paymentsOf(deps, [...new Set(strangers)])) {
    paymentOf.set(charge, payment);
  }
  return { charges: new Map(ourCharges.map((one) => [one.id, one])), refunds, paymentOf };
}

/** Of charges that are not on the page: as they were recorded, else as the processor says. */
async function paymentsOf(
  { sql, account, books, keep }: StepDeps,
  charges: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (charges.length === 0) return new Map();
  const found = new Map(await findPaymentsOfCharges(sql, account.accountId, charges));
  for (const reference of charges.filter((one) => !found.has(one))) {
    await keep();
    const key = (await books.charge(reference))?.key ?? '';
    if (isUuid(key)) found.set(reference, key);
  }
  return found;
}

/** null where it is not ours. */
function comparedOf(source: Source, { refunds, paymentOf }: Known): Compared | null {
  const { subject, reference } = source;
  if (subject === 'charge') {
    const paymentId = paymentOf.get(reference);
    return paymentId === undefined ? null : { subject, key: paymentId, reference, paymentId };
  }
  const refund = subject === 'refund' ? refunds.get(source.key ?? '') : undefined;
  const paymentId = refund?.paymentId ?? paymentOf.get(source.charge ?? '');
  if (paymentId === undefined) return null;
  const key = subject === 'refund' && isUuid(source.key ?? '') ? (source.key ?? '') : reference;
  return { subject, key, reference, paymentId };
}

function transactionOf(
  { id, amount, fee, currency, createdAt }: WithSource,
  { subject, key, reference, paymentId }: Compared,
  { refunds }: Known,
): ProcessorTransaction[] {
  if (reference === null || paymentId === null) return [];
  const refundId = subject === 'refund' && refunds.has(key) ? key : null;
  return [{ id, subject, reference, paymentId, refundId, amount, fee, currency, createdAt }];
}

async function checkIfDifferent(
  deps: StepDeps,
  { source, of, known }: { readonly source: Source; readonly of: Compared; readonly known: Known },
): Promise<void> {
  if (agrees(source, of, known)) return;
  await deps.keep();
  await check(deps, of);
}

/** By the list alone. A dispute changes by itself, so it is looked at. */
function agrees(source: Source, { key }: Compared, { charges, refunds }: Known): boolean {
  switch (source.subject) {
    case 'charge': {
      const ours = charges.get(key);
      return ours !== undefined && differencesOf('charge', sideOfCharge(ours), source).length === 0;
    }
    case 'refund': {
      const ours = refunds.get(key);
      return ours !== undefined && differencesOf('refund', sideOfRefund(ours), source).length === 0;
    }
    case 'dispute':
      return false;
    default:
      return unreachable(source);
  }
}
