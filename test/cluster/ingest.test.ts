// A call about customers of two nodes counts in full and once, though one owner falls silent or the
// database refuses its part.
import { expect, test } from 'bun:test';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { customerOf, testSilentOwners } from './silent-owner.ts';

const nodes = testSilentOwners([
  // None of its writes arrives: the next owner records it.
  ['freeze', 2, 'who owns the rest', 0],
  // It has recorded it, but its answer is lost: the next owner finds it.
  ['deafen', 2, 'who falls silent', 1],
]);

test('a part of an ingest that the database refuses is a 500, and not retried', async () => {
  const [broken, other] = nodes().all;
  const ids = [await customerOf(nodes(), broken!), await customerOf(nodes(), other!)];
  const { sql } = broken!;
  // A taken number stays taken, whatever the outcome of the statement.
  await sql.unsafe(`
    create sequence refusals;
    create function refuse() returns trigger language plpgsql as $$
      begin
        perform nextval('refusals');
        raise exception 'a row that is wrong' using errcode = 'TL001';
      end $$;
    create trigger refuse before insert or update on balances
      for each row when (new.slot = ${slotOf(ids[0]!)}) execute function refuse()`);
  const body = { events: ids.map((id) => ({ name: 'call', customer_id: id })) };
  const { status } = await broken!.call('POST', '/events/ingest', { body });
  const [{ refusals } = { refusals: 0n }] = await sql<{ refusals: bigint }[]>`
    select last_value as refusals from refusals`;
  await sql.unsafe('drop trigger refuse on balances; drop function refuse; drop sequence refusals');
  expect([status, refusals]).toEqual([500, 1n]);
}, 60_000);
