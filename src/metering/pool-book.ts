// Which pool of credits a meter is, or is a member of.
//
// Holds: a meter is in one pool at most (`credit-costs.ts`), so this is one look-up by its id.
import type { Pool, PoolOf } from '../../ledger/metering/pool.ts';
import { type BookEntry, type BookSource, openMeterBook } from './meter-book.ts';

export async function openPoolBook({
  list,
  ...heard
}: BookSource<Pool>): Promise<{ readonly of: PoolOf }> {
  const book = await openMeterBook({
    ...heard,
    kind: 'meter',
    list: async (organisationId) => (await list(organisationId)).flatMap(entriesOf),
  });
  return { of: ({ id }) => book.of(id) ?? null };
}

/** Of the pool itself, and of the members of all of its lists. */
function entriesOf(pool: Pool): BookEntry<Pool>[] {
  const { id, organisationId } = pool.meter;
  const meterIds = new Set([id, ...pool.costs.flatMap(({ members }) => [...members.keys()])]);
  return [...meterIds].map((meterId) => ({ organisationId, meterId, value: pool }));
}
