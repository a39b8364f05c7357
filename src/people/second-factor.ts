// The second factor: enrolled with an app, asked for after each sign-in and before what is risky.
//
// Holds: a code counts once. After a code the session has another token, so one that somebody knew
// before opens nothing more. Who enrols one or takes it away ends the user's other sessions: they
// were not asked for it.
import { randomBytes } from 'node:crypto';
import { hashKey } from '../platform/crypto/keys.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  countMiss,
  countRecoveryCodes,
  dropSecondFactor,
  findSecondFactor,
  takeRecoveryCode,
  takeStep,
} from '../records/second-factors.ts';
import { renewSession, revokeSessions } from '../records/sessions.ts';
import type { User } from '../records/users.ts';
import type { Origin, PeopleDeps } from './people.ts';
import { recordRefusal, recordUserAction } from './recorded.ts';
import { newTotpSecret, stepOf, totpUri } from './totp.ts';

const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 8;

/** Who gives a code, in which session, and from where. */
export type Who = { readonly user: User; readonly sessionId: string; readonly from: Origin };

/** What an app needs: typed, or read as a QR code. */
export type Enrolment = { readonly secret: string; readonly uri: string };

/**
 * The same until it is confirmed, however often it is asked for; null: it is confirmed. Whoever
 * calls has seen that the session may enrol one (step-up.ts), and so has who confirms it.
 */
export async function enrolment(
  { sql, secrets }: Pick<PeopleDeps, 'sql' | 'secrets'>,
  { id, email }: User,
): Promise<Enrolment | null> {
  const fresh = secrets.seal(newTotpSecret(randomBytes), id);
  await beginSecondFactor(sql, { userId: id, sealed: fresh });
  const factor = await findSecondFactor(sql, id);
  if (factor === null || factor.isConfirmed) return null;
  const secret = secrets.open(factor.sealed, id);
  return { secret, uri: totpUri(secret, email) };
}

export type Confirmed = {
  /** The session's new one. */
  readonly token: string;
  /** Shown once. */
  readonly recoveryCodes: readonly string[];
};

/**
 * Begins to ask for codes, with the first one. null: the code is wrong, or there is nothing to
 * confirm.
 */
export async function confirmEnrolment(
  deps: PeopleDeps,
  who: Who,
  code: string,
): Promise<Confirmed | null> {
  const { user, sessionId } = who;
  const { sql, clock, secrets } = deps;
  const now = clock.now();
  const factor = await findSecondFactor(sql, user.id);
  if (factor === null || factor.isConfirmed) return null;
  const step = stepOf(secrets.open(factor.sealed, user.id), digitsOf(code), now);
  if (step === null) return null;
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const recoveryHashes = recoveryCodes.map((each) => hashOf(user.id, each));
  return sql.begin(async (transaction) => {
    const confirmed = { userId: user.id, sealed: factor.sealed, step, recoveryHashes, now };
    if (!(await confirmSecondFactor(transaction, confirmed))) return null;
    const ended = { userId: user.id, except: sessionId, now };
    const after = { sessions_ended: await revokeSessions(transaction, ended) };
    const token = await renew(deps, transaction, sessionId);
    if (token === null) return null;
    const done = { ...who, operation: 'enableSecondFactor', object: self(user), after } as const;
    await recordUserAction(deps, transaction, { ...done, status: 200 });
    return { token, recoveryCodes };
  });
}

/**
 * Takes a code of the app, or a recovery code. The session's new token; null: it is wrong, was
 * used, or none counts any more.
 */
export async function giveCode(deps: PeopleDeps, who: Who, code: string): Promise<string | null> {
  const { sql, clock, secrets } = deps;
  const { user, sessionId } = who;
  const now = clock.now();
  const factor = await findSecondFactor(sql, user.id);
  if (factor === null || !factor.isConfirmed) return null;
  const step = stepOf(secrets.open(factor.sealed, user.id), digitsOf(code), now);
  const token = await sql.begin(async (transaction) => {
    const isTaken =
      step === null
        ? await takeRecoveryCode(transaction, { userId: user.id, hash: hashOf(user.id, code), now })
        : await takeStep(transaction, { userId: user.id, step });
    if (!isTaken) return null;
    const renewed = await renew(deps, transaction, sessionId);
    if (renewed === null) return null;
    await recordUserAction(deps, transaction, {
      ...who,
      operation: step === null ? 'useRecoveryCode' : 'giveSecondFactor',
      object: { type: 'session', id: sessionId },
      ...(step === null && {
        after: { recovery_codes_left: await countRecoveryCodes(transaction, user.id) },
      }),
    });
    return renewed;
  });
  if (token === null) await miss(deps, who);
  return token;
}

async function miss(deps: PeopleDeps, who: Who): Promise<void> {
  await deps.sql.begin(async (sql) => {
    await countMiss(sql, who.user.id);
    await recordRefusal(deps, sql, { ...who, why: 'wrong_code', status: 400 });
  });
}

/** Asks for no code any more. Whoever calls has seen a code of this session. */
export async function removeSecondFactor(
  deps: Pick<PeopleDeps, 'sql' | 'clock' | 'ids'>,
  who: Who,
): Promise<void> {
  const { user, sessionId } = who;
  await deps.sql.begin(async (sql) => {
    await dropSecondFactor(sql, user.id);
    const ended = { userId: user.id, except: sessionId, now: deps.clock.now() };
    const after = { sessions_ended: await revokeSessions(sql, ended) };
    const done = { ...who, operation: 'disableSecondFactor', object: self(user), after } as const;
    await recordUserAction(deps, sql, done);
  });
}

const self = ({ id }: User) => ({ type: 'user', id }) as const;

async function renew(
  { clock, newToken }: Pick<PeopleDeps, 'clock' | 'newToken'>,
  sql: Transaction,
  id: string,
): Promise<string | null> {
  const token = newToken();
  return (await renewSession(sql, { id, token, now: clock.now() })) ? token : null;
}

/** Apps show "123 456". */
function digitsOf(code: string): string {
  return code.replaceAll(/\s/g, '');
}

/** 64 bits, as 4 groups of 4 digits. */
function newRecoveryCode(): string {
  const digits = randomBytes(RECOVERY_BYTES).toString('hex');
  return digits.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** However it was typed. */
function hashOf(userId: string, code: string): Buffer {
  return hashKey(`${userId} ${code.toLowerCase().replaceAll(/[^\da-f]/g, '')}`);
}
