// What one caller may write at once: so many transactions that what waits in them, for an invoice's number or for the count of a bound,
// leaves connections to everybody else.
//
// Who calls: src/http/idempotency/idempotency.ts, around the transactions that make records.
// Holds: a tenant has at most PER_TENANT of them under way in a process; its others wait in a line of its own, which has a bound.
import { timers } from '../../platform/clock.ts';
import { Lane } from '../../platform/postgres/lane.ts';
import { Unavailable } from './errors.ts';

/** Of the eight connections that write. */
const PER_TENANT = 4;

/** The places are the pool's own; what is shared out here is how many of them one tenant has. */
const lane = new Lane({
  places: Infinity,
  perTenant: PER_TENANT,
  waitingMax: 1000,
  waitMs: 10_000,
  timers,
});

/** @throws Unavailable where the tenant has too many of them under way */
export async function writeInTurn(
  tenant: string,
  write: () => Promise<Response>,
): Promise<Response> {
  const done = await lane.run(tenant, write);
  if (done === 'no_place') throw new Unavailable('too many writes of this caller at once');
  return done;
}
