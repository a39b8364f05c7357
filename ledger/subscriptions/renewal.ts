import { boundary } from '../kernel/calendar.ts';
import { assert } from '../kernel/assert.ts';
import { billPeriod } from './bills.ts';
import { end } from './ending.ts';
import { retry } from './invoicing.ts';
import { recurringLine } from './proration.ts';
import { blocksAt, expiresAt, suspensionOf } from './dunning.ts';
import {
  type PlanAllowance,
  isTrial,
  renews,
  subscriptionDue,
  amountOf,
  discountOf,
} from './subscription.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';
import { resumeInTime } from './pending-payment.ts';

/** The most steps of one decision. */
const STEPS_MAX = 100;

/** Does all that is due, in due order, each at its own due time. Returns whether that was all. */
export function catchUp(draft: SubscriptionDraft, allowances?: readonly PlanAllowance[]): boolean {
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const due = subscriptionDue(draft.state);
    if (due > draft.context.now) return true;
    step(draft, due, allowances);
    assert(subscriptionDue(draft.state) >= due, 'time went backwards in a subscription');
  }
  return subscriptionDue(draft.state) > draft.context.now;
}

/** If several things are due at the same time, an end comes first. */
function step(draft: SubscriptionDraft, due: number, allowances?: readonly PlanAllowance[]): void {
  const { cancelAt, resumesAt, open, periodEnd } = draft.state;
  if (cancelAt === due) return lapse(draft, due);
  if (expiresAt(draft.state, due)) return end(draft, due, 'dunning_exhausted');
  // Before the next period, which is then no draft.
  if (resumesAt === due && periodEnd === due) return resumeInTime(draft, due);
  if (renews(draft.state) && periodEnd === due) return renew(draft, due, allowances);
  if (blocksAt(draft.state, due)) return draft.reconsider(due);
  if (resumesAt === due) return resumeInTime(draft, due);
  const failed = open.find(({ retryAt }) => retryAt === due);
  assert(failed !== undefined, 'something was due');
  retry(draft, failed, due);
}

function lapse(draft: SubscriptionDraft, at: number): void {
  const inTrial = isTrial(draft.state);
  if (inTrial) draft.announceTrialEnd(at, 'expired');
  end(draft, at, inTrial ? 'trial_expired' : 'cancellation_effective');
}

/**
 * Begins the next period, paid or not. It is computed from the anchor, never from the last period,
 * so nothing drifts (docs/spec/subscriptions.md#subscriptions).
 */
export function renew(
  draft: SubscriptionDraft,
  at: number,
  allowances?: readonly PlanAllowance[],
): void {
  const { cycle, periodIndex, plan, status } = draft.state;
  const wasTrial = isTrial(draft.state);
  const index = periodIndex + 1;
  const [periodStart, periodEnd] = [boundary(cycle, index), boundary(cycle, index + 1)];
  assert(periodStart === at, 'periods have no gap and no overlap');
  // A period that has only a draft has cost nothing yet.
  draft.change({
    periodIndex: index,
    periodStart,
    periodEnd,
    periodPrice: status === 'paused' ? 0n : amountOf(plan) - discountOf(draft.state, plan),
    givenBack: [],
  });
  if (wasTrial) draft.announceTrialEnd(at, 'converted');
  if (wasTrial) draft.order({ kind: 'charge', at });
  if (allowances !== undefined) {
    draft.order({ kind: 'refresh', allowances, cycle, since: at, charges: true });
    draft.repriceSpans(at, allowances);
    // A new grant is not suspended by itself.
    const why = suspensionOf(draft.state);
    if (why !== null) draft.order({ kind: 'suspend', why });
  }
  const lines = [recurringLine(plan)];
  const reason = 'subscription_cycle';
  billPeriod(draft, { reason, lines, periodStart, periodEnd, at, usageUntil: at });
}
