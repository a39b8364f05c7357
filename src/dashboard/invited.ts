// The page of an invitation's link.
import { unreachable } from '../../ledger/kernel/assert.ts';
import { invitationPage, toldPage } from './sign-in.ts';
import { accept } from '../people/invitations.ts';
import { findOpenInvitation } from '../records/invitations.ts';
import { findUserByEmail } from '../records/users.ts';
import { isLine } from '../http/wire/values.ts';
import type { SignedIn } from './serve/door.ts';
import { BASE, browserOf, goTo, isHalf, show, type PeoplePagesDeps } from './serve/entry.ts';
import type { Entry, OpenPage } from './serve/page.ts';
import { afterSignIn } from './sign-in.ts';

export function invitationPages(deps: PeoplePagesDeps): readonly OpenPage[] {
  return [
    {
      path: '/invitations/:token',
      show: (entry) => showInvitation(deps, entry),
      act: (entry) => join(deps, entry),
    },
  ];
}

async function showInvitation(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const { sql, clock } = deps;
  const { token = '' } = entry.params;
  const invitation = await findOpenInvitation(sql, { token }, clock.now());
  if (invitation === null) return gone();
  const { email, role, organisationName: organisation } = invitation;
  const known = await findUserByEmail(sql, email);
  if (known !== null && known.id !== userOf(entry)?.id) return signInFirst(email, token);
  const action = `${BASE}/invitations/${token}`;
  const of = { action, organisation, role, email, isNew: known === null };
  return show(invitationPage(of));
}

async function join(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const { token = '' } = entry.params;
  const typed = (entry.form.get('name') ?? '').trim();
  const who = {
    user: userOf(entry),
    name: isLine(typed) ? typed : null,
    browser: browserOf(entry),
    bounds: deps.settings.bounds,
  };
  const acceptance = await accept(deps, { token }, who);
  switch (acceptance.kind) {
    case 'accepted': {
      const to = `${BASE}/${acceptance.organisationId}/test`;
      return acceptance.token === null ? goTo(to) : goTo(afterSignIn(to), acceptance.token);
    }
    case 'sign_in_first':
      return signInFirst(acceptance.email, token);
    case 'full':
      return told(409, 'No room', acceptance.message);
    case 'unknown':
      return gone();
    default:
      return unreachable(acceptance);
  }
}

/** Who has given all that is asked for. */
function userOf({ signedIn }: Entry): SignedIn['user'] | null {
  return signedIn === null || isHalf(signedIn) ? null : signedIn.user;
}

function signInFirst(email: string, token: string): Response {
  const to = encodeURIComponent(`${BASE}/invitations/${token}`);
  const next = { href: `${BASE}/sign-in?to=${to}`, label: 'Sign in' };
  const text = `${email} has an account. Sign in as that user first, then accept the invitation.`;
  return show(toldPage({ title: 'Sign in first', text, next }), 403);
}

const gone = () =>
  told(
    410,
    'This invitation is no longer open',
    'It was accepted or withdrawn, or is older than a week.',
  );

function told(status: number, title: string, text: string): Response {
  return show(toldPage({ title, text, next: { href: BASE, label: 'To the dashboard' } }), status);
}
