import { must } from '../kernel/assert.ts';
import { totalOfInvoice } from './bills.ts';
import { type Command, type CommandOutcome, decideCommand } from './commands.ts';
import type { Billing, InvoiceDraft, Subscription } from './subscription.ts';
import type { SubscriptionContext, SubscriptionDraft } from './subscription-draft.ts';

/** What a command would bill and do. */
export type CommandPreview = {
  readonly kind: 'previewed';
  /** null where it makes none. */
  readonly invoice: InvoiceDraft | null;
  readonly total: bigint;
  /** What is charged at once. */
  readonly amountDue: bigint;
  /** What comes back as credit for later invoices. */
  readonly credited: bigint;
  /** Whether it takes effect with its payment, and not without. */
  readonly waits: boolean;
  /** As it is then: after that payment, where it waits for one. */
  readonly subscription: Subscription;
  /** When it was reckoned. */
  readonly asOf: number;
};

export type PreviewOutcome = CommandPreview | Exclude<CommandOutcome, { kind: 'done' }>;

/**
 * The decision of a command, and of the payment that it waits for, without writing either. What is
 * due before it is done first, by itself: its invoices are not those of the command.
 */
export function decidePreview(
  context: SubscriptionContext,
  billing: Billing,
  asked: { readonly id: string; readonly command: Command },
): PreviewOutcome {
  const due = decideCommand(context, billing, { id: asked.id, command: { kind: 'tick' } });
  const then = after(context, due.draft);
  if (then !== null) return decidePreview(then.context, then.billing, asked);
  const { outcome, draft } = decideCommand(context, billing, asked);
  const decided = must(outcome, 'an outcome where nothing else is due');
  if (decided.kind !== 'done') return decided;
  const made = must(draft, 'what was decided');
  const before = must(billing.subscriptions.get(asked.id), 'what was decided on');
  const { waiting } = made.state;
  const waits = waiting !== null && waiting !== before.waiting;
  const bill = made.followups.find((owed) => owed.kind === 'bill');
  const credited = creditOf(made.state, made) - creditOf(before, billing);
  return {
    kind: 'previewed',
    invoice: bill?.invoice ?? null,
    total: bill === undefined ? 0n : totalOfInvoice(bill.invoice),
    amountDue: bill?.payment?.amount ?? 0n,
    credited: credited > 0n ? credited : 0n,
    waits,
    subscription: waits ? paid(context, made, waiting.paymentId) : made.state,
    asOf: context.now,
  };
}

/** What the next decision sees; null where this one changes nothing. */
function after(context: SubscriptionContext, draft: SubscriptionDraft | null) {
  const effects = draft?.effects() ?? null;
  if (draft === null || effects === null) return null;
  return { context: { ...context, spans: draft.spans }, billing: effects.state };
}

function paid(
  context: SubscriptionContext,
  draft: SubscriptionDraft,
  paymentId: string,
): Subscription {
  const then = must(after(context, draft), 'what waits has changed');
  const settlement = { kind: 'paid', paymentId, at: context.now, transactionId: null } as const;
  const command = { kind: 'settle', settlement } as const;
  const { draft: settled } = decideCommand(then.context, then.billing, {
    id: draft.state.id,
    command,
  });
  return must(settled, 'what was paid').state;
}

/** What later invoices of the subscription may use. */
function creditOf({ credit, plan }: Subscription, { account }: Pick<Billing, 'account'>): bigint {
  return credit + (account.credit[plan.currency] ?? 0n);
}
