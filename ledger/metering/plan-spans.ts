import { advancedDraft, since } from './advance.ts';
import type { MeterContext } from './meter-draft.ts';
import { type MeterState, snapshotOf } from './meter.ts';
import { type Done, done, grantsOf } from './plan-allowance.ts';
import {
  billSpans,
  closeSpan,
  dropSince,
  followBiller,
  openSpan,
  unbillSpans,
} from './span-changes.ts';
import type { Unbilled } from './span.ts';
import { runningSpan } from './spans.ts';

// What a subscription does to the spans of one meter of its customer, beside what it does to its
// allowances (`plan-allowance.ts`). Each order is idempotent.

/** A trial is over: from `at` on, usage beyond the allowances is charged. */
export function chargePlan(
  context: MeterContext,
  state: MeterState,
  subscriptionId: string,
  at: number,
): Done {
  const draft = advancedDraft(context, state);
  const { limit } = snapshotOf(draft.state);
  for (const grant of grantsOf(draft.state, subscriptionId)) {
    if (grant.price !== null && !grant.charges) draft.putGrant({ ...grant, charges: true });
  }
  followBiller(draft, since(draft, at), limit);
  return done(draft, state);
}

/** Closes the span that runs, and opens the next one: what is due until now is billed. */
export function cutPlan(
  context: MeterContext,
  state: MeterState,
  subscriptionId: string,
  at: number,
): Done {
  const draft = advancedDraft(context, state);
  if (runningSpan(draft.state)?.subscriptionId === subscriptionId) {
    closeSpan(draft, at);
    openSpan(draft, at);
  }
  return done(draft, state);
}

/** Says what closed spans were billed as. */
export function billPlan(
  context: MeterContext,
  state: MeterState,
  { billedAs, spanIds }: BilledSpans,
): Done {
  const draft = advancedDraft(context, state);
  billSpans(draft, spanIds, billedAs);
  return done(draft, state);
}

export type BilledSpans = { readonly billedAs: string; readonly spanIds: readonly string[] };

/** Lets go of spans that nothing changes any more. */
export function settlePlan(
  context: MeterContext,
  state: MeterState,
  billedAs: readonly string[],
): Done {
  const draft = advancedDraft(context, state);
  const settled = new Set(billedAs);
  draft.dropSpans(draft.state.spans.filter((span) => settled.has(span.billedAs ?? '')));
  return done(draft, state);
}

/** The subscription has ended, and what was not billed comes to nothing: its spans are let go. */
export function forgetPlan(context: MeterContext, state: MeterState, subscriptionId: string): Done {
  const draft = advancedDraft(context, state);
  dropSince(draft, subscriptionId, -Infinity);
  return done(draft, state);
}

/** A change that was not paid did not happen: takes back what was billed for it. */
export function unbillPlan(context: MeterContext, state: MeterState, what: Unbilled): Done {
  const draft = advancedDraft(context, state);
  unbillSpans(draft, what);
  return done(draft, state);
}
