// Whose a discount's redemption is while a buyer pays.
//
//     taken ──the bank asks its buyer──▶ given back ──the buyer agreed──▶ confirmed        each ──it came to nothing──▶ free again
//
// A redemption counts when its payment is accepted: the charge was made, or the processor took it and it settles later (a bank debit). It
// is taken before the processor is asked to charge, so that there are never more than may be, and an attempt that waits at a bank holds
// none. Who comes back takes it again before the charge is confirmed; where it is gone nothing is charged, and the page shows the new
// total.
// Holds: what is confirmed is not given back by a look at the bank that was slower: only what came to nothing is.
import type { Transaction } from '../platform/postgres/postgres.ts';
import { lockRedemption, setRedemption } from '../records/checkouts.ts';
import { redeemDiscount, releaseDiscount } from '../records/discounts.ts';

type Attempt = { readonly checkoutId: string; readonly paymentId: string };

/** Its buyer is at a bank. */
export async function giveBack(
  sql: Transaction,
  { checkoutId: id, paymentId }: Attempt,
): Promise<void> {
  const held = await lockRedemption(sql, { id, paymentId });
  if (typeof held === 'string' || held.redemption !== 'taken') return;
  await setRedemption(sql, id, 'given_back');
  await releaseDiscount(sql, held.discountId);
}

/** Its buyer is back, and agreed: whether the price that the buyer has seen may be charged. */
export async function takeAgain(
  sql: Transaction,
  { checkoutId: id, paymentId }: Attempt,
  now: number,
): Promise<boolean> {
  const held = await lockRedemption(sql, { id, paymentId });
  if (held === 'none') return true;
  if (held === 'over') return false;
  const { discountId, redemption } = held;
  if (redemption === 'given_back' && !(await redeemDiscount(sql, discountId, now))) return false;
  if (redemption !== 'confirmed') await setRedemption(sql, id, 'confirmed');
  return true;
}
