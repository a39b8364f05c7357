// Customers that may be past a new alert, looked at beside the service.
import type { Ledger } from '../../ledger/ledger.ts';
import { alertLooks } from '../metering/alert-looks.ts';
import { timers } from '../platform/clock.ts';
import { openPool } from '../platform/postgres/postgres.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';

/** Begins to look. */
export function openAlertLooks(
  { databaseUrl, log }: ServiceOptions,
  { clock }: Connections,
  ledger: Ledger,
): { close(): Promise<void> } {
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'tollhouse alerts' });
  const looks = alertLooks({
    sql,
    clock,
    timers,
    log,
    isReady: () => ledger.readiness().ready,
    look: (customerId, look) => ledger.lookAtAlert(customerId, look),
  });
  looks.start();
  return {
    async close() {
      await looks.close();
      await sql.end({ timeout: 2 });
    },
  };
}
