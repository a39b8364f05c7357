// What clients hold, commit, release and extend, and what each answer must agree with at once.
import type { Reservation, Resolution } from '../../ledger/metering/reservation.ts';
import type { ReservationRequest } from '../../ledger/metering/reservation-decisions.ts';
import { ids } from '../../src/platform/ids.ts';
import { type About, accountOf, find, see } from './calls.ts';
import { send } from './client.ts';
import type { World } from './world.ts';

/** No call takes more than this from a balance. */
export const UNITS_MAX = 12;

const SOURCE = 'reservation';

export async function reserve(
  world: World,
  about: About,
  request: ReservationRequest,
): Promise<'answer' | 'unknown'> {
  const { auditor, server, schedule } = world;
  const { id, amount } = request;
  const { customer, meter } = about;
  const mark = `hold ${id}`;
  const from = schedule.now;
  auditor.mark(id, mark);
  const accountId = accountOf(customer, meter);
  const answered = auditor.want(mark, { what: mark, accountId, takes: amount });
  const reply = await send(
    world,
    { what: `${mark} of ${amount} for ${customer.externalId}, ${meter.slug}` },
    async (ledger) => ledger.reserve(await find(world, ledger, customer), meter, request),
    (outcome) => {
      if (outcome.kind === 'denied') {
        const row = server.db.reservations.get(id);
        auditor.demand(row === undefined, `${mark} was refused and has left a trace`);
        if (meter.slug !== 'strict') return;
        const what = `a refusal of ${mark}`;
        return see(world, about, { what, from, balance: amount, says: 'is below' });
      }
      if (outcome.kind !== 'reserved' && outcome.kind !== 'known') {
        return auditor.report(`${mark} was answered ${outcome.kind}`);
      }
      const row = server.db.byId.get(id)?.transfer;
      auditor.demand(row?.kind === 'pending', `I8: ${mark} is not durable`);
      // What was asked for again may have been extended since.
      auditor.demand(outcome.reservation.amount >= amount, `${mark} holds another amount`);
    },
  );
  if (reply.kind === 'unknown') return 'unknown';
  answered();
  if (reply.value.kind === 'reserved' || reply.value.kind === 'known') auditor.done(mark);
  return 'answer';
}

export async function resolve(
  world: World,
  about: About,
  { id, act }: { readonly id: string; readonly act: Resolution },
): Promise<'answer' | 'unknown'> {
  const { auditor } = world;
  const { customer, meter } = about;
  const mark = `end of hold ${id}`;
  const isEnd = act.kind !== 'extend';
  const answered = isEnd ? wantEnd(world, about, { id, mark }) : () => undefined;
  const reply = await send(
    world,
    { what: `${act.kind} of hold ${id}` },
    async (ledger) => ledger.resolve(await find(world, ledger, customer), meter, { id, act }),
    (outcome) => {
      if (outcome === null || outcome.kind !== 'done') return;
      checkResolved(world, act, outcome.reservation);
    },
  );
  if (reply.kind === 'unknown') return 'unknown';
  answered();
  const isDone = reply.value?.kind === 'done' && reply.value.reservation.status !== 'expired';
  if (isEnd && isDone && meter.slug === 'strict') auditor.done(mark);
  return 'answer';
}

/** One of its ends may happen, once. Where it may expire first, a late commit is another row. */
function wantEnd(
  { auditor }: World,
  { customer, meter }: About,
  { id, mark }: { readonly id: string; readonly mark: string },
): () => void {
  if (meter.slug !== 'strict') return () => undefined;
  for (const how of ['commit', 'void']) auditor.mark(ids.derive(SOURCE, how, id), mark);
  const accountId = accountOf(customer, meter);
  return auditor.want(mark, { what: mark, accountId, takes: BigInt(UNITS_MAX) });
}

/** What was answered is durable, and the same for all who ask. */
function checkResolved({ auditor, server }: World, act: Resolution, told: Reservation): void {
  const { id, status, committed } = told;
  const row = server.db.reservations.get(id)?.reservation;
  auditor.demand(row !== undefined, `I8: hold ${id} is not durable`);
  if (act.kind === 'extend') {
    auditor.demand((row?.extensions ?? 0) >= told.extensions, `I8: hold ${id} is not extended`);
    return auditor.demand(status === 'open', `hold ${id} was extended and is ${status}`);
  }
  // A commit may come after its time, and after a release of what had expired.
  if (status === 'expired') {
    return auditor.demand(act.kind === 'release', `a commit of ${id} was answered ${status}`);
  }
  auditor.demand(
    row?.status === status && row.committed === committed,
    `I8: hold ${id} is ${row?.status} ${row?.committed}, and was answered ${status} ${committed}`,
  );
  auditor.demand(
    act.kind === 'commit'
      ? status === 'committed' && committed === act.value
      : status === 'released',
    `${act.kind} of hold ${id} was answered ${status} ${committed}`,
  );
  auditor.same(`end of hold ${id}`, [status, committed]);
}
