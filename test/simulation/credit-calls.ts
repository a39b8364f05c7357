// What clients ask of a pool and its members, and what each answer must agree with at once.
import type { CheckAnswer, Customer, Snapshot } from '../../ledger/metering/meter.ts';
import { periodAccountId } from '../../ledger/kernel/derived-ids.ts';
import { NO_TOTALS } from '../../ledger/kernel/transfers.ts';
import { ids } from '../../src/platform/ids.ts';
import { type About, find } from './calls.ts';
import { send } from './client.ts';
import { isUnlimited } from './credit-audit.ts';
import type { Database } from './database.ts';
import { isOfPool } from './pool.ts';
import { checkAnswerOf } from './process.ts';
import type { World } from './world.ts';

/** Whether a member may be used: own units and credits pay for the whole, or for nothing. */
export async function checkMember(
  world: World,
  { customer, meter }: About,
): Promise<'answer' | 'unknown'> {
  const units = BigInt(world.random.integer(1, 10));
  const reply = await send(
    world,
    { what: `check of ${customer.externalId}, ${meter.slug}` },
    async (ledger) => ledger.check(await find(world, ledger, customer), meter, units),
    (told) => checkParts(world, checkAnswerOf(told.text)),
  );
  return reply.kind;
}

function checkParts({ auditor, pool }: World, { allowed, units, paidBy, reason }: CheckAnswer) {
  const { own, credits } = paidBy ?? { own: -1n, credits: 0n };
  const rest = allowed ? units - own : 0n;
  const isPaid = rest === 0n ? credits === 0n : credits > 0n;
  const isSo = own >= 0n && rest >= 0n && isPaid && paidBy?.pool.slug === pool?.meter.slug;
  auditor.demand(isSo, `a check of ${units} says ${reason}: ${own} and ${credits} credits`);
}

/** Whether every place that serves has the pool and its members as the rows have them. */
export async function isAsWritten(world: World, customer: Customer): Promise<boolean> {
  const { pool, server, places } = world;
  for (const place of places) {
    const reply = await send(
      world,
      { what: `credits of ${customer.externalId}`, place },
      async (ledger) => ledger.allBalances(await find(world, ledger, customer)),
      () => {},
    );
    const all = reply.kind === 'answer' ? reply.value : [];
    const credits = all.filter(({ meter }) => isOfPool(pool, meter));
    const isSame = credits.every(({ meter, snapshot }) =>
      isOf(server.db, { customer, meter }, snapshot),
    );
    if (!isSame) return false;
  }
  return true;
}

function isOf(db: Database, { customer, meter }: About, snapshot: Snapshot): boolean {
  const start = db.states.get(`${customer.id} ${meter.id}`)?.start ?? 0;
  const accountId = periodAccountId(ids, { customerId: customer.id, meterId: meter.id, start });
  const account = db.accounts.get(accountId);
  const totals = account?.totals ?? NO_TOTALS;
  const isWithout = account !== undefined && isUnlimited(db, account);
  return (
    snapshot.consumed === totals.debitsPosted &&
    snapshot.reserved === totals.debitsPending &&
    snapshot.limit === (isWithout ? null : totals.creditsPosted) &&
    snapshot.pooled === db.pooled.has(accountId)
  );
}
