import { boundary } from '../kernel/calendar.ts';
import { assert } from '../kernel/assert.ts';
import { billPeriod, retry } from './invoicing.ts';
import { recurringLine } from './proration.ts';
import { blocksAt, expiresAt, suspensionOf } from './dunning.ts';
import { type PlanAllowance, isTrial, renews, subscriptionDue, amountOf } from './subscription.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';
import { resume } from './pending-payment.ts';

/** Steps in one decision. */
const STEPS_MAX = 100;

/** Does what time has brought about, in due order, each at its own due time; whether that was all of it. */
export function catchUp(draft: SubscriptionDraft, allowances?: readonly PlanAllowance[]): boolean {
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const due = subscriptionDue(draft.state);
    if (due > draft.context.now) return true;
    step(draft, due, allowances);
    assert(subscriptionDue(draft.state) >= due, 'time went backwards in a subscription');
  }
  return subscriptionDue(draft.state) > draft.context.now;
}

/** Of what is due at the same time, what ends it comes first. */
function step(draft: SubscriptionDraft, due: number, allowances?: readonly PlanAllowance[]): void {
  const { cancelAt, resumesAt, open, periodEnd } = draft.state;
  if (cancelAt === due) return lapse(draft, due);
  if (expiresAt(draft.state, due)) return draft.end(due, 'dunning_exhausted');
  if (renews(draft.state) && periodEnd === due) return renew(draft, due, allowances);
  if (blocksAt(draft.state, due)) return draft.reconsider(due);
  if (resumesAt === due) return resume(draft, due);
  const failed = open.find(({ retryAt }) => retryAt === due);
  assert(failed !== undefined, 'something was due');
  retry(draft, failed, due);
}

function lapse(draft: SubscriptionDraft, at: number): void {
  const inTrial = isTrial(draft.state);
  if (inTrial) draft.announceTrialEnd(at, 'expired');
  draft.end(at, inTrial ? 'trial_expired' : 'cancellation_effective');
}

/** The next period begins, paid or not. Computed from the anchor, never from the last one, so that nothing drifts (decisions 7). */
function renew(draft: SubscriptionDraft, at: number, allowances?: readonly PlanAllowance[]): void {
  const { cycle, periodIndex, plan, status } = draft.state;
  const wasTrial = isTrial(draft.state);
  const index = periodIndex + 1;
  const [periodStart, periodEnd] = [boundary(cycle, index), boundary(cycle, index + 1)];
  assert(periodStart === at, 'periods have no gap and no overlap');
  // A period of which only a draft is left has cost nothing yet.
  draft.change({
    periodIndex: index,
    periodStart,
    periodEnd,
    periodPrice: status === 'paused' ? 0n : amountOf(plan),
  });
  if (wasTrial) draft.announceTrialEnd(at, 'converted');
  if (allowances !== undefined) {
    draft.order({ kind: 'refresh', allowances, cycle });
    // What is given for the first time would be free to use.
    const why = suspensionOf(draft.state);
    if (why !== null) draft.order({ kind: 'suspend', why });
  }
  const lines = [recurringLine(plan)];
  billPeriod(draft, { reason: 'subscription_cycle', lines, periodStart, periodEnd, at });
}
