import type { Sql } from 'postgres';
import { type Alert, alertOrder, type AlertType, type CustomerAlerts } from '../metering/alert.ts';
import type { Bigints } from './bigints.ts';

/** Customers' own alerts, by customer; those of customers that have any. */
export async function loadAlerts(
  sql: Sql<Bigints>,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, CustomerAlerts>> {
  const rows = await sql<AlertRow[]>`
    select id, customer_id, meter_id, type, threshold from alerts
    where customer_id = any(${[...customerIds]}::uuid[]) and deleted_at is null`;
  const ofCustomers = Map.groupBy(rows, (row) => row.customer_id);
  return new Map(
    [...ofCustomers].map(([customerId, own]) => {
      const byMeter = Map.groupBy(own, (row) => row.meter_id);
      return [customerId, new Map([...byMeter].map(([id, of]) => [id, alertsOf(of)]))];
    }),
  );
}

function alertsOf(rows: readonly AlertRow[]): readonly Alert[] {
  return rows.map(({ id, type, threshold }) => ({ id, type, threshold })).sort(alertOrder);
}

type AlertRow = {
  readonly id: string;
  readonly customer_id: string;
  readonly meter_id: string;
  readonly type: AlertType;
  readonly threshold: bigint;
};
