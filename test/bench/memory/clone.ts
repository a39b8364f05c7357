// Makes a million customers without a million requests: one is made over HTTP, and its rows are
// copied in bulk with other ids. So all other columns hold what the code writes.
//
// Holds: ids are those that the code would derive, and the other side of the grants gets their sum,
// so that `admin audit` stays clean. No running process may have the meter's accounts in memory
// while this writes. Does not: copy events. They would make a million webhooks due.
import type { Sql } from 'postgres';
import { ids } from '../../../src/platform/ids.ts';
import { customerName } from '../generator/workload.ts';
import { slotOf } from '../../../ledger/kernel/slot.ts';

const BATCH = 20_000;

interface Original {
  readonly customer: string;
  readonly meter: string;
  readonly slot: number;
  readonly account: string;
  readonly grant: string;
  readonly transfer: string;
  /** The account that the grant came from. */
  readonly source: string;
  readonly granted: string;
}

/** Copies a customer with one grant as numbers 1 to count - 1. */
export async function cloneCustomer(
  sql: Sql,
  { customerId, count }: { customerId: string; count: number },
): Promise<void> {
  const [original] = await sql<Original[]>`
    select accounts.customer_id as customer, accounts.meter_id as meter, accounts.slot, accounts.id as account,
      grants.id as "grant", transfers.id as transfer, transfers.debit as source, transfers.amount as granted
    from accounts
    join grants using (slot, customer_id)
    join transfers on transfers.credit = accounts.id
    where accounts.customer_id = ${customerId}`;
  if (original === undefined) throw new Error('the customer to copy has no grant');
  for (let from = 1; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    await insertBatch(sql, original, { from, size });
  }
  await sql`
    update node_balances set debits_posted = debits_posted + ${count - 1}::bigint * ${original.granted}::bigint
    where id = ${original.source}`;
  await sql`vacuum analyze`;
}

async function insertBatch(
  sql: Sql,
  original: Original,
  { from, size }: { from: number; size: number },
): Promise<void> {
  const clones = Array.from({ length: size }, (_, index) => cloneOf(original, from + index));
  const { customer, meter, slot, account, grant, transfer } = original;
  await sql.begin(async (transaction) => {
    await transaction`
      create temporary table clones on commit drop as
      select * from jsonb_to_recordset(${transaction.json(clones)}) as clone
        (name text, customer uuid, slot smallint, account uuid, "grant" uuid, transfer uuid)`;
    await transaction`
      insert into customers select copy.* from customers as original, clones, jsonb_populate_record(original,
        jsonb_build_object('id', customer, 'external_customer_id', clones.name)) as copy
      where original.id = ${customer}`;
    await transaction`
      insert into accounts select copy.* from accounts as original, clones, jsonb_populate_record(original,
        jsonb_build_object('id', account, 'customer_id', customer, 'slot', clones.slot)) as copy
      where original.slot = ${slot} and original.id = ${account}`;
    await transaction`
      insert into balances select copy.* from balances as original, clones, jsonb_populate_record(original,
        jsonb_build_object('id', account, 'slot', clones.slot)) as copy
      where original.slot = ${slot} and original.id = ${account}`;
    await transaction`
      insert into customer_meters select copy.* from customer_meters as original, clones, jsonb_populate_record(original,
        jsonb_build_object('customer_id', customer, 'slot', clones.slot)) as copy
      where original.slot = ${slot} and original.customer_id = ${customer} and original.meter_id = ${meter}`;
    await transaction`
      insert into grants select copy.* from grants as original, clones, jsonb_populate_record(original,
        jsonb_build_object('id', "grant", 'customer_id', customer, 'slot', clones.slot)) as copy
      where original.id = ${grant}`;
    await transaction`
      insert into transfers select copy.* from transfers as original, clones, jsonb_populate_record(original,
        jsonb_build_object('id', transfer, 'credit', account, 'slot', clones.slot)) as copy
      where original.id = ${transfer}`;
  });
}

function cloneOf({ meter }: Original, number: number) {
  const customer = ids.next();
  return {
    name: customerName(number),
    customer,
    slot: slotOf(customer),
    // A customer with top-ups alone has one endless period, which starts at 0
    // (ledger/metering/advance.ts).
    account: ids.derive('period', customer, meter, '0'),
    grant: ids.next(),
    transfer: ids.next(),
  };
}
