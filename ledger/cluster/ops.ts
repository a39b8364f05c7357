import { assert, must } from '../kernel/assert.ts';
import { addGrant, checkHere, checkLater, voidGrant } from '../actor/metering.ts';
import { balancesOf, grantsOf } from '../actor/balances.ts';
import { lookAtAlert } from '../actor/alerts.ts';
import {
  chargePayment,
  findPayment,
  reserveRefund,
  settleDisputes,
  settleRefund,
} from '../actor/payments.ts';
import { type BatchItem, recordBatch, refusalOfBatch } from '../actor/batch-recording.ts';
import { recordEach as recordEachHere } from '../actor/each-recording.ts';
import { recordOne, type UsageItem } from '../actor/recording.ts';
import {
  collectInvoice,
  commandSubscription,
  findSubscription,
  startSubscription,
} from '../actor/subscriptions.ts';
import { previewCommand, upcomingInvoice } from '../actor/previews.ts';
import { reserve, resolveReservation } from '../actor/reservations.ts';
import { changeTopUp, putTopUp, topUpsOf } from '../actor/auto-topups.ts';
import { findSpendCap, setSpendCap } from '../actor/spend-cap.ts';
import { tick } from '../actor/tick.ts';
import type { OwnershipSession } from '../actor/ownership-session.ts';
import type { Meter, RenderedCheck } from '../metering/meter.ts';
import type { BatchOutcome, RecordOutcome, UsageRequest } from '../outcome.ts';

/**
 * Every operation that one node may ask of another, by name. The first argument is the owner's
 * session; the others and the answer are plain data that can travel. An op throws NotOwner where
 * the node lost the slot; then nothing was done.
 *
 * An op may run twice, where the first reply was lost: the caller chooses the ids, so it counts
 * once. The exceptions are in `NON_IDEMPOTENT`.
 */
const OPS = {
  check,
  record,
  recordAll,
  recordEach,
  wouldRefuse,
  addGrant,
  voidGrant,
  reserve,
  resolveReservation,
  balancesOf,
  grantsOf,
  tick,
  findPayment,
  chargePayment,
  reserveRefund,
  settleRefund,
  settleDisputes,
  startSubscription,
  commandSubscription,
  collectInvoice,
  findSubscription,
  previewCommand,
  upcomingInvoice,
  setSpendCap,
  findSpendCap,
  lookAtAlert,
  putTopUp,
  changeTopUp,
  topUpsOf,
} as const;

/** Ops that may do something else when they run a second time. */
export const NON_IDEMPOTENT: ReadonlySet<OpName> = new Set(['commandSubscription'] as const);

/** What an op needs when it was asked for before and the reply was lost. */
type Repeats = {
  readonly [N in OpName]?: (session: OwnershipSession, ...args: OpArguments<N>) => void;
};

/**
 * The first request may have been recorded, perhaps by the previous owner, and would be refused
 * now. So its keys are looked up first.
 */
const REPEATS: Repeats = {
  record: ({ recent }, _customerId, _meter, { keyId }) =>
    recent.add(must(keyId, 'the id of what is asked for again')),
  reserve: ({ recent }, _customerId, _meter, { id }) => recent.add(id),
  reserveRefund: ({ recent }, _paymentId, { id }) => recent.add(id),
  recordAll: addIds,
  recordEach: addIds,
};

function addIds({ recent }: OwnershipSession, items: readonly SentUsage[]): void {
  for (const { request } of items) recent.add(must(request.keyId, 'the id of an item'));
}

/** Runs an op on this node. `isRepeat`: it was asked for before, and the reply was lost. */
export function runOp<N extends OpName>(
  session: OwnershipSession,
  name: N,
  { args, isRepeat }: { readonly args: OpArguments<N>; readonly isRepeat: boolean },
): OpAnswer<N> | Promise<OpAnswer<N>> {
  if (isRepeat) REPEATS[name]?.(session, ...args);
  const ops: OpTable = OPS;
  return ops[name](session, ...args);
}

type Ops = typeof OPS;
export type OpName = keyof Ops;
export type OpArguments<N extends OpName> = {
  readonly [K in N]: Ops[K] extends (session: OwnershipSession, ...args: infer A) => unknown
    ? A
    : never;
}[N];
export type OpAnswer<N extends OpName> = Awaited<ReturnType<Ops[N]>>;

/** `OPS` as one generic name sees it: the arguments and the answer of each op belong together. */
type OpTable = {
  readonly [N in OpName]: (
    session: OwnershipSession,
    ...args: OpArguments<N>
  ) => OpAnswer<N> | Promise<OpAnswer<N>>;
};

/** Without a promise where the customer is in memory. */
function check(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  units: bigint,
): RenderedCheck | Promise<RenderedCheck> {
  const actor = session.store.directory.get(customerId);
  if (actor === undefined) return checkLater(session, customerId, meter, units);
  return checkHere(session, actor, session.contexts.meter(meter), units);
}

async function record(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  request: UsageRequest,
): Promise<RecordOutcome> {
  assert(request.keyId !== null, 'what may be asked for again has an id');
  const actor =
    session.store.directory.get(customerId) ??
    (await session.store.actorOf(customerId, meter.organisationId));
  const item = { actor, meter: session.contexts.meter(meter), request };
  return recordOne(session, item, null);
}

/** An item of a call that another node has sent. */
export type SentUsage = Omit<UsageItem, 'actor'> & { readonly customerId: string };

/** The same of a batch. */
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

async function recordEach(
  session: OwnershipSession,
  sent: readonly SentUsage[],
): Promise<readonly RecordOutcome[]> {
  return recordEachHere(session, await received(session, sent));
}

async function received<I extends SentUsage>(session: OwnershipSession, sent: readonly I[]) {
  return Promise.all(
    sent.map(async ({ customerId, ...item }) => ({
      ...item,
      meter: session.contexts.meter(item.meter),
      actor:
        session.store.directory.get(customerId) ??
        (await session.store.actorOf(customerId, item.meter.organisationId)),
    })),
  );
}
