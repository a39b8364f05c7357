import { expect } from 'bun:test';
import type { Reply, TestServer } from './server.ts';

/** Which tables the database refuses then: what a killed process did not write any more. */
const CUTS = {
  'before its answer': ['idempotency'],
  'before its charge': ['idempotency', 'sandbox_charges'],
  'before its invoice': ['idempotency', 'invoices'],
} as const;
export type Cut = keyof typeof CUTS;

/** A call with a key, cut off there. Nothing is in memory after it. */
export async function cutOff(
  { sql, ledger }: TestServer,
  cut: Cut,
  call: () => Promise<Reply>,
): Promise<void> {
  await sql`
    create or replace function cut_off() returns trigger language plpgsql as $$ begin raise 'cut off'; end $$`;
  for (const table of CUTS[cut]) {
    // That the call has begun is written before.
    const answers = table === 'idempotency' ? sql`when (new.status <> 0)` : sql``;
    await sql`create trigger cut_off before insert or update on ${sql(table)} for each row ${answers} execute function cut_off()`;
  }
  try {
    expect((await call()).status).toBe(500);
  } finally {
    for (const table of CUTS[cut]) await sql`drop trigger cut_off on ${sql(table)}`;
    await sql`drop function cut_off`;
  }
  ledger.forgetAll();
}
