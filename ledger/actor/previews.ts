import { must } from '../kernel/assert.ts';
import type { Rest } from '../kernel/long-work.ts';
import type { Command } from '../subscriptions/commands.ts';
import { type PreviewOutcome, decidePreview } from '../subscriptions/preview.ts';
import {
  type UpcomingInvoice,
  decideNext,
  decidePaid,
  decideUpcoming,
  nextOther,
  upcomingAt,
} from '../subscriptions/upcoming.ts';
import { Ahead } from './ahead.ts';
import type { OwnershipSession } from './ownership-session.ts';

// Questions about a subscription that are answered by what is durable, and write nothing. Its
// meters may have thousands of steps ahead of them, so that is long work on a copy.

/** What its next invoice would bill; null where it has ended. */
export function upcomingInvoice(
  session: OwnershipSession,
  customerId: string,
  id: string,
): Promise<UpcomingInvoice | null> {
  return alone(session, customerId, async (ahead, rest) => {
    const { contexts, upcoming: cache } = session;
    const asOf = contexts.nowOf(ahead);
    const at = upcomingAt(ahead.billing.durable, id, asOf);
    if (at === null) return null;
    const facts = ahead.factsOf(contexts, { id, isOfAll: isOfOthers(ahead, id) });
    const known = cache.get(id);
    if (known?.at === at && isSame(known.facts, facts)) return { ...known.upcoming, asOf };
    const upcoming = await foreseen({ contexts, ahead, rest }, id, asOf);
    return cache.keep(id, { facts, at, upcoming }).upcoming;
  });
}

type Foreseeing = {
  readonly contexts: OwnershipSession['contexts'];
  readonly ahead: Ahead;
  readonly rest: Rest;
};

/** Whether other meters and subscriptions than its own count. */
function isOfOthers({ billing: { durable } }: Ahead, id: string): boolean {
  return durable.subscriptions.size > 1 || durable.subscriptions.get(id)?.waiting !== null;
}

/**
 * In the order of the clock: a payment that is awaited, what others bill before it, then its own.
 */
async function foreseen(where: Foreseeing, id: string, asOf: number): Promise<UpcomingInvoice> {
  const { ahead } = where;
  await paid(where, id);
  const idle = new Set<string>();
  for (;;) {
    const other = nextOther(ahead.billing.durable, { id, now: ahead.now, idle });
    if (other === null) break;
    await paid(where, other.id);
    const billed = await contextThen(where, other.id);
    const draft = decideNext(billed, ahead.billing.durable, other.id);
    if (!ahead.carryOut(where.contexts, draft)) idle.add(other.id);
  }
  const context = await contextThen(where, id);
  return decideUpcoming(context, ahead.billing.durable, { id, asOf });
}

/** The change that waits is paid. */
async function paid({ contexts, ahead, rest }: Foreseeing, id: string): Promise<void> {
  const { waiting = null } = ahead.billing.durable.subscriptions.get(id) ?? {};
  if (waiting === null) return;
  const spans = await ahead.spansAt(contexts, { at: ahead.now, subscriptionId: id, rest });
  const context = { ...contexts.ofSubscriptions(ahead), spans };
  ahead.carryOut(contexts, decidePaid(context, ahead.billing.durable, id));
}

/** What is known when its next invoice is made. */
async function contextThen({ contexts, ahead, rest }: Foreseeing, id: string) {
  const at = must(upcomingAt(ahead.billing.durable, id, ahead.now), 'it has a next invoice');
  const spans = await ahead.spansAt(contexts, { at, subscriptionId: id, rest });
  await rest();
  return { ...contexts.ofSubscriptions(ahead), now: at, spans };
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
