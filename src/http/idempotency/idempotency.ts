// Executes a request that creates a record at most once for each Idempotency-Key.
//
// Who calls: routes whose effect is a row, those on subscriptions, and batches of usage. Other
// usage and payments use the ledger's own mechanism.
// How: the answer is stored in the transaction of the effect, so neither is there without the other
// (but see `onceRepeatable`). Of two calls at the same time one executes; the other is told so and
// waits (key-turns.ts).
// Holds: a refusal by a business rule is stored too. Not stored: that something was not found, and
// that no checkout could be made, because nothing was created and the next call may succeed; that a
// payment is under way, where a later retry can tell what became of it. A request that does not fit
// its schema does not get here.
// Does not: forget. Answers are kept for at least 30 days.
import { createHash } from 'node:crypto';
import { must } from '../../../ledger/kernel/assert.ts';
import type { KeyLocks } from '../../platform/postgres/key-locks.ts';
import type { Sql, Transaction } from '../../platform/postgres/postgres.ts';
import type { Secrets } from '../../platform/crypto/secrets.ts';
import {
  BEGUN,
  findAnswer,
  type IdempotencyScope,
  insertAnswer,
  keepAnswer,
  type KeyedAnswer,
  type StoredAnswer,
  tryLockKey,
} from '../../records/idempotency.ts';
import { type PortalPrincipal, type Principal, tenantOf } from '../edge/auth.ts';
import {
  type ErrorCode,
  errorText,
  inProgress,
  isInProgress,
  type Issue,
  messageOf,
  refuse,
  STATUS_OF,
} from '../edge/errors.ts';
import { writeInTurn } from '../edge/write-turns.ts';
import type { Operation } from '../operation.ts';
import { REPLAYED } from './replayed.ts';

/** The response, which is stored where the request has a key. */
export type Answer = {
  readonly status: number;
  readonly body: string;
  /** false: a retry is executed again. */
  readonly isKept?: boolean;
};

const NOT_KEPT = new Set<ErrorCode>(['not_found', 'checkout_create_failed']);

export type Attempt = {
  readonly sql: Sql;
  readonly principal: Principal | PortalPrincipal;
  /** The same key is another key in another operation. */
  readonly operation: Keyable;
  /** The customer whose key it is, where it counts for one customer. */
  readonly of?: string;
  readonly key: string | null;
  readonly body: unknown;
  /** For a route whose answer holds a secret: the stored answer is encrypted. */
  readonly secrets?: Secrets;
  readonly now: number;
};

export function answer(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) };
}

export function refusal(code: ErrorCode, message: string): Answer {
  const body = errorText(code, message);
  return { status: STATUS_OF[code], body, isKept: !NOT_KEPT.has(code) };
}

/** A refusal of one field that only the effect can judge. */
export function refusedField(field: string, message: string): Answer {
  return refusedFields([{ path: [field], message }]);
}

export function refusedFields(issues: readonly Issue[]): Answer {
  const text = errorText('invalid_request', messageOf(issues), issues);
  return { status: STATUS_OF.invalid_request, body: text };
}

/** Runs `task` in a transaction, or returns the stored answer. */
export async function once(
  attempt: Attempt,
  task: (sql: Transaction) => Promise<Answer>,
): Promise<Response> {
  const { sql, key, principal } = attempt;
  return writeInTurn(tenantOf(principal), async () =>
    key === null
      ? respond(await sql.begin(task))
      : sql.begin((transaction) => onceInTransaction(transaction, { attempt, key, task })),
  );
}

/** What a statement that opens something stores with it; null without a key. */
export function keyedAnswer(attempt: Attempt, made: () => Answer): KeyedAnswer | null {
  const { key, now } = attempt;
  if (key === null) return null;
  const scope = keyScope(attempt, key);
  return { scope, lock: lockOf(scope, key), answer: stored(attempt, scope, made()), now };
}

/** Where such a statement met an answer, or a call that is being executed. */
export async function answeredBefore(attempt: Attempt): Promise<Response> {
  const { sql, key } = attempt;
  const scope = keyScope(attempt, must(key, 'a key that is taken'));
  const earlier = await findAnswer(sql, scope);
  return earlier === null ? inProgress() : replay(attempt, scope, earlier);
}

/** The answer that was stored under the key; null where there is none. */
export async function earlierAnswer(attempt: Attempt): Promise<Response | null> {
  if (attempt.key === null) return null;
  const scope = keyScope(attempt, attempt.key);
  return decided(attempt, scope, await findAnswer(attempt.sql, scope));
}

/**
 * For an effect that the ledger knows by its key, while it knows nothing of what it refused: stores
 * the refusal, or returns what another call with the key was answered.
 */
export async function refusedOnce(attempt: Attempt, response: Response): Promise<Response> {
  const refused = await keptOf(response);
  if (attempt.key === null || refused instanceof Response) return sent(refused);
  const scope = keyScope(attempt, attempt.key);
  const isFirst = await writeInTurn(tenantOf(attempt.principal), () =>
    keep(attempt, scope, refused),
  );
  return (isFirst ? null : await earlierAnswer(attempt)) ?? respond(refused);
}

/** The answer to store, or the response where it is not stored. */
export async function keptOf(response: Response): Promise<Answer | Response> {
  const { status, headers } = response;
  const isDecided = status < 400 || status === 402 || (status === 409 && !isInProgress(response));
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  return isDecided && isJson ? { status, body: await response.text() } : response;
}

/** A refusal, stored where its kind is kept; or the answer that was stored before. */
export async function onceRefused(attempt: Attempt, refused: Answer): Promise<Response> {
  return attempt.key === null ? respond(refused) : once(attempt, () => Promise.resolve(refused));
}

/** What was stored before the task of a key ran first. */
export type Begun = {
  readonly text: string;
  /** Whether a call before this one began, and gave no answer that is kept. */
  readonly isAgain: boolean;
};

/** Returns an answer to store, or a response that is not stored. `begun`: null without `begin`. */
type RepeatableTask = (begun: Begun | null) => Promise<Answer | Response>;

const sent = (answered: Answer | Response): Response =>
  answered instanceof Response ? answered : respond(answered);

type Repeatable = Attempt & {
  readonly keyLocks: KeyLocks;
  /**
   * For a task that may have had its effect when it was cut off, which its state does not tell:
   * this text is stored before it, with the body. So a retry can tell what is its own, and no other
   * body goes on under the key.
   */
  readonly begin?: () => string | Promise<string>;
};

/**
 * The same for a task that calls the ledger or a processor, and so must not hold a transaction. The
 * task has to be repeatable: its ids derive from the key, or it leaves a state that is already
 * right. Its answer is stored after it; a call that was cut off in between executes again. Of two
 * calls at the same time one executes, on any node, and the other waits for its answer: a half-done
 * first call could make the second a refusal.
 */
export async function onceRepeatable(attempt: Repeatable, task: RepeatableTask): Promise<Response> {
  const { sql, key, keyLocks } = attempt;
  if (key === null) return sent(await task(null));
  const scope = keyScope(attempt, key);
  const earlier = decided(attempt, scope, await findAnswer(sql, scope));
  if (earlier !== null) return earlier;
  const response = await keyLocks.alone(lockOf(scope, key), () =>
    answerAlone(attempt, scope, task),
  );
  return response ?? inProgress();
}

async function answerAlone(
  attempt: Repeatable,
  scope: IdempotencyScope,
  task: RepeatableTask,
): Promise<Response> {
  const { sql, begin } = attempt;
  let begun: Begun | null = null;
  if (begin !== undefined) {
    const text = await begin();
    const isNew = await keep(attempt, scope, { status: BEGUN, body: text });
    if (isNew) begun = { text, isAgain: false };
  }
  if (begun === null) {
    const earlier = await findAnswer(sql, scope);
    const first = decided(attempt, scope, earlier);
    if (first !== null) return first;
    if (earlier !== null) begun = { text: opened(attempt, scope, earlier.body), isAgain: true };
  }
  const answered = await task(begun);
  if (answered instanceof Response || answered.isKept === false) return sent(answered);
  if (await keep(attempt, scope, answered)) return respond(answered);
  const first = decided(attempt, scope, await findAnswer(sql, scope));
  return first ?? respond(answered);
}

function keep(attempt: Attempt, scope: IdempotencyScope, answered: Answer): Promise<boolean> {
  const { sql, now } = attempt;
  return keepAnswer(sql, scope, { answer: stored(attempt, scope, answered), now });
}

/** What an earlier call decides for this one; null where it was not answered. */
function decided(
  attempt: Attempt,
  scope: IdempotencyScope,
  earlier: StoredAnswer | null,
): Response | null {
  if (earlier === null) return null;
  const isToDo = earlier.status === BEGUN && isOf(attempt, earlier);
  return isToDo ? null : replay(attempt, scope, earlier);
}

async function onceInTransaction(
  sql: Transaction,
  options: { attempt: Attempt; key: string; task: (sql: Transaction) => Promise<Answer> },
): Promise<Response> {
  const { attempt, key, task } = options;
  const { now } = attempt;
  const scope = keyScope(attempt, key);
  const isAlone = await tryLockKey(sql, lockOf(scope, key));
  // Also beside another call: that may be told what was answered, too.
  const earlier = await findAnswer(sql, scope);
  if (earlier !== null) return replay(attempt, scope, earlier);
  if (!isAlone) return inProgress();
  const answered = await task(sql);
  if (answered.isKept !== false) {
    await insertAnswer(sql, scope, { answer: stored(attempt, scope, answered), now });
  }
  return respond(answered);
}

/** The advisory lock that the execution of a key holds. */
export function lockOf(
  { organisationId, mode, operation }: Omit<IdempotencyScope, 'keyHash'>,
  key: string,
): bigint {
  return sha256(JSON.stringify([organisationId, mode, operation, key])).readBigInt64BE();
}

type Keyable = Pick<Operation, 'operationId' | 'method' | 'path' | 'idempotent'>;

/**
 * The scope of an operation's keys, in which answers are stored for 30 days: another name for it
 * forgets them.
 */
export function scopeOf(operation: Keyable, of?: string): string {
  const { operationId, method, path, idempotent } = operation;
  const name = idempotent === undefined ? operationId : `${method} ${path}`;
  return of === undefined ? name : `${name} ${of}`;
}

function keyScope(attempt: Attempt, key: string): IdempotencyScope {
  const { principal } = attempt;
  const { mode } = principal;
  const operation = scopeOf(attempt.operation, attempt.of);
  // The answers of a group are stored under the group's id.
  return { organisationId: tenantOf(principal), mode, operation, keyHash: sha256(key) };
}

function stored(attempt: Attempt, scope: IdempotencyScope, { status, body }: Answer): StoredAnswer {
  return { status, body: sealed(attempt, scope, body), requestHash: hashOf(attempt) };
}

function replay(attempt: Attempt, scope: IdempotencyScope, earlier: StoredAnswer): Response {
  const { status, body } = earlier;
  if (!isOf(attempt, earlier)) {
    return refuse(
      'idempotency_key_reused',
      'this Idempotency-Key came with another request before',
    );
  }
  const first = { status, body: opened(attempt, scope, body) };
  return respond(first, REPLAYED.headers);
}

/** Whether it is the answer of what this call asks. */
function isOf(attempt: Attempt, { requestHash }: StoredAnswer): boolean {
  return attempt.operation.idempotent === 'any_body' || requestHash.equals(hashOf(attempt));
}

function hashOf({ body }: Attempt): Buffer {
  return sha256(canonical(body));
}

function sealed({ secrets }: Attempt, { organisationId }: IdempotencyScope, body: string): string {
  return secrets === undefined ? body : secrets.seal(body, organisationId).toString('base64');
}

function opened({ secrets }: Attempt, { organisationId }: IdempotencyScope, body: string): string {
  return secrets === undefined ? body : secrets.open(Buffer.from(body, 'base64'), organisationId);
}

/** The HTTP response of an answer. */
export function respond({ status, body }: Answer, headers: Record<string, string> = {}): Response {
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/** Canonical JSON: independent of the order of keys and of white space. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
