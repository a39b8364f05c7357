// Bounds how many write transactions one tenant has at once. Transactions wait for locks (the next
// invoice number, the count of a bound); the bound leaves connections to the other tenants.
//
// Who calls: src/http/idempotency/idempotency.ts, around the transactions that create records.
// Holds: a tenant has at most PER_TENANT write transactions in a process; more wait in a queue of
// the tenant's own, which is bounded.
import { timers } from '../../platform/clock.ts';
import { Lane } from '../../platform/postgres/lane.ts';
import { Unavailable } from './errors.ts';

/** Of the eight connections that write. */
const PER_TENANT = 4;

/** The pool bounds the connections; this bounds how many of them one tenant has. */
const lane = new Lane({
  places: Infinity,
  perTenant: PER_TENANT,
  waitingMax: 1000,
  waitMs: 10_000,
  timers,
});

/** @throws Unavailable where the tenant has too many of them under way */
export async function writeInTurn<T>(tenant: string, write: () => Promise<T>): Promise<T> {
  const done = await lane.run(tenant, write);
  if (done === 'no_place') throw new Unavailable('too many writes of this caller at once');
  return done;
}
