import { assert } from '../kernel/assert.ts';
import { billLeftUsage, close, giveBack } from './bills.ts';
import { isMandateLost, isUnpaidEnd } from './dunning.ts';
import { endPause } from './pauses.ts';
import type { ExpiryReason, Settlement } from './subscription.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';
import { unbill } from './usage-billing.ts';

/**
 * Ends a subscription: open invoices become void, its allowances end, and what was used is billed
 * once more (docs/spec/usage-prices.md#billing).
 */
export function end(draft: SubscriptionDraft, at: number, reason: ExpiryReason): void {
  const { state } = draft;
  assert(state.status !== 'canceled' || state.endedAt === null, 'it ends once');
  assert(state.waiting === null, 'what is being paid for is decided first');
  // A charge under way is not canceled: it is for a period that had begun.
  const underWay = state.open.filter(({ paymentId }) => paymentId !== null);
  const unpaid = state.open.filter(({ paymentId }) => paymentId === null);
  for (const { invoiceId } of unpaid) draft.follow(invoiceId, at, { kind: 'void', invoiceId });
  unbill(
    draft,
    unpaid.map(({ invoiceId }) => invoiceId),
  );
  endPause(draft, { end: at });
  const used = unpaid.reduce((sum, { credit }) => sum + credit, 0n);
  draft.change({
    status: 'canceled',
    canceledAt: state.canceledAt ?? at,
    endedAt: at,
    cancelAt: at,
    resumesAt: null,
    open: underWay,
    credit: 0n,
  });
  giveBack(draft, state.credit + used);
  draft.becomeOverdue('clear', at);
  if (isUnpaidEnd(reason)) draft.follow('end', at, { kind: 'ended' });
  draft.order({ kind: 'withdraw', how: 'expired', at });
  draft.closeSpans(at);
  draft.announce('subscription.expired', at, { reason });
  billLeftUsage(draft, { cause: 'end', at });
}

/** A charge that was under way at the end has failed: its invoice is void, its usage is not. */
export function voidAfterEnd(
  draft: SubscriptionDraft,
  { invoiceId, credit }: { readonly invoiceId: string; readonly credit: bigint },
  at: number,
): void {
  close(draft, invoiceId);
  draft.follow(invoiceId, at, { kind: 'void', invoiceId });
  giveBack(draft, credit);
  if (unbill(draft, [invoiceId])) billLeftUsage(draft, { cause: `end ${invoiceId}`, at });
}

/** Ends the subscription when its mandate is lost. */
export function endWithMandate(draft: SubscriptionDraft, settlement: Settlement): void {
  if (!isMandateLost(settlement) || draft.state.status === 'canceled') return;
  end(draft, settlement.at, 'mandate_lost');
}
