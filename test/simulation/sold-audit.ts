// What was sold of usage at the end of a run: one line for each closed span, for what it comes to.
import { rateAll, rounded } from '../../ledger/subscriptions/rating.ts';
import type { Span } from '../../ledger/metering/span.ts';
import type { Subscription } from '../../ledger/subscriptions/subscription.ts';
import { soldUnits } from '../ledger/sold-units.ts';
import type { Auditor } from './auditor.ts';
import type { Database } from './database.ts';

export function checkSold(auditor: Auditor, db: Database, hasTrueClocks: boolean): void {
  const spans = [...db.spans.values()]
    .filter(({ isLive, span }) => isLive || span.billedAs !== null)
    .map(({ span }) => span);
  for (const { subscription } of db.subscriptions.values()) {
    const { id, status } = subscription;
    auditor.demand(status === 'canceled', `subscription ${id} does not end`);
  }
  auditor.demand(db.owed.size + db.charges.size === 0, 'something is owed for ever');
  const sold = soldBy(spans);
  const pauses: Sold['pauses'] = new Map(
    [...db.subscriptions.values()].map(({ subscription: { id, pauses: its } }) => [id, its]),
  );
  const lines = new Map<string, { usages: number; amount: bigint }>();
  const voided = new Set<string>();
  for (const { invoice, isVoid } of db.invoices.values()) {
    if (invoice.isDraft) continue;
    for (const line of invoice.lines) {
      if (!('usageId' in line)) continue;
      if (isVoid) {
        voided.add(line.usageId);
        continue;
      }
      const { usages, amount } = lines.get(line.usageId) ?? { usages: 0, amount: 0n };
      const isUsage = line.type === 'usage' ? 1 : 0;
      lines.set(line.usageId, { usages: usages + isUsage, amount: amount + line.amount });
    }
  }
  for (const [billedAs, own] of Map.groupBy(spans, ({ billedAs: line }) => line)) {
    const owes = costOf(own, { sold, pauses });
    if (billedAs === null) {
      const open = own.filter(({ end }) => end !== null);
      const cost = costOf(open, { sold, pauses });
      auditor.demand(cost === 0n, `usage of ${cost} was never billed`);
      continue;
    }
    const line = lines.get(billedAs);
    lines.delete(billedAs);
    // What comes to nothing, of an invoice that is void, is not billed again.
    if (line === undefined && owes === 0n) continue;
    // Late usage was adjusted before its invoice became void: then all that is billed is
    // adjustments.
    const isAdjusted = line?.usages === 0 && voided.has(billedAs);
    auditor.demand(
      line !== undefined && (line.usages > 0 || isAdjusted),
      `usage ${billedAs} has no line`,
    );
    auditor.demand(line?.amount === owes, `usage ${billedAs} costs ${owes}: ${line?.amount}`);
  }
  auditor.demand(lines.size === 0, `${lines.size} lines of usage are of nothing`);
  if (hasTrueClocks) for (const span of spans) checkMarks(auditor, db, span);
}

type Sold = {
  readonly sold: ReadonlyMap<Span, bigint>;
  /** By subscription. */
  readonly pauses: ReadonlyMap<string, Subscription['pauses']>;
};

function costOf(spans: readonly Span[], { sold: units, pauses }: Sold): bigint {
  const [first] = spans;
  if (first === undefined) return 0n;
  const { price } = first;
  const sold = [...Map.groupBy(spans, ({ accountId }) => accountId).values()].map((its) => ({
    quantity: its.reduce((sum, span) => sum + (units.get(span) ?? 0n), 0n),
    minimum: price.minimum === null ? 0n : minimumOf(its, price.minimum, pauses),
  }));
  return rounded(rateAll(price, sold, 0).amount, price.currency);
}

/** For the share of their period, half up. Paused time counts for nothing. */
function minimumOf(spans: readonly Span[], minimum: bigint, pauses: Sold['pauses']): bigint {
  const { start = 0, end = 1 } = spans[0]?.period ?? {};
  const whole = BigInt(end - start);
  const part = spans.reduce((sum, span) => sum + BigInt(soldTime(span)), 0n);
  return (minimum * (part < whole ? part : whole) * 2n + whole) / (whole * 2n);

  function soldTime(span: Span): number {
    const until = span.end ?? span.start;
    const all = pauses.get(span.subscriptionId) ?? [];
    const its = all.filter(({ begins = Infinity }) => (span.period?.start ?? 0) < begins);
    const paused = its.map((one) => Math.min(until, one.end) - Math.max(span.start, one.start));
    return until - span.start - paused.reduce((sum, one) => sum + Math.max(0, one), 0);
  }
}

/** What each closed span has sold. */
function soldBy(spans: readonly Span[]): ReadonlyMap<Span, bigint> {
  const sold = new Map<Span, bigint>();
  const consumed = ({ aggregate }: Span['opening']): bigint => (aggregate > 0n ? aggregate : 0n);
  for (const of of Map.groupBy(spans, ({ accountId }) => accountId).values()) {
    const its = of.toSorted((a, b) => a.start - b.start);
    const units = soldUnits(
      its.map(({ opening, closing, limit }) => ({
        from: consumed(opening),
        to: consumed(closing ?? opening),
        limit,
      })),
    );
    for (const [index, span] of its.entries()) sold.set(span, units[index] ?? 0n);
  }
  return sold;
}

/** What was recorded in the moment of a mark is on either side of it. */
function checkMarks(auditor: Auditor, db: Database, span: Span): void {
  const { id, accountId, start, end, opening, closing } = span;
  const events = db.transfers
    .values()
    .filter(({ transfer: { debit, kind } }) => debit === accountId && kind !== 'refused')
    .flatMap(({ transfer: { at, usage } }) => (usage === null ? [] : [{ at, ...usage }]));
  const sum = (of: typeof events): bigint => of.reduce((all, { value }) => all + value, 0n);
  const marks = [
    ['opening', start, opening],
    ['closing', end, closing],
  ] as const;
  for (const [name, until, mark] of marks) {
    if (until === null || mark === null) continue;
    const least = sum(events.filter(({ eventAt }) => eventAt < until));
    const most = least + sum(events.filter(({ eventAt, at }) => eventAt >= until && at <= until));
    const isRight = mark.aggregate >= least && mark.aggregate <= most;
    auditor.demand(isRight, `the ${name} of span ${id} is ${mark.aggregate}, not ${least}`);
  }
}
