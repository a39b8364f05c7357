// What an action would bill and do if it were done now: the decision of the ledger, in the names
// and numbers of an invoice. No processor is asked.
import { must, unreachable } from '../../ledger/kernel/assert.ts';
import type { CommandPreview } from '../../ledger/subscriptions/preview.ts';
import { findSubscription, type SubscriptionRecord } from '../records/subscriptions.ts';
import { type ActDeps, askedFor, whyNot } from './act.ts';
import { namedLines } from './named-lines.ts';
import type {
  PreviewedAction,
  PreviewRecord,
  SubscriptionPreviewReply,
  Target,
} from './subscriptions.ts';

export async function previewAction(
  deps: ActDeps,
  target: Target,
  wanted: PreviewedAction,
): Promise<SubscriptionPreviewReply> {
  const { sql, ledger, orgClock } = deps;
  const asked = await askedFor(deps, target, wanted);
  if (asked.kind !== 'asked') return asked;
  const { id } = asked.found.subscription;
  const outcome = await ledger.subscriptions.preview(asked.found.customerId, id, asked.command);
  switch (outcome.kind) {
    case 'previewed':
      return { kind: 'previewed', preview: await recordOf(deps, asked.found, outcome) };
    case 'invalid_state':
      return { ...outcome, ...whyNot(asked.found) };
    case 'currency_mismatch':
      return outcome;
    case 'unknown': {
      // It has ended: canceling again changes nothing, other actions are refused.
      if (wanted.kind !== 'cancel') return { kind: 'invalid_state', legal: [] };
      const record = must(await findSubscription(sql, target.scope, id), 'a subscription');
      return { kind: 'previewed', preview: nothing(record, orgClock.now(target.scope)) };
    }
    default:
      return unreachable(outcome);
  }
}

async function recordOf(
  { sql }: ActDeps,
  found: SubscriptionRecord,
  of: CommandPreview,
): Promise<PreviewRecord> {
  const { invoice, total, amountDue, credited, waits, subscription } = of;
  return {
    currency: subscription.plan.currency,
    lines: invoice === null ? [] : await namedLines(sql, found, invoice),
    discountTotal: invoice?.discount ?? 0n,
    total,
    amountDue,
    credited,
    waits,
    record: { ...found, subscription },
    asOf: new Date(of.asOf),
  };
}

function nothing(record: SubscriptionRecord, now: number): PreviewRecord {
  const { currency } = record.subscription.plan;
  const none = { lines: [], discountTotal: 0n, total: 0n };
  const free = { ...none, amountDue: 0n, credited: 0n, waits: false };
  return { currency, ...free, record, asOf: new Date(now) };
}
