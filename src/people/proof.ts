// The proof that an address is the user's: a link that was mailed to it, or that an operator has
// printed, or the word of the identity provider.
//
// Why: where no mails are sent, whoever invites passes the link on, and whoever opens it is a user
// of the address that was typed. Another organisation may know this address as somebody else's.
// Holds: until the proof such a user is let in by links alone (records/invitations.ts). With the
// proof all sessions of before end, and a second factor of before goes: they may be another's.
import type { Transaction } from '../platform/postgres/postgres.ts';
import { dropSecondFactor } from '../records/second-factors.ts';
import { revokeSessions } from '../records/sessions.ts';
import { markProven, type User } from '../records/users.ts';
import type { Origin, PeopleDeps } from './people.ts';
import { recordUserAction } from './recorded.ts';

/** What a proof has ended. */
export type Proof = {
  readonly sessions_ended: number;
  readonly had_second_factor: boolean;
};

/** null where the address was proven before: nothing changes. */
export async function proveAddress(
  sql: Transaction,
  {
    userId,
    except = null,
    now,
  }: {
    readonly userId: string;
    /** The session of who has given the proof. */
    readonly except?: string | null;
    readonly now: number;
  },
): Promise<Proof | null> {
  const marked = await markProven(sql, { id: userId, now });
  if (marked === null) return null;
  // One that was only begun, too: its secret was shown.
  await dropSecondFactor(sql, userId);
  const ended = await revokeSessions(sql, { userId, except, now });
  return { sessions_ended: ended, had_second_factor: marked.hasSecondFactor };
}

/** The same, by who signs in or accepts an invitation, and in the audit log. */
export async function proveOwn(
  { clock, ids }: Pick<PeopleDeps, 'clock' | 'ids'>,
  sql: Transaction,
  {
    by,
    ...who
  }: {
    readonly user: Pick<User, 'id' | 'email'>;
    readonly sessionId: string | null;
    readonly from: Origin;
    readonly by: 'link' | 'oidc' | 'invitation';
  },
): Promise<void> {
  const { user, sessionId } = who;
  const given = { userId: user.id, except: sessionId, now: clock.now() };
  const proof = await proveAddress(sql, given);
  if (proof === null) return;
  const object = { type: 'user', id: user.id } as const;
  const done = { operation: 'proveAddress', object, after: { by, ...proof } } as const;
  await recordUserAction({ clock, ids }, sql, { ...who, ...done });
}
