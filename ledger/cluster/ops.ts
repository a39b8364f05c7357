import { assert, must } from '../kernel/assert.ts';
import { checkHere, addGrant, balancesOf, voidGrant } from '../actor/metering.ts';
import { tick } from '../actor/alarms.ts';
import { chargePayment, findPayment, reserveRefund, settleRefund } from '../actor/payments.ts';
import { type BatchItem, recordBatch, recordOne, refusalOfBatch } from '../actor/recording.ts';
import {
  commandSubscription,
  findSubscription,
  startSubscription,
} from '../actor/subscriptions.ts';
import type { OwnershipSession } from '../actor/ownership-session.ts';
import type { Meter } from '../metering/meter.ts';
import type { BatchOutcome, RecordOutcome, UsageRequest } from '../outcome.ts';

/**
 * All that one node may ask of another, by name. The first argument is the owner's own; the others and the answer are plain data that
 * can travel. Each throws NotOwner where what it is about is not the node's any more; then nothing of it was done.
 *
 * Each may be asked twice, where the first answer was lost: whoever asks chooses the ids. But for what stands in `ONCE`.
 */
export const OPS = {
  check,
  record,
  recordAll,
  wouldRefuse,
  addGrant,
  voidGrant,
  balancesOf,
  tick,
  findPayment,
  chargePayment,
  reserveRefund,
  settleRefund,
  startSubscription,
  commandSubscription,
  findSubscription,
} as const;

/** What another time may mean another thing. */
export const NON_IDEMPOTENT: ReadonlySet<OpName> = new Set(['commandSubscription'] as const);

/**
 * It was asked for before, and the answer was lost. What would be refused now may have been recorded then, perhaps by the last owner:
 * so its keys are looked up first.
 */
export function expectRepeat(
  session: OwnershipSession,
  name: OpName,
  args: readonly unknown[],
): void {
  if (name === 'record') {
    const [, , request] = args as OpArguments<'record'>;
    session.recent.add(must(request.keyId, 'the id of what is asked for again'));
  } else if (name === 'reserveRefund') {
    const [, { id }] = args as OpArguments<'reserveRefund'>;
    session.recent.add(id);
  } else if (name === 'recordAll') {
    const [items] = args as OpArguments<'recordAll'>;
    for (const { request } of items) session.recent.add(must(request.keyId, 'the id of an item'));
  }
}

type Ops = typeof OPS;
export type OpName = keyof Ops;
export type OpArguments<N extends OpName> = Ops[N] extends (
  session: OwnershipSession,
  ...args: infer A
) => unknown
  ? A
  : never;
export type OpAnswer<N extends OpName> = Awaited<ReturnType<Ops[N]>>;

/** Without a promise where the customer is in memory. */
function check(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  units: bigint,
): string | Promise<string> {
  const actor = session.directory.get(customerId);
  if (actor === undefined) return checkLater(session, customerId, meter, units);
  return checkHere(session, actor, session.meter(meter), units);
}

function checkLater(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  units: bigint,
): Promise<string> {
  return session.read(
    () => session.actorOf(customerId, meter.organisationId),
    (actor) => checkHere(session, actor, session.meter(meter), units),
  );
}

async function record(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  request: UsageRequest,
): Promise<RecordOutcome> {
  assert(request.keyId !== null, 'what may be asked for again has an id');
  const actor =
    session.directory.get(customerId) ?? (await session.actorOf(customerId, meter.organisationId));
  return recordOne(session, { actor, meter: session.meter(meter), request });
}

/** An item of a batch that another node has sent. */
export type SentItem = Omit<BatchItem, 'actor'> & { readonly customerId: string };

async function recordAll(
  session: OwnershipSession,
  sent: readonly SentItem[],
  isPartial = false,
): Promise<BatchOutcome> {
  return recordBatch(session, await received(session, sent), isPartial);
}

/** Why `recordAll` would record none of them, as of now; null where it would not refuse. */
async function wouldRefuse(session: OwnershipSession, sent: readonly SentItem[]) {
  return refusalOfBatch(session, await received(session, sent));
}

async function received(
  session: OwnershipSession,
  sent: readonly SentItem[],
): Promise<readonly BatchItem[]> {
  return Promise.all(
    sent.map(async ({ customerId, ...item }) => ({
      ...item,
      meter: session.meter(item.meter),
      actor:
        session.directory.get(customerId) ??
        (await session.actorOf(customerId, item.meter.organisationId)),
    })),
  );
}
