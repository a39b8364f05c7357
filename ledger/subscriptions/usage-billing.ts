import { PERIODS_KEPT_MS } from '../limits.ts';
import type { BillableSpan } from '../metering/spans.ts';
import { type RatedTier, rateAll, rounded } from './rating.ts';
import type { BilledUsage, UsageLineDraft } from './subscription.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

/**
 * Lines of usage on the invoices of a subscription (beyond.md 2, Billing).
 *
 * How it works: an invoice bills the spans that have closed and were not billed, one line for each
 * price. What was billed is kept with the subscription (`Subscription.usage`). When the next invoice
 * is made, what it costs by then is compared with what was billed, and the difference is an
 * adjustment. The first invoice after the last event that may come lets go of it.
 *
 * What holds: the amounts of a line and of its adjustments add up to what its spans cost, rounded
 * once. So neither the order nor the lateness of events changes the sum. The spans learn what they
 * are billed as by an order of the same unit.
 * What it does not do: know allowances (`metering/span.ts`), or what a quantity costs (`rating.ts`).
 */
export function usageLines(draft: SubscriptionDraft, bill: UsageBill): readonly UsageLineDraft[] {
  const lines = [...adjustments(draft, bill), ...closed(draft, bill)];
  settle(draft, bill.invoiceId);
  return lines;
}

type UsageBill = {
  readonly invoiceId: string;
  /** Spans that have closed by then are billed. */
  readonly until: number;
};

/** What has changed of usage that was billed, and usage whose invoice is void. */
function adjustments(
  draft: SubscriptionDraft,
  { invoiceId }: UsageBill,
): readonly UsageLineDraft[] {
  const lines: UsageLineDraft[] = [];
  const usage = draft.state.usage.map((known) => {
    const cost = costOf(draft.spans.filter(({ billedAs }) => billedAs === known.id));
    if (cost === null) return known;
    const { quantity, amount } = owedOf(known, cost);
    const type = known.parts.length === 0 ? 'usage' : 'usage_adjustment';
    if (type === 'usage_adjustment' && quantity === 0n && amount === 0n) return known;
    const part = { invoiceId, quantity, amount };
    lines.push(lineOf(known, { type, part, cost }));
    return { ...known, parts: [...known.parts, part] };
  });
  if (lines.length > 0) draft.change({ usage });
  return lines;
}

/** What has closed since the last invoice: a line for each price. */
function closed(
  draft: SubscriptionDraft,
  { invoiceId, until }: UsageBill,
): readonly UsageLineDraft[] {
  const due = draft.spans.filter(
    ({ billedAs, end }) => billedAs === null && end !== null && end <= until,
  );
  const lines: UsageLineDraft[] = [];
  for (const [priceId, spans] of Map.groupBy(due, ({ price }) => price.id)) {
    const cost = costOf(spans);
    const [first] = spans;
    if (cost === null || first === undefined) continue;
    const { quantity, amount } = cost;
    const part = { invoiceId, quantity, amount };
    const usage: BilledUsage = {
      id: draft.context.ids.derive('usage', invoiceId, priceId),
      priceId,
      featureKey: first.meter.slug,
      periodStart: Math.min(...spans.map(({ start }) => start)),
      periodEnd: Math.max(...spans.map(({ end }) => end ?? until)),
      parts: [part],
    };
    draft.change({ usage: [...draft.state.usage, usage] });
    draft.billSpans(usage.id, spans);
    lines.push(lineOf(usage, { type: 'usage', part, cost }));
  }
  return lines;
}

/** Whether an invoice would have a line of usage that costs or gives back something. */
export function owesUsage({ spans, state }: SubscriptionDraft, until: number): boolean {
  const due = spans.filter(
    ({ billedAs, end }) => billedAs === null && end !== null && end <= until,
  );
  const fresh = [...Map.groupBy(due, ({ price }) => price.id).values()];
  return (
    fresh.some((ofPrice) => costOf(ofPrice)?.amount !== 0n) ||
    state.usage.some(({ id, parts }) => {
      const cost = costOf(spans.filter(({ billedAs }) => billedAs === id));
      return cost !== null && owedOf({ parts }, cost).amount !== 0n;
    })
  );
}

/**
 * What is still to be billed of what they cost now. What the merchant has waived is neither asked for
 * again nor given back.
 */
function owedOf(
  { parts }: Pick<BilledUsage, 'parts'>,
  cost: Pick<Cost, 'quantity' | 'amount'>,
): Pick<Cost, 'quantity' | 'amount'> {
  const owed = { quantity: cost.quantity, amount: cost.amount };
  for (const { waived, quantity, amount } of parts) {
    if (waived !== true) continue;
    owed.quantity -= quantity;
    owed.amount -= amount;
  }
  owed.quantity = owed.quantity > 0n ? owed.quantity : 0n;
  owed.amount = owed.amount > 0n ? owed.amount : 0n;
  for (const { waived, quantity, amount } of parts) {
    if (waived === true) continue;
    owed.quantity -= quantity;
    owed.amount -= amount;
  }
  return owed;
}

/**
 * The merchant has made the invoice void: what it billed is waived. What it gave back is given back
 * with the next one.
 */
export function waive(draft: SubscriptionDraft, invoiceId: string): void {
  const { usage } = draft.state;
  if (!usage.some(({ parts }) => parts.some((part) => part.invoiceId === invoiceId))) return;
  draft.change({
    usage: usage.map((known) => ({
      ...known,
      parts: known.parts.flatMap((part) => {
        if (part.invoiceId !== invoiceId) return [part];
        return part.amount < 0n ? [] : [{ ...part, waived: true as const }];
      }),
    })),
  });
}

/**
 * What these invoices billed is not billed any more: they are void, and nobody has waived it.
 * Returns whether there was anything.
 */
export function unbill(draft: SubscriptionDraft, invoiceIds: readonly string[]): boolean {
  const { usage: before } = draft.state;
  const usage = before.map((known) => {
    const parts = known.parts.filter(({ invoiceId }) => !invoiceIds.includes(invoiceId));
    return parts.length === known.parts.length ? known : { ...known, parts };
  });
  const hasChanged = usage.some((known, index) => known !== before[index]);
  if (hasChanged) draft.change({ usage });
  return hasChanged;
}

/** The change at `cutAt` was not paid: what only its invoice billed is as it was before. */
export function uncut(draft: SubscriptionDraft, invoiceId: string, cutAt: number): void {
  unbill(draft, [invoiceId]);
  const { usage } = draft.state;
  const undone = usage.filter(({ parts }) => parts.length === 0).map(({ id }) => id);
  if (undone.length > 0) {
    draft.change({ usage: usage.filter(({ parts }) => parts.length > 0) });
  }
  draft.unbillSpans(undone, cutAt);
}

type Cost = {
  readonly quantity: bigint;
  readonly scale: number;
  /** Rounded, in the smallest coin. */
  readonly amount: bigint;
  readonly tiers: readonly RatedTier[];
};

/** What spans of one price cost together; null for none. */
function costOf(spans: readonly BillableSpan[]): Cost | null {
  const [first] = spans;
  if (first === undefined) return null;
  const { price, meter } = first;
  const quantities = spans.map(({ quantity }) => quantity);
  const { amount, tiers } = rateAll(price, quantities, meter.scale);
  return {
    quantity: quantities.reduce((sum, quantity) => sum + quantity, 0n),
    scale: meter.scale,
    amount: rounded(amount, price.currency),
    tiers,
  };
}

function lineOf(
  { id: usageId, featureKey, priceId: usagePriceId, periodStart, periodEnd }: BilledUsage,
  {
    type,
    part: { quantity, amount },
    cost: { scale, tiers, amount: all },
  }: {
    readonly type: UsageLineDraft['type'];
    readonly part: BilledUsage['parts'][number];
    readonly cost: Cost;
  },
): UsageLineDraft {
  const description = type === 'usage' ? `Usage of ${featureKey}` : `Late usage of ${featureKey}`;
  return {
    type,
    description,
    featureKey,
    usagePriceId,
    usageId,
    quantity,
    scale,
    amount,
    billed: all - amount,
    tiers,
    periodStart,
    periodEnd,
  };
}

/**
 * Lets go of what no event can change any more, now that the last change is billed. What is on an
 * invoice that may still become void, the one that is being made too, may be billed again.
 */
function settle(draft: SubscriptionDraft, making: string): void {
  const { usage, open, waiting } = draft.state;
  const until = draft.context.now - PERIODS_KEPT_MS;
  const unpaid = [making, waiting?.invoiceId, ...open.map(({ invoiceId }) => invoiceId)];
  const settled = usage
    .filter(({ periodEnd }) => periodEnd <= until)
    .filter(({ parts }) => !parts.some(({ invoiceId }) => unpaid.includes(invoiceId)))
    .map(({ id }) => id);
  if (settled.length === 0) return;
  draft.change({ usage: usage.filter(({ id }) => !settled.includes(id)) });
  draft.settleSpans(settled);
}
