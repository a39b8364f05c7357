import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/** One key of one caller for one kind of request. */
export type IdempotencyScope = Tenant & { readonly operation: string; readonly keyHash: Buffer };

export type StoredAnswer = {
  readonly requestHash: Buffer;
  /** `BEGUN` where the answer is still to come. */
  readonly status: number;
  /** Of what has begun, what its retry is told. */
  readonly body: string;
};

/** In place of a status: the call has begun, and may have been cut off. */
export const BEGUN = 0;

/** What is stored with the effect of a call, if its key is free. */
export type KeyedAnswer = {
  readonly scope: IdempotencyScope;
  /** The advisory lock of the key. */
  readonly lock: bigint;
  readonly answer: StoredAnswer;
  readonly now: number;
};

/** As JSON that becomes a row of `idempotency`. */
export function answerRow({ scope, answer, now }: Omit<KeyedAnswer, 'lock'>) {
  return {
    organisation_id: scope.organisationId,
    mode: scope.mode,
    operation: scope.operation,
    key_hash: hex(scope.keyHash),
    request_hash: hex(answer.requestHash),
    status: answer.status,
    body: answer.body,
    created_at: new Date(now).toISOString(),
  };
}

/** The text of a bytea. */
const hex = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

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

/**
 * Whether it is the first answer, or that a call has begun where nothing was known of it. A later
 * one is not kept.
 */
export async function keepAnswer(
  sql: Executor,
  scope: IdempotencyScope,
  { answer, now }: Keeping,
): Promise<boolean> {
  const { count } = await sql`
    insert into idempotency as known (organisation_id, mode, operation, key_hash, request_hash,
      status, body, created_at)
    values (${scope.organisationId}, ${scope.mode}, ${scope.operation}, ${scope.keyHash},
      ${answer.requestHash}, ${answer.status}, ${answer.body}, ${new Date(now)})
    on conflict (organisation_id, mode, operation, key_hash) do update
      set status = excluded.status, body = excluded.body
      where known.status = ${BEGUN} and excluded.status <> ${BEGUN}`;
  return count === 1;
}
