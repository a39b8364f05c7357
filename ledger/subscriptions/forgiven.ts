/**
 * A stretch of the price of billed usage whose money went back (`given-back.ts`): it is not to be
 * paid. Those of a line are in order, the lowest first, and none is within another.
 */
export type Forgiven = {
  readonly invoiceId: string;
  readonly from: bigint;
  readonly to: bigint;
};

type Back = { readonly invoiceId: string; readonly amount: bigint };

/** What is to be paid of a price. */
export function dueOf(price: bigint, forgiven: readonly Forgiven[] = []): bigint {
  return forgiven.reduce((due, { from, to }) => {
    const end = to < price ? to : price;
    return end > from ? due - (end - from) : due;
  }, price);
}

export function lengthOf(forgiven: readonly Forgiven[]): bigint {
  return forgiven.reduce((sum, { from, to }) => sum + to - from, 0n);
}

/** The amount more, as far as it was paid: the highest stretches of that. */
export function moreOf(
  forgiven: readonly Forgiven[],
  { invoiceId, amount }: Back,
  paid: bigint,
): readonly Forgiven[] {
  const added: Forgiven[] = [];
  let left = amount;
  for (const { from, to } of paidStretches(forgiven, paid).toReversed()) {
    if (left <= 0n) break;
    const start = to - from > left ? to - left : from;
    added.push({ invoiceId, from: start, to });
    left -= to - start;
  }
  return [...forgiven, ...added].toSorted((a, b) => (a.from < b.from ? -1 : 1));
}

/** The amount that is left of one invoice: what was forgiven first is forgiven longest. */
export function lessOf(
  forgiven: readonly Forgiven[],
  { invoiceId, amount }: Back,
): readonly Forgiven[] {
  const own = forgiven.filter((one) => one.invoiceId === invoiceId);
  let over = lengthOf(own) - amount;
  return forgiven.flatMap((one) => {
    if (one.invoiceId !== invoiceId || over <= 0n) return [one];
    const length = one.to - one.from;
    const less = over < length ? over : length;
    over -= less;
    return less === length ? [] : [{ ...one, from: one.from + less }];
  });
}

/** From the lowest on, between those that are forgiven, until so much is paid. */
function paidStretches(
  forgiven: readonly Forgiven[],
  paid: bigint,
): readonly Omit<Forgiven, 'invoiceId'>[] {
  const stretches: { from: bigint; to: bigint }[] = [];
  let [from, left] = [0n, paid];
  for (const hole of forgiven) {
    const length = hole.from - from < left ? hole.from - from : left;
    if (length > 0n) stretches.push({ from, to: from + length });
    left -= length;
    from = hole.to;
  }
  if (left > 0n) stretches.push({ from, to: from + left });
  return stretches;
}
