import type { Rest } from '../kernel/long-work.ts';
import type { Command } from '../subscriptions/commands.ts';
import { type PreviewOutcome, decidePreview } from '../subscriptions/preview.ts';
import { type UpcomingInvoice, decideUpcoming, upcomingAt } from '../subscriptions/upcoming.ts';
import { Ahead } from './ahead.ts';
import type { OwnershipSession } from './ownership-session.ts';

// Questions about a subscription that are answered by what is durable, and write nothing. Its meters
// may have thousands of steps ahead of them, so that is long work on a copy.

/** What its next invoice would bill; null where it has ended. */
export function upcomingInvoice(
  session: OwnershipSession,
  customerId: string,
  id: string,
): Promise<UpcomingInvoice | null> {
  return alone(session, customerId, async (ahead, rest) => {
    const { contexts, upcoming: cache } = session;
    const context = contexts.ofSubscriptions(ahead);
    const billing = ahead.billing.durable;
    const at = upcomingAt(billing, id, context.now);
    if (at === null) return null;
    const facts = ahead.factsOf(contexts, id);
    const known = cache.get(id);
    if (known?.at === at && isSame(known.facts, facts)) {
      return { ...known.upcoming, asOf: context.now };
    }
    const spans = await ahead.spansAt(contexts, { at, subscriptionId: id, rest });
    await rest();
    const then = { ...context, now: at, spans };
    const upcoming = decideUpcoming(then, billing, { id, asOf: context.now });
    return cache.keep(id, { facts, at, upcoming }).upcoming;
  });
}

/** What a command would answer, bill and do now. */
export function previewCommand(
  session: OwnershipSession,
  customerId: string,
  asked: { readonly id: string; readonly command: Command },
): Promise<PreviewOutcome> {
  return alone(session, customerId, async (ahead, rest) => {
    const { contexts } = session;
    const context = contexts.ofSubscriptions(ahead);
    const on = { at: context.now, subscriptionId: asked.id, rest };
    const spans = await ahead.spansAt(contexts, on);
    return decidePreview({ ...context, spans }, ahead.billing.durable, asked);
  });
}

/** One of an organisation's at a time. */
async function alone<T>(
  { executor, store, contexts, longWork }: OwnershipSession,
  customerId: string,
  answer: (ahead: Ahead, rest: Rest) => Promise<T>,
): Promise<T> {
  const find = () => store.actorOf(customerId);
  const { organisationId } = await find();
  return longWork.run(organisationId, async (rest) => {
    const ahead = await executor.read(find, (actor) => new Ahead(actor, contexts.nowOf(actor)));
    return answer(ahead, rest);
  });
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
