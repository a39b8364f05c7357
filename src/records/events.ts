import type { Json, Transaction } from '../platform/postgres.ts';
import type { Scope } from './scope.ts';

/** An entry of the outbox, written in the transaction that made it true (contract, Events). */
export type NewEvent = {
  readonly id: string;
  readonly type: string;
  readonly objectType: 'CUSTOMER';
  readonly objectId: string;
  readonly accountId: string | null;
  /** 1, 2, 3 … for each object. */
  readonly sequence: bigint;
  readonly at: Date;
  /** The type's own fields; what all events carry is added on delivery. */
  readonly data: Json;
};

export async function insertEvent(
  sql: Transaction,
  { organisationId, mode }: Scope,
  event: NewEvent,
): Promise<void> {
  await sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, account_id,
      sequence, at, data)
    values (${event.id}, ${organisationId}, ${mode}, ${event.type}, ${event.objectType},
      ${event.objectId}, ${event.accountId}, ${event.sequence}, ${event.at}, ${sql.json(event.data)})`;
}
