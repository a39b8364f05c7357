import { must } from '../kernel/assert.ts';
import { PERIODS_KEPT_MS } from '../limits.ts';
import { isLevel } from '../metering/meter.ts';
import { type BillableSpan, grownOf } from '../metering/spans.ts';
import { dueOf } from './forgiven.ts';
import { paidOf } from './given-back.ts';
import { pausesOf, soldTimeOf } from './pauses.ts';
import { prorated } from './proration.ts';
import { type RatedTier, rateAll, rounded, type Sold } from './rating.ts';
import type { BilledUsage, Pause, UsageLineDraft } from './subscription.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

/**
 * Lines of usage on the invoices of a subscription (docs/spec/usage-prices.md#billing).
 *
 * How it works: what a price sells in one period of its meter is rated as one, in however many
 * spans: an invoice bills what that comes to so far, less what was billed of it. An invoice has one
 * line for what is new of a price, and one for each line of before of which something has changed:
 * more was used in a period that it had billed a part of, or an event came late. What was billed is
 * kept with the subscription (`Subscription.usage`). The first invoice after the last event that
 * may come lets go of it.
 *
 * What holds: the amounts of a line on all invoices add up to what its spans cost, rounded once. So
 * neither the order and the lateness of events nor the number of invoices changes the sum. A
 * minimum is billed when its price is no longer in force, for its share of the period. A level
 * costs the share of the period for which it was sold, so far. Paused time has no share
 * (`pauses.ts`). The spans learn what they are billed as by an order of the same unit.
 *
 * What it does not do: know allowances (`metering/span.ts`), or what a quantity costs
 * (`rating.ts`).
 */
export function usageLines(
  draft: SubscriptionDraft,
  { invoiceId, until }: UsageBill,
): readonly UsageLineDraft[] {
  const due = dueLines(draft, until);
  const lines = [
    ...due.flatMap((line) => (line.known === null ? [] : billMore(draft, line, invoiceId))),
    ...due.flatMap((line) => (line.known === null ? billNew(draft, line, invoiceId) : [])),
  ];
  settle(draft, invoiceId);
  return lines;
}

type UsageBill = {
  readonly invoiceId: string;
  /** Spans that have closed by then are billed. */
  readonly until: number;
};

/** Spans that are rated and rounded together, as of one invoice. */
type DueLine = {
  /** null: none of them was billed. */
  readonly known: BilledUsage | null;
  /** At least one. */
  readonly spans: readonly BillableSpan[];
  /** Those that were not billed. */
  readonly fresh: readonly BillableSpan[];
  readonly cost: Cost;
};

/**
 * What was billed before, with what has closed since in the same periods; and what else has closed,
 * a line for each price.
 */
function dueLines(
  { state, spans: now }: SubscriptionDraft,
  until: number,
  spans: readonly BillableSpan[] = now,
): readonly DueLine[] {
  const pauses = pausesOf(state);
  const inForce = new Set(spans.filter(({ goesOn }) => goesOn).map(soldIn));
  const lines = new Map(state.usage.map((known) => [known.id, known]));
  const lineOfSold = new Map(
    spans.flatMap((span) =>
      span.billedAs !== null && lines.has(span.billedAs) ? [[soldIn(span), span.billedAs]] : [],
    ),
  );
  const byLine = Map.groupBy(spans.filter(isDue), (span) => {
    const { billedAs, price } = span;
    return billedAs ?? lineOfSold.get(soldIn(span)) ?? price.id;
  });
  return [...byLine].map(([id, its]) => ({
    known: lines.get(id) ?? null,
    spans: its,
    fresh: its.filter(({ billedAs }) => billedAs === null),
    cost: costOf(its, { inForce, pauses }),
  }));

  function isDue({ billedAs, end }: BillableSpan): boolean {
    return billedAs === null ? end !== null && end <= until : lines.has(billedAs);
  }
}

/** The same for all spans of a price in one period. */
function soldIn({ accountId, price }: BillableSpan): string {
  return `${accountId} ${price.id}`;
}

/**
 * What is held at an end may be committed after it: what sold it is known on, where nothing is
 * billed of it yet.
 */
export function keepHeld(draft: SubscriptionDraft, until: number): void {
  for (const { known, spans, fresh } of dueLines(draft, until)) {
    const held = fresh.filter(({ isHeld }) => isHeld);
    const [first] = held;
    if (first === undefined) continue;
    const { ids } = draft.context;
    const line: BilledUsage = known ?? {
      id: ids.derive('usage', draft.state.id, 'held', first.price.id),
      priceId: first.price.id,
      featureKey: first.meter.slug,
      ...timeOf(held),
      parts: [],
    };
    const time = timeOf([...spans.filter(({ billedAs }) => billedAs !== null), ...held]);
    const others = draft.state.usage.filter(({ id }) => id !== line.id);
    draft.change({ usage: [...others, { ...line, ...time }] });
    draft.billSpans(line.id, held);
  }
}

/**
 * What was held before the end and is committed after it: what all costs now, less what it cost
 * `before`. So what else was recorded after the last invoice is not billed. None where it costs
 * nothing.
 */
export function committedLines(
  draft: SubscriptionDraft,
  { invoiceId, before }: { readonly invoiceId: string; readonly before: readonly BillableSpan[] },
): readonly UsageLineDraft[] {
  const costs = new Map(
    dueLines(draft, -Infinity, before).map(({ known, cost }) => [known?.id, cost]),
  );
  const more = dueLines(draft, -Infinity).flatMap(({ known, spans, cost }) => {
    const was = costs.get(known?.id);
    if (known === null || was === undefined) return [];
    const quantity = cost.quantity - was.quantity;
    const part = { invoiceId, quantity, amount: cost.amount - was.amount };
    const isSame = quantity === 0n && part.amount === 0n;
    return isSame ? [] : [{ known, part, cost, time: timeOf(spans) }];
  });
  if (more.every(({ part }) => part.amount === 0n)) return [];
  const parts = new Map(more.map(({ known, part }) => [known.id, part]));
  draft.change({
    usage: draft.state.usage.map((known) => {
      const part = parts.get(known.id);
      return part === undefined ? known : { ...known, parts: [...known.parts, part] };
    }),
  });
  return more.map(({ known, part, cost, time }) => {
    const type = known.parts.length === 0 ? 'usage' : 'usage_adjustment';
    return lineOf({ ...known, ...time }, { type, part, cost });
  });
}

/** More of what was billed before, or less; and usage whose invoice is void. */
function billMore(
  draft: SubscriptionDraft,
  { known, spans, fresh, cost }: DueLine,
  invoiceId: string,
): readonly UsageLineDraft[] {
  const line = must(known, 'it was billed before');
  const { quantity, amount } = owedOf(line, cost);
  const isMore = fresh.length > 0 && quantity >= 0n && amount >= 0n;
  const type = isMore || line.parts.length === 0 ? 'usage' : 'usage_adjustment';
  const isSame = line.parts.length > 0 && quantity === 0n && amount === 0n;
  if (isSame && fresh.length === 0) return [];
  if (fresh.length > 0) draft.billSpans(line.id, fresh);
  const part = { invoiceId, quantity, amount };
  const parts = isSame ? line.parts : [...line.parts, part];
  // Its time goes on also where it costs nothing more: events of all of it may come late.
  const billed = { ...line, ...timeOf(spans), parts };
  draft.change({ usage: draft.state.usage.map((one) => (one.id === line.id ? billed : one)) });
  if (isSame) return [];
  const time = isMore ? timeOf(fresh) : timeOf(spans);
  return [lineOf({ ...billed, ...time }, { type, part, cost })];
}

/** A price, of whose spans none was billed. */
function billNew(
  draft: SubscriptionDraft,
  { spans, cost }: DueLine,
  invoiceId: string,
): readonly UsageLineDraft[] {
  const [first] = spans;
  if (first === undefined) return [];
  const { quantity, amount } = cost;
  const part = { invoiceId, quantity, amount };
  const usage: BilledUsage = {
    id: draft.context.ids.derive('usage', invoiceId, first.price.id),
    priceId: first.price.id,
    featureKey: first.meter.slug,
    ...timeOf(spans),
    parts: [part],
  };
  draft.change({ usage: [...draft.state.usage, usage] });
  draft.billSpans(usage.id, spans);
  return [lineOf(usage, { type: 'usage', part, cost })];
}

/** From the first to the last of closed spans. */
function timeOf(spans: readonly BillableSpan[]): Pick<BilledUsage, 'periodStart' | 'periodEnd'> {
  return {
    periodStart: Math.min(...spans.map(({ start }) => start)),
    periodEnd: Math.max(...spans.map(({ start, end }) => end ?? start)),
  };
}

/** Whether an invoice would have a line of usage that costs or gives back something. */
export function owesUsage(draft: SubscriptionDraft, until: number): boolean {
  return dueLines(draft, until).some(
    ({ known, cost }) => owedOf(known ?? { parts: [] }, cost).amount !== 0n,
  );
}

/**
 * What is still to be billed of what they cost now. What the merchant has waived is neither asked
 * for again nor given back, and so is what went back already.
 */
function owedOf(
  line: Pick<BilledUsage, 'parts' | 'forgiven'>,
  cost: Pick<Cost, 'quantity' | 'amount'>,
): Pick<Cost, 'quantity' | 'amount'> {
  const { parts, forgiven } = line;
  const owed = { quantity: cost.quantity, amount: cost.amount };
  for (const { waived, quantity, amount } of parts) {
    if (waived !== true) continue;
    owed.quantity -= quantity;
    owed.amount -= amount;
  }
  owed.quantity = owed.quantity > 0n ? owed.quantity : 0n;
  owed.amount = owed.amount > 0n ? owed.amount : 0n;
  for (const { waived, quantity } of parts) if (waived !== true) owed.quantity -= quantity;
  owed.amount = dueOf(owed.amount, forgiven) - paidOf(line);
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
  const billedAs = draft.state.usage
    .filter(({ parts }) => parts.some((part) => part.invoiceId === invoiceId))
    .map(({ id }) => id);
  unbill(draft, [invoiceId]);
  const { usage } = draft.state;
  const undone = usage.filter(({ parts }) => parts.length === 0).map(({ id }) => id);
  if (undone.length > 0) {
    draft.change({ usage: usage.filter(({ parts }) => parts.length > 0) });
  }
  draft.unbillSpans({ undone, billedAs: [...billedAs, ...undone], cutAt });
}

type Cost = {
  readonly quantity: bigint;
  readonly scale: number;
  /** Rounded, in the smallest coin. */
  readonly amount: bigint;
  readonly tiers: readonly RatedTier[];
};

type Terms = {
  /** Where the price still sells (`soldIn`). */
  readonly inForce: ReadonlySet<string>;
  readonly pauses: readonly Pause[];
};

/** What spans of one price cost together, at least one. */
function costOf(spans: readonly BillableSpan[], { inForce, pauses }: Terms): Cost {
  const { price, meter } = must(spans[0], 'a line has a span');
  const sold = [...Map.groupBy(spans, soldIn)].flatMap(([key, its]) =>
    isLevel(meter)
      ? runsOf(its).map((run) => levelOf(run, pauses))
      : [flowOf(its, inForce.has(key) ? null : pauses)],
  );
  const { amount, tiers } = rateAll(price, sold, meter.scale);
  return {
    quantity: sold.reduce((sum, { quantity }) => sum + quantity, 0n),
    scale: meter.scale,
    amount: rounded(amount, price.currency),
    tiers,
  };
}

/**
 * What was used is used up: the spans of a period add up. `pauses`: null while the price is in
 * force.
 */
function flowOf(spans: readonly BillableSpan[], pauses: readonly Pause[] | null): Sold {
  const quantity = spans.reduce((sum, span) => sum + span.quantity, 0n);
  return { quantity, minimum: minimumOf(spans, pauses) };
}

/**
 * A level is that of the last one, for the time of all (docs/spec/balance.md#levels). Spans of
 * which none knows its period are of before: they were sold whole.
 */
function levelOf(run: readonly BillableSpan[], pauses: readonly Pause[]): Sold {
  const { price, quantity } = must(run.at(-1), 'a run has a span');
  const minimum = price.minimum ?? 0n;
  const period = run.find((span) => span.period !== null)?.period;
  if (period === undefined || period === null) {
    return { quantity: run.reduce((sum, span) => sum + grownOf(span), 0n), minimum };
  }
  const whole = period.end - period.start;
  const part = Math.min(lengthOf(run, pauses), whole);
  return { quantity, minimum, share: { part: BigInt(part), whole: BigInt(whole) } };
}

/** Spans that follow each other: a price that comes back begins anew. */
function runsOf(spans: readonly BillableSpan[]): readonly (readonly BillableSpan[])[] {
  const runs: BillableSpan[][] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = runs.at(-1);
    if (last !== undefined && last.at(-1)?.end === span.start) last.push(span);
    else runs.push([span]);
  }
  return runs;
}

/** For how long they were sold. */
function lengthOf(spans: readonly BillableSpan[], pauses: readonly Pause[]): number {
  return spans.reduce((sum, span) => sum + soldTimeOf(span, pauses), 0);
}

/**
 * What a price asks at least for one period, in the smallest coin: nothing while it is in force.
 */
function minimumOf(spans: readonly BillableSpan[], pauses: readonly Pause[] | null): bigint {
  const { price, period } = must(spans[0], 'a period of a price has a span');
  if (price.minimum === null) return 0n;
  if (period === null) return price.minimum;
  if (pauses === null) return 0n;
  const whole = period.end - period.start;
  return prorated(price.minimum, Math.min(lengthOf(spans, pauses), whole), whole);
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
  const over = usage
    .filter(({ periodEnd }) => periodEnd <= until)
    .filter(({ parts }) => !parts.some(({ invoiceId }) => unpaid.includes(invoiceId)));
  const settled = ofWholePeriods(draft.spans, new Set(over.map(({ id }) => id)));
  if (settled.size === 0) return;
  draft.change({ usage: usage.filter(({ id }) => !settled.has(id)) });
  draft.settleSpans([...settled]);
}

/**
 * What one span has sold counts in the others of its period: their lines are let go of together.
 */
function ofWholePeriods(
  spans: readonly BillableSpan[],
  lines: ReadonlySet<string>,
): ReadonlySet<string> {
  const isKept = ({ billedAs }: BillableSpan): boolean => billedAs === null || !lines.has(billedAs);
  const kept = new Set(spans.filter(isKept).map(({ accountId }) => accountId));
  const split = spans.filter((span) => !isKept(span) && kept.has(span.accountId));
  if (split.length === 0) return lines;
  return ofWholePeriods(
    spans,
    lines.difference(new Set(split.map(({ billedAs }) => billedAs ?? ''))),
  );
}
