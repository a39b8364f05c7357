// The members of an organisation, who is invited, and what is asked of them. Both modes share them.
import type {
  Invitation,
  InvitationCreate,
  Member,
  MemberChange,
  Security,
} from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { form } from './parts/forms.ts';
import { shownOnce } from './parts/once.ts';
import { button, facts, heading, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pager, table } from './parts/tables.ts';
import { badge, code, instant } from './parts/values.ts';
import { PAGE_ROWS_MAX, pageOf, rowOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { pick, textField, tick } from './form/field.ts';
import { drawFields, drawForm, read } from './form/form.ts';
import { type Html, html } from '../pages/html.ts';
import { type RiskyAction, isPowerful } from '../people/step-up.ts';
import { ADMIN_COMMAND } from '../platform/admin-command.ts';

const INVITATIONS_SHOWN = 50;

export const MEMBER_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings/members',
    title: 'Members',
    section: 'settings',
    needs: ['listMembers', 'listInvitations', 'getSecurity'],
    show: showAll,
  },
  {
    path: '/settings/members/:id',
    title: 'Member',
    section: 'settings',
    needs: ['getMember', 'updateMember'],
    show: async (visit) => memberPage(visit.place, await visit.api.members.retrieve(idOf(visit))),
    // Who loses power, too: whoever holds a session that is not theirs would take it from others.
    act: { needs: ['updateMember'], risk: ofPower, run: change },
  },
  {
    path: '/settings/members/:id/remove',
    title: 'Remove a member',
    section: 'settings',
    needs: ['getMember', 'removeMember'],
    show: askRemove,
    act: { needs: ['removeMember'], risk: ofPower, run: remove },
  },
  {
    path: '/settings/invitations/new',
    title: 'Invite a member',
    section: 'settings',
    needs: ['createInvitation'],
    show: ({ place }) => Promise.resolve(invitePage(place)),
    act: { needs: ['createInvitation'], risk: ofInvitation, run: sendInvitation },
  },
  {
    path: '/settings/invitations/:id/revoke',
    title: 'Withdraw an invitation',
    section: 'settings',
    needs: ['listInvitations', 'revokeInvitation'],
    show: askWithdraw,
    act: { needs: ['revokeInvitation'], run: withdraw },
  },
  {
    path: '/settings/security',
    title: 'Security',
    section: 'settings',
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
  return isPowerful(read(visit, ROLE).role) ? ofPower() : null;
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
  const role = read(visit, ROLE).role as MemberChange['role'];
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

async function sendInvitation(visit: Visit) {
  const { email, role } = read(visit, INVITATION);
  const body = { email, role: role as InvitationCreate['role'] };
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
  await visit.api.organization.updateSecurity(read(visit, SECURITY));
  return { to: '/settings/members', notice: 'changed' } as const;
}

type Rows<T> = { readonly data: readonly T[]; readonly hasMore: boolean };

const ROLES = [
  { value: 'read_only', label: 'read-only: can view' },
  { value: 'support', label: 'support: helps customers and refunds' },
  { value: 'admin', label: 'admin: all except owners, the processor and security' },
  { value: 'owner', label: 'owner: everything' },
];

/** What is no role is refused. */
const ROLE = { role: pick({ label: 'Role', options: ROLES, isRequired: true }) };

const INVITATION = {
  email: textField({ label: 'E-mail', type: 'email', isRequired: true, maxlength: 254 }),
  ...ROLE,
};

const SECURITY = {
  requireSecondFactor: tick({
    label: 'Every member must have a second factor',
    hint: 'A member without one can enroll one, and do nothing else.',
  }),
  refundStepUpAmount: textField({
    label: "Require a 2FA code when a member's refunds in one hour exceed",
    hint: 'In live mode, in any currency: 100.00.',
    isRequired: true,
    maxlength: 17,
  }),
};

const roleName = (role: string): string => role.replace('_', '-');

function membersPage(
  place: Place,
  of: {
    readonly members: Rows<Member>;
    readonly invitations: Rows<Invitation>;
    readonly security: Security;
  },
): Html {
  const { members, invitations, security } = of;
  const invite = place.may('createInvitation')
    ? [button(place, '/settings/invitations/new', 'Invite a member', false)]
    : [];
  return html`${heading('Members', { under: 'The same in test and live mode.', actions: invite })}
  ${table({
    caption: 'Members, newest first',
    columns: ['Name', 'E-mail', 'Role', 'Second factor', 'Joined', 'Actions'],
    rows: members.data.map((member) => [
      html`<bdi>${member.name}</bdi>`,
      html`<bdi>${member.email}</bdi>`,
      roleName(member.role),
      member.secondFactor ? 'enrolled' : 'none',
      instant(place, member.createdAt),
      memberActions(place, member),
    ]),
    empty: 'No members yet.',
  })}
  ${pager(place, { hasMore: members.hasMore, last: members.data.at(-1)?.id })}
  ${section('Invitations', invitationsOf(place, invitations))}
  ${section(
    'Security',
    facts([
      ['Second factor', security.requireSecondFactor ? 'required for every member' : 'optional'],
      [
        '2FA code',
        `required in live mode for refunds of more than ${security.refundStepUpAmount} in one hour`,
      ],
    ]),
    place.may('updateSecurity') ? [button(place, '/settings/security', 'Change')] : [],
  )}`;
}

function memberActions(place: Place, { id, email }: Member): Html {
  const to = (action: string, text: string) =>
    html`<a class="button quiet" href="${place.base}/settings/members/${id}${action}"
      >${text}<span class="away"> ${email}</span></a
    >`;
  return html`<span class="actions"
    >${place.may('updateMember') ? to('', 'Change') : null}
    ${place.may('removeMember') ? to('/remove', 'Remove') : null}</span
  >`;
}

function invitationsOf(place: Place, { data }: Rows<Invitation>): Html {
  return table({
    caption: 'Invitations, newest first',
    columns: ['E-mail', 'Role', 'State', 'Invited by', 'Expires', 'Actions'],
    rows: data.map(({ id, email, role, status, invitedBy, expiresAt }) => [
      html`<bdi>${email}</bdi>`,
      roleName(role),
      badge(status),
      invitedBy === null ? 'a key' : html`<bdi>${invitedBy}</bdi>`,
      instant(place, expiresAt),
      status === 'open' && place.may('revokeInvitation')
        ? html`<a class="button quiet" href="${place.base}/settings/invitations/${id}/revoke"
            >Withdraw<span class="away"> ${email}</span></a
          >`
        : null,
    ]),
    empty: 'No open invitations.',
  });
}

function memberPage(place: Place, { id, name, email, role, secondFactor }: Member): Html {
  return html`${heading(html`<bdi>${name}</bdi>`, { under: html`<bdi>${email}</bdi>` })}
  ${facts([
    ['Id', code(id)],
    ['Second factor', secondFactor ? 'enrolled' : 'none'],
  ])}
  ${form(place, {
    to: `/settings/members/${id}`,
    submit: 'Change role',
    fields: drawFields(place, ROLE, { values: { role } }),
  })}`;
}

function invitePage(place: Place): Html {
  return html`${heading('Invite a member', { under: 'By a link that is valid for one week.' })}
  ${drawForm(place, INVITATION, { to: '/settings/invitations/new', submit: 'Invite' })}`;
}

/** Where no mail is sent: the link is passed on by hand. */
function invitedPage(
  place: Place,
  { email, role, url }: { readonly email: string; readonly role: string; readonly url: string },
): Html {
  const { id } = place.organisation;
  return html`${heading('Invitation created', { under: html`<bdi>${email}</bdi>` })}
    <p>No mail is sent. Copy the link and send it yourself. It works once, within a week.</p>
    ${shownOnce('Invitation link', url)}
    <p>
      Someone who already has an account signs in first. The invitation is also under "Your
      account". An operator can create the member with a sign-in link instead:
    </p>
    <p>
      <code>${ADMIN_COMMAND} user create --org ${id} --email ${word(email)} --role ${role}</code>
    </p>
    <p>${button(place, '/settings/members', 'All members', false)}</p>`;
}

/** As one word of a shell, whatever is in it. */
function word(text: string): string {
  return /^[\w.+@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function securityPage(place: Place, security: Security): Html {
  return html`${heading('Security', { under: 'For all members, in test and live mode.' })}
  ${drawForm(place, SECURITY, { to: '/settings/security', submit: 'Save', values: security })}`;
}
