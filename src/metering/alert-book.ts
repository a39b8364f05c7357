// The alerts that a merchant has for each customer, by meter.
//
// Holds: while this process may miss changes, a threshold that was reached fires with the next
// usage.
// Does not: hold alerts of single customers, which are with their actors.
import { must } from '../../ledger/kernel/assert.ts';
import type { Alert, AlertsOf } from '../../ledger/metering/alert.ts';
import type { AlertForAll } from '../records/alerts.ts';
import { type BookEntry, type BookSource, openMeterBook } from './meter-book.ts';

const NONE: readonly Alert[] = [];

export async function openAlertBook({
  list,
  ...heard
}: BookSource<AlertForAll>): Promise<{ readonly of: AlertsOf }> {
  const book = await openMeterBook({
    ...heard,
    kind: 'alert',
    list: async (organisationId) => entriesOf(await list(organisationId)),
  });
  return { of: ({ id }) => book.of(id) ?? NONE };
}

function entriesOf(alerts: readonly AlertForAll[]): BookEntry<readonly Alert[]>[] {
  return [...Map.groupBy(alerts, ({ meterId }) => meterId)].map(([meterId, of]) => ({
    organisationId: must(of[0], 'a group has a member').organisationId,
    meterId,
    value: of.map(({ id, type, threshold }) => ({ id, type, threshold })),
  }));
}
