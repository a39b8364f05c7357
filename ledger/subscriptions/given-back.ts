import { sharesOf } from '../kernel/shares.ts';
import { lengthOf, lessOf, moreOf } from './forgiven.ts';
import type { BilledUsage } from './subscription.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

/**
 * Billed usage whose money went back: refunded, being refunded, disputed or charged back.
 *
 * How it works: what goes back of an invoice is the same part of each of its lines. Of a line of
 * usage it is what was billed last: a stretch of its price (`Forgiven`) is taken off from above.
 * That stretch is never paid again. So if the usage is corrected, what went back counts first, and
 * only what is left of the correction is credited; what is used again in a stretch costs nothing,
 * and what is used beyond all that was billed is billed.
 * What holds: what is told is how much it is by now, so it may be told again, and it may become
 * less: a refund fails, a dispute is won. No more is forgiven than was paid of the line and not
 * credited. What is to be paid follows from the price and the stretches alone, however many
 * invoices came in between.
 * What it does not do: know payments. The account of the payment says what went back of an invoice.
 */

/** What went back of an invoice that has usage. */
export type BackOfInvoice = {
  readonly invoiceId: string;
  readonly amount: bigint;
  /** What its lines of time cost, after its discount. */
  readonly time: bigint;
  readonly usage: readonly { readonly usageId: string; readonly amount: bigint }[];
};

/** What went back of an invoice for the time that it is for, not for usage: rounded half up. */
export function backOfTime({
  amount,
  time,
  usage,
}: Pick<BackOfInvoice, 'amount' | 'time'> & { readonly usage: bigint }): bigint {
  if (time <= 0n) return 0n;
  if (usage <= 0n) return amount;
  const all = time + usage;
  return (2n * amount * time + all) / (2n * all);
}

/** What it is of each line of usage, by the id of the line. */
export function backOfUsage({ amount, time, usage }: BackOfInvoice): ReadonlyMap<string, bigint> {
  const sum = usage.reduce((before, line) => before + line.amount, 0n);
  const ofUsage = amount - backOfTime({ amount, time, usage: sum });
  // What a line gave back has paid for the others.
  const billed = usage.filter((line) => line.amount > 0n);
  const shares = sharesOf(
    ofUsage,
    billed.map((line) => line.amount),
  );
  return new Map(billed.map(({ usageId }, n) => [usageId, shares[n] ?? 0n]));
}

/** So much has gone back of an invoice by now. */
export function giveUsageBack(draft: SubscriptionDraft, back: BackOfInvoice): void {
  const shares = backOfUsage(back);
  const { usage: before } = draft.state;
  const usage = before.map((line) =>
    wentBack(line, { invoiceId: back.invoiceId, amount: shares.get(line.id) ?? 0n }),
  );
  if (usage.some((line, n) => line !== before[n])) draft.change({ usage });
}

type Back = { readonly invoiceId: string; readonly amount: bigint };

/** `amount` has gone back of what an invoice billed of the line. */
export function wentBack(line: BilledUsage, { invoiceId, amount }: Back): BilledUsage {
  const part = line.parts.find((one) => one.invoiceId === invoiceId);
  const known = part?.back ?? 0n;
  if (part === undefined || known === amount) return line;
  const parts = line.parts.map((one) => (one === part ? { ...one, back: amount } : one));
  const { forgiven = [] } = line;
  if (amount < known) return { ...line, parts, forgiven: lessOf(forgiven, { invoiceId, amount }) };
  const more = { invoiceId, amount: amount - known };
  return { ...line, parts, forgiven: moreOf(forgiven, more, paidOf(line)) };
}

/** What was billed of a line and has not gone back. */
export function paidOf({ parts, forgiven = [] }: Pick<BilledUsage, 'parts' | 'forgiven'>): bigint {
  const billed = parts.reduce((sum, part) => (part.waived ? sum : sum + part.amount), 0n);
  return billed - lengthOf(forgiven);
}
