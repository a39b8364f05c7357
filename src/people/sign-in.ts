// Signing in: by a link that counts once, or by an identity provider. Both begin a session.
//
// Holds: each sign-in makes a session of its own, with a token that nobody has seen, and ends the
// one that the browser held. Where a second factor is enrolled, the session opens nothing before a
// code is given (second-factor.ts). The first sign-in that proves the address ends what was before
// it (proof.ts).
import type { Transaction } from '../platform/postgres/postgres.ts';
import { insertSession, revokeSession } from '../records/sessions.ts';
import {
  ASKED_MAX,
  findEndedLink,
  insertSignInLink,
  useSignInLink,
} from '../records/sign-in-links.ts';
import { findUserByEmail, type User } from '../records/users.ts';
import type { Browser, PeopleDeps } from './people.ts';
import { proveOwn } from './proof.ts';
import { recordRefusal, recordUserAction } from './recorded.ts';

/** The text that a link ends in; null where the user has as many as one may ask for. */
export async function makeSignInLink(
  { sql, clock, ids, newToken }: Pick<PeopleDeps, 'sql' | 'clock' | 'ids' | 'newToken'>,
  userId: string,
): Promise<string | null> {
  const token = newToken();
  const link = { id: ids.next(), token, userId, openMax: ASKED_MAX, now: clock.now() };
  const isMade = await sql.begin((transaction) => insertSignInLink(transaction, link));
  return isMade ? token : null;
}

/** The new session's token; null where the link is unknown, used or over. */
export async function signInByLink(
  deps: PeopleDeps,
  link: string,
  browser: Browser,
): Promise<string | null> {
  return deps.sql.begin(async (sql) => {
    const user = await useSignInLink(sql, { token: link, now: deps.clock.now() });
    if (user !== null) return provenSession(deps, sql, { user, browser, by: 'link' });
    const ended = await findEndedLink(sql, link);
    if (ended === null) return null;
    await recordRefusal(deps, sql, { ...ended, sessionId: null, from: browser, status: 410 });
    return null;
  });
}

/** For an address that an identity provider has verified. null: it is no user's. */
export async function signInByEmail(
  deps: PeopleDeps,
  email: string,
  browser: Browser,
): Promise<string | null> {
  return deps.sql.begin(async (sql) => {
    const user = await findUserByEmail(sql, email);
    if (user === null) return null;
    if (user.disabledAt === null) return provenSession(deps, sql, { user, browser, by: 'oidc' });
    const refused = { user, why: 'user_disabled', sessionId: null, status: 403 } as const;
    await recordRefusal(deps, sql, { ...refused, from: browser });
    return null;
  });
}

/** Of who has proven the address by signing in: what was signed in before the first proof ends. */
async function provenSession(
  deps: PeopleDeps,
  sql: Transaction,
  signIn: {
    readonly user: Pick<User, 'id' | 'email'>;
    readonly browser: Browser;
    readonly by: 'link' | 'oidc';
  },
): Promise<string> {
  const { user, browser, by } = signIn;
  await proveOwn(deps, sql, { user, sessionId: null, from: browser, by });
  return beginSession(deps, sql, signIn);
}

/** Its token. */
export async function beginSession(
  deps: Pick<PeopleDeps, 'clock' | 'ids' | 'newToken'>,
  sql: Transaction,
  {
    user,
    browser,
    by,
  }: {
    readonly user: Pick<User, 'id' | 'email'>;
    readonly browser: Browser;
    readonly by: 'link' | 'oidc' | 'invitation';
  },
): Promise<string> {
  const { clock, ids, newToken } = deps;
  const { address, userAgent } = browser;
  const now = clock.now();
  await endFormer(deps, sql, browser);
  const token = newToken();
  const id = ids.next();
  await insertSession(sql, {
    id,
    token,
    userId: user.id,
    secondFactorAt: null,
    address,
    userAgent,
    now,
  });
  const object = { type: 'session', id } as const;
  const done = { operation: 'signIn', object, after: { by } } as const;
  await recordUserAction(deps, sql, { ...done, user, sessionId: id, from: browser });
  return token;
}

/** It may be another user's. */
async function endFormer(
  deps: Pick<PeopleDeps, 'clock' | 'ids'>,
  sql: Transaction,
  browser: Browser,
): Promise<void> {
  const { formerSession } = browser;
  if (formerSession === null) return;
  const { id, user } = formerSession;
  if (!(await revokeSession(sql, { id, userId: user.id, now: deps.clock.now() }))) return;
  const object = { type: 'session', id } as const;
  const done = { operation: 'signOut', object, user, sessionId: id } as const;
  await recordUserAction(deps, sql, { ...done, from: browser });
}
