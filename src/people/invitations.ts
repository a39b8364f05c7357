// Accepting an invitation.
//
// Holds: the link is mailed to the address that it is for, so who has it has the mailbox: that
// makes a user, whose address is proven. Where no mails are sent it is passed on by whoever
// invited, who may be anybody: that makes a user, too, but proves no address (proof.ts), and what
// another organisation has sent to this address takes its own link. It does not sign in to a user
// that exists, whose links live a quarter of an hour: that one signs in first. Of two who accept at
// once one becomes a member.
import { type Bounds, Full } from '../platform/bounds.ts';
import { acceptInvitation, holdOpenInvitation } from '../records/invitations.ts';
import { addMember } from '../records/members.ts';
import { ensureUser, findUserByEmail, nameIn, type User } from '../records/users.ts';
import type { Browser, PeopleDeps } from './people.ts';
import { proveOwn } from './proof.ts';
import { recordUserAction } from './recorded.ts';
import { beginSession } from './sign-in.ts';

export type Acceptance =
  /** `token`: of the session of a user who was made; null for one who is signed in. */
  | { readonly kind: 'accepted'; readonly organisationId: string; readonly token: string | null }
  | { readonly kind: 'sign_in_first'; readonly email: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'full'; readonly message: string };

export async function accept(
  deps: PeopleDeps,
  named: Parameters<typeof holdOpenInvitation>[1],
  who: {
    /** Who is signed in, with a second factor where there is one. */
    readonly user: User | null;
    /** What a new user is called; null where it was not said. */
    readonly name: string | null;
    readonly browser: Browser;
    readonly bounds: Bounds;
  },
): Promise<Acceptance> {
  const { sql, clock, ids } = deps;
  const { user, name, browser, bounds } = who;
  const now = clock.now();
  return sql.begin(async (transaction): Promise<Acceptance> => {
    const invitation = await holdOpenInvitation(transaction, named, now);
    if (invitation === null) return { kind: 'unknown' };
    const { email, organisationId, role } = invitation;
    const known = await findUserByEmail(transaction, email);
    if (known !== null && known.id !== user?.id) return { kind: 'sign_in_first', email };
    const isProven = invitation.isMailed;
    const wanted = { id: ids.next(), email, name: name ?? nameIn(email), isProven, now };
    const joined = known ?? (await ensureUser(transaction, wanted));
    // Made by somebody else just now.
    if (known === null && 'isNew' in joined && !joined.isNew)
      return { kind: 'sign_in_first', email };
    const member = { id: ids.next(), organisationId, userId: joined.id, role, now };
    const added = await addMember(transaction, bounds, member);
    if (added instanceof Full) return { kind: 'full', message: added.message };
    await acceptInvitation(transaction, { id: invitation.id, now });
    const object = { type: 'invitation', id: invitation.id } as const;
    const after = added ? { role, member_id: member.id } : {};
    const ownSession = user === null ? null : (browser.formerSession?.id ?? null);
    const sessionId = joined.id === user?.id ? ownSession : null;
    const joining = { user: joined, sessionId, from: browser };
    const done = { operation: 'acceptInvitation', object, after, organisationId } as const;
    await recordUserAction(deps, transaction, { ...joining, ...done });
    if (isProven) await proveOwn(deps, transaction, { ...joining, by: 'invitation' });
    const begun = { user: joined, browser, by: 'invitation' } as const;
    const token = known === null ? await beginSession(deps, transaction, begun) : null;
    return { kind: 'accepted', organisationId, token };
  });
}
