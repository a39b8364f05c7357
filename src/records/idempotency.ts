import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/** One key of one caller for one kind of request. */
export type IdempotencyScope = Tenant & { readonly operation: string; readonly keyHash: Buffer };

export type StoredAnswer = {
  readonly requestHash: Buffer;
  readonly status: number;
  readonly body: string;
};

/** Whether no other transaction is executing this key. Locks it until this one ends. */
export async function tryLockKey(sql: Transaction, lock: bigint): Promise<boolean> {
  const [row] = await sql<
    { locked: boolean }[]
  >`select pg_try_advisory_xact_lock(${lock}) as locked`;
  return row?.locked === true;
}

export async function findAnswer(
  sql: Executor,
  { organisationId, mode, operation, keyHash }: IdempotencyScope,
): Promise<StoredAnswer | null> {
  const [row] = await sql<StoredAnswer[]>`
    select request_hash as "requestHash", status, body from idempotency
    where organisation_id = ${organisationId} and mode = ${mode} and operation = ${operation}
      and key_hash = ${keyHash}`;
  return row ?? null;
}

type Keeping = { readonly answer: StoredAnswer; readonly now: number };

/** Only for the transaction that holds the key. */
export async function insertAnswer(
  sql: Transaction,
  scope: IdempotencyScope,
  keeping: Keeping,
): Promise<void> {
  if (!(await keepAnswer(sql, scope, keeping))) throw new Error('the key was answered already');
}

/** Whether it is the first answer. A later one is not kept. */
export async function keepAnswer(
  sql: Executor,
  scope: IdempotencyScope,
  { answer, now }: Keeping,
): Promise<boolean> {
  const { count } = await sql`
    insert into idempotency (organisation_id, mode, operation, key_hash, request_hash, status, body,
      created_at)
    values (${scope.organisationId}, ${scope.mode}, ${scope.operation}, ${scope.keyHash},
      ${answer.requestHash}, ${answer.status}, ${answer.body}, ${new Date(now)})
    on conflict do nothing`;
  return count === 1;
}
