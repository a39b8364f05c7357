// The members of an organisation, who is invited, and what is asked of them. Both modes share them.
import type { Invitation, Member, Security } from '../../client/types.ts';
import { ADMIN_COMMAND } from '../../platform/admin-command.ts';
import { type Html, html } from '../../pages/html.ts';
import { checkbox, field, form, select } from '../parts/forms.ts';
import { shownOnce } from '../parts/once.ts';
import { button, facts, heading, section } from '../parts/parts.ts';
import { pager, table } from '../parts/tables.ts';
import { badge, code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

type Rows<T> = { readonly data: readonly T[]; readonly hasMore: boolean };

const ROLES = [
  { value: 'read_only', label: 'read-only: can view' },
  { value: 'support', label: 'support: helps customers and refunds' },
  { value: 'admin', label: 'admin: all except owners, the processor and security' },
  { value: 'owner', label: 'owner: everything' },
];

const roleName = (role: string): string => role.replace('_', '-');

export function membersPage(
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

export function memberPage(place: Place, { id, name, email, role, secondFactor }: Member): Html {
  return html`${heading(html`<bdi>${name}</bdi>`, { under: html`<bdi>${email}</bdi>` })}
  ${facts([
    ['Id', code(id)],
    ['Second factor', secondFactor ? 'enrolled' : 'none'],
  ])}
  ${form(place, {
    to: `/settings/members/${id}`,
    submit: 'Change role',
    fields: [select(place, { name: 'role', label: 'Role', value: role, options: ROLES })],
  })}`;
}

export function invitePage(place: Place): Html {
  return html`${heading('Invite a member', { under: 'By a link that is valid for one week.' })}
  ${form(place, {
    to: '/settings/invitations/new',
    submit: 'Invite',
    fields: [
      field(place, {
        name: 'email',
        label: 'E-mail',
        type: 'email',
        isRequired: true,
        maxlength: 254,
      }),
      select(place, { name: 'role', label: 'Role', options: ROLES }),
    ],
  })}`;
}

/** Where no mail is sent: the link is passed on by hand. */
export function invitedPage(
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

export function securityPage(place: Place, security: Security): Html {
  return html`${heading('Security', { under: 'For all members, in test and live mode.' })}
  ${form(place, {
    to: '/settings/security',
    submit: 'Save',
    fields: [
      checkbox(place, {
        name: 'require_second_factor',
        label: 'Every member must have a second factor',
        isChecked: security.requireSecondFactor,
        hint: 'A member without one can enroll one, and do nothing else.',
      }),
      field(place, {
        name: 'refund_step_up_amount',
        label: "Require a 2FA code when a member's refunds in one hour exceed",
        value: security.refundStepUpAmount,
        hint: 'In live mode, in any currency: 100.00.',
        isRequired: true,
        maxlength: 17,
      }),
    ],
  })}`;
}
