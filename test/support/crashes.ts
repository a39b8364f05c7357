// A process that dies after it has told an actor something, and before it has deleted the row that
// made it do so: the row is done again.
import type { TestServer } from './server.ts';

/** Until `stop`, no row of a subscription or a customer is deleted. */
export async function keepRowsOwed({ sql }: Pick<TestServer, 'sql'>): Promise<{
  stop(): Promise<void>;
}> {
  await sql`
    create function keep_rows_owed() returns trigger language plpgsql as
      $$ begin raise exception 'the process is gone'; end $$`;
  await sql`
    create trigger keep_rows_owed before delete on followups for each row when (old.payment_id is null)
      execute function keep_rows_owed()`;
  return {
    async stop() {
      await sql`drop function keep_rows_owed cascade`;
    },
  };
}
