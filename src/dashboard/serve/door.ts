// Who is signed in: by the cookie of a session.
//
// Who calls: each page of the dashboard, before it looks at anything else of a request.
// Holds: a session is looked up on each use, so one that was ended or is over is refused at once,
// on every node. Only the hash of what a browser holds is stored.
import { createHmac } from 'node:crypto';
import type { Role } from '../../records/members.ts';
import { LIVE_HEADER } from '../parts/live.ts';
import { tokenIn } from './cookie.ts';

export type Membership = {
  readonly organisationId: string;
  readonly organisationName: string;
  readonly role: Role;
  /** Whether a member without a second factor may only enrol one. */
  readonly requiresSecondFactor: boolean;
};

export type SignedIn = {
  readonly sessionId: string;
  /** When it began, in ms since the epoch. */
  readonly signedInAt: number;
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
  readonly memberships: readonly Membership[];
  /** Whether the address is known to be the user's. */
  readonly isProven: boolean;
  /** Whether the user has enrolled one. */
  readonly hasSecondFactor: boolean;
  /** Of this session's last code, in ms since the epoch. */
  readonly secondFactorAt: number | null;
  /** What each form of this session carries. */
  readonly formToken: string;
};

export type Door = {
  /** null: nobody is signed in. `address` is where the browser is. */
  whoIs(request: Request, address: string): Promise<SignedIn | null>;
};

/** The session of what a browser holds, while it lasts. */
export type FindSession = (of: {
  readonly token: string;
  readonly address: string;
  /** Whether somebody asked: a page that keeps itself as it is now does not count as use. */
  readonly isUse: boolean;
}) => Promise<Omit<SignedIn, 'formToken'> | null>;

export function openDoor({ findSession }: { readonly findSession: FindSession }): Door {
  return {
    async whoIs(request, address) {
      const token = tokenIn(request);
      if (token === null) return null;
      const isUse = !request.headers.has(LIVE_HEADER);
      const session = await findSession({ token, address, isUse });
      return session === null ? null : { ...session, formToken: formTokenOf(token) };
    },
  };
}

/** No other session has it, and it does not give the session's token away. */
function formTokenOf(token: string): string {
  return createHmac('sha256', token).update('form').digest('base64url');
}
