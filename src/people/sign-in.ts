// Signing in: by a link that counts once, or by an identity provider. Both begin a session.
//
// Holds: each sign-in makes a session of its own, with a token that nobody has seen, and ends the
// one that the browser held. Where a second factor is enrolled, the session opens nothing before a
// code is given (second-factor.ts).
import type { Transaction } from '../platform/postgres/postgres.ts';
import { insertSession, revokeSession } from '../records/sessions.ts';
import { ASKED_MAX, insertSignInLink, useSignInLink } from '../records/sign-in-links.ts';
import { findUserByEmail, type User } from '../records/users.ts';
import type { Browser, PeopleDeps } from './people.ts';

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
    return user === null ? null : beginSession(deps, sql, { user, browser });
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
    if (user === null || user.disabledAt !== null) return null;
    return beginSession(deps, sql, { user, browser });
  });
}

/** Its token. */
export async function beginSession(
  { clock, ids, newToken }: Pick<PeopleDeps, 'clock' | 'ids' | 'newToken'>,
  sql: Transaction,
  { user, browser }: { readonly user: Pick<User, 'id'>; readonly browser: Browser },
): Promise<string> {
  const { address, userAgent, formerSession } = browser;
  const now = clock.now();
  if (formerSession !== null) await revokeSession(sql, { ...formerSession, now });
  const token = newToken();
  const session = { id: ids.next(), token, userId: user.id, secondFactorAt: null };
  await insertSession(sql, { ...session, address, userAgent, now });
  return token;
}
