// Members, invitations and security, among the settings.
import type { InvitationCreate, MemberChange } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { invitedPage, invitePage, memberPage, membersPage, securityPage } from './views/members.ts';
import { isPowerful, type RiskyAction } from '../people/step-up.ts';
import { PAGE_ROWS_MAX, pageOf, rowOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'settings';
const INVITATIONS_SHOWN = 50;

export const MEMBER_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings/members',
    title: 'Members',
    section,
    needs: ['listMembers', 'listInvitations', 'getSecurity'],
    show: showAll,
  },
  {
    path: '/settings/members/:id',
    title: 'Member',
    section,
    needs: ['getMember', 'updateMember'],
    show: async (visit) => memberPage(visit.place, await visit.api.members.retrieve(idOf(visit))),
    // Who loses power, too: whoever holds a session that is not theirs would take it from others.
    act: { needs: ['updateMember'], risk: ofPower, run: change },
  },
  {
    path: '/settings/members/:id/remove',
    title: 'Remove a member',
    section,
    needs: ['getMember', 'removeMember'],
    show: askRemove,
    act: { needs: ['removeMember'], risk: ofPower, run: remove },
  },
  {
    path: '/settings/invitations/new',
    title: 'Invite a member',
    section,
    needs: ['createInvitation'],
    show: ({ place }) => Promise.resolve(invitePage(place)),
    act: { needs: ['createInvitation'], risk: ofInvitation, run: invite },
  },
  {
    path: '/settings/invitations/:id/revoke',
    title: 'Withdraw an invitation',
    section,
    needs: ['listInvitations', 'revokeInvitation'],
    show: askWithdraw,
    act: { needs: ['revokeInvitation'], run: withdraw },
  },
  {
    path: '/settings/security',
    title: 'Security',
    section,
    needs: ['getSecurity', 'updateSecurity'],
    show: async ({ api, place }) => securityPage(place, await api.organization.retrieveSecurity()),
    act: { needs: ['updateSecurity'], risk: ofPower, run: secure },
  },
];

function ofPower(): RiskyAction {
  return { kind: 'security' };
}

/** Of those who decide about others; who reads or helps is invited without a code. */
function ofInvitation(visit: Visit): RiskyAction | null {
  return isPowerful(new Typed(visit).text('role') ?? '') ? ofPower() : null;
}

const idOf = ({ params }: Visit): string => params['id'] ?? '';

async function showAll({ api, query, place }: Visit) {
  const [members, invitations, security] = await Promise.all([
    api.members.list(pageOf(query)),
    api.invitations.list({ limit: INVITATIONS_SHOWN }),
    api.organization.retrieveSecurity(),
  ]);
  return membersPage(place, { members, invitations, security });
}

async function change(visit: Visit) {
  // What is no role is refused.
  const role = new Typed(visit).required('role') as MemberChange['role'];
  await visit.api.members.update(idOf(visit), { role });
  return { to: '/settings/members', notice: 'changed' } as const;
}

async function askRemove(visit: Visit) {
  const { id, email } = await visit.api.members.retrieve(idOf(visit));
  return confirmPage(visit.place, {
    title: 'Remove member',
    under: email,
    text: 'The user loses access to this organization at once. Open invitations that the user made end.',
    submit: 'Remove member',
    isGrave: true,
    to: `/settings/members/${id}/remove`,
    back: '/settings/members',
  });
}

async function remove(visit: Visit) {
  await visit.api.members.remove(idOf(visit));
  return { to: '/settings/members', notice: 'removed' } as const;
}

async function invite(visit: Visit) {
  const typed = new Typed(visit);
  const role = typed.required('role') as InvitationCreate['role'];
  const body = { email: typed.required('email'), role };
  const made = await visit.api.invitations.create(body, given({ idempotencyKey: visit.key }));
  if (made.url !== null) return invitedPage(visit.place, { ...made, url: made.url });
  return { to: '/settings/members', notice: 'sent' } as const;
}

async function askWithdraw(visit: Visit) {
  const { api, place } = visit;
  const id = idOf(visit);
  const all = api.invitations.list({ limit: PAGE_ROWS_MAX });
  const invitation = await rowOf(all, id, 'invitation');
  return confirmPage(place, {
    title: 'Withdraw invitation',
    under: invitation.email,
    text: 'Its link stops working.',
    submit: 'Withdraw',
    to: `/settings/invitations/${id}/revoke`,
    back: '/settings/members',
  });
}

async function withdraw(visit: Visit) {
  await visit.api.invitations.revoke(idOf(visit));
  return { to: '/settings/members', notice: 'removed' } as const;
}

async function secure(visit: Visit) {
  const typed = new Typed(visit);
  await visit.api.organization.updateSecurity({
    requireSecondFactor: typed.isTicked('require_second_factor'),
    refundStepUpAmount: typed.required('refund_step_up_amount'),
  });
  return { to: '/settings/members', notice: 'changed' } as const;
}
