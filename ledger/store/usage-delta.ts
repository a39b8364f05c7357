// What a flush adds to usage over time: its usage, summed by account and quarter of an hour of the
// events' own time. A row of `usage_deltas` has it, in the same transaction as the events. So
// whoever reads a delta or what became of it (`src/metering/usage-folder.ts`) sees each event once.
//
// A refused event is none. A correction counts with its negative value, and takes one event off;
// how many corrections there are is in rows of their own (`usage_corrections`), because most
// flushes have none. What is committed of a reservation counts like an event.
import type { Transfer } from '../kernel/transfers.ts';
import { type ArrayColumn, type ArrayColumns, kept, type RowColumns } from './columns.ts';
import { eventsOf } from './events-of.ts';

/** The days of every time zone begin at a quarter of an hour. */
const QUARTER_MS = 900_000;

export type UsageEntry = {
  readonly slot: number;
  readonly accountId: string;
  /** When the quarter begins, in milliseconds. */
  readonly quarter: number;
  sum: bigint;
  /** The number of events, less corrections. */
  events: bigint;
  corrections: bigint;
};

/** The columns of a delta, each an array with one element an entry. */
export const DELTA_COLUMNS: ArrayColumns<UsageEntry> = {
  slots: column('smallint', ({ slot }) => slot),
  accounts: column('uuid', ({ accountId }) => accountId),
  quarters: column('timestamptz', ({ quarter }) => quarter),
  sums: column('bigint', ({ sum }) => sum),
  events: column('bigint', ({ events }) => events),
};

/** Of an entry that has corrections. */
export const CORRECTION_COLUMNS = {
  slot: kept('smallint', ({ slot }) => slot),
  account_id: kept('uuid', ({ accountId }) => accountId),
  quarter: kept('time', ({ quarter }) => quarter),
  corrections: kept('bigint', ({ corrections }) => corrections),
} as const satisfies RowColumns<UsageEntry>;

/** One for each account and quarter that these transfers record usage in. */
export function usageEntries(transfers: readonly Transfer[]): UsageEntry[] {
  const entries = new Map<string, UsageEntry>();
  for (const { usage, kind, slot, debit: accountId } of transfers) {
    if (usage === null || kind === 'refused') continue;
    const quarter = Math.floor(usage.eventAt / QUARTER_MS) * QUARTER_MS;
    const key = accountId + quarter;
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { slot, accountId, quarter, sum: 0n, events: 0n, corrections: 0n };
      entries.set(key, entry);
    }
    entry.sum += usage.value;
    const events = eventsOf(usage);
    entry.events += events;
    if (events < 0n) entry.corrections -= events;
  }
  return [...entries.values()];
}

function column(
  type: ArrayColumn<never>['type'],
  of: ArrayColumn<UsageEntry>['of'],
): ArrayColumn<UsageEntry> {
  return { type, of, shared: false };
}
