import type { BillableSpan } from '../metering/spans.ts';
import { billUsage } from './bills.ts';
import type { Billing, Subscription } from './subscription.ts';
import { SubscriptionDraft, type SubscriptionContext } from './subscription-draft.ts';
import { committedLines } from './usage-billing.ts';

/**
 * What was held before a subscription ended and is committed after it
 * (docs/spec/balance.md#settled-in-the-small).
 *
 * How it works: the end leaves what sold the units of a hold known (`usage-billing.ts`,
 * `keepHeld`). The decision that commits makes one more final invoice, for what the spans come to
 * now less what they came to before. What else is recorded after the end is in both, so it is not
 * billed.
 * What holds: the hold names the invoice, so a commit that is repeated has the same one.
 */
type Committed = {
  /** The subscription that sold it. */
  readonly id: string;
  /** As it is stored: memory lets go of what has ended. */
  readonly stored: Subscription | null;
  readonly holdId: string;
  /** Its spans before the commit. */
  readonly before: readonly BillableSpan[];
};

/** `context` has the spans as they are with what is committed. */
export function decideCommitted(
  context: SubscriptionContext,
  billing: Billing,
  { id, stored, holdId, before }: Committed,
): SubscriptionDraft {
  const draft = new SubscriptionDraft(context, billing, id, stored);
  const by = { cause: `held ${holdId}`, at: context.now };
  billUsage(draft, by, (invoiceId) => committedLines(draft, { invoiceId, before }));
  return draft;
}
