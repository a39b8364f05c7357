// The members of an organisation, who is invited, and what is asked of them. Both modes share them.
import type { Invitation, Member, Security } from '../../client/types.ts';
import { ADMIN_COMMAND } from '../../platform/admin-command.ts';
import { type Html, html } from '../html.ts';
import { checkbox, field, form, select } from './forms.ts';
import { shownOnce } from './once.ts';
import { button, facts, heading, section } from './parts.ts';
import { pager, table } from './tables.ts';
import { badge, code, instant } from './values.ts';
import type { Place } from './place.ts';

type Rows<T> = { readonly data: readonly T[]; readonly hasMore: boolean };

const ROLES = [
  { value: 'read_only', label: 'read-only: looks' },
  { value: 'support', label: 'support: helps customers, and refunds' },
  { value: 'admin', label: 'admin: all but owners, the processor and security' },
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
    ? [button(place, '/settings/invitations/new', 'Invite somebody', false)]
    : [];
  return html`${heading('Members', { under: 'The same in test and live mode.', actions: invite })}
  ${table({
    caption: 'Members, newest first',
    columns: ['Name', 'E-mail', 'Role', 'Second factor', 'Since', 'Actions'],
    rows: members.data.map((member) => [
      html`<bdi>${member.name}</bdi>`,
      html`<bdi>${member.email}</bdi>`,
      roleName(member.role),
      member.secondFactor ? 'enrolled' : 'none',
      instant(place, member.createdAt),
      memberActions(place, member),
    ]),
    empty: 'There is no member yet.',
  })}
  ${pager(place, { hasMore: members.hasMore, last: members.data.at(-1)?.id })}
  ${section('Invitations', invitationsOf(place, invitations))}
  ${section(
    'Security',
    facts([
      [
        'A second factor',
        security.requireSecondFactor ? 'every member must have one' : 'as each likes',
      ],
      [
        'A code is asked for again',
        `in live mode, before refunds of more than ${security.refundStepUpAmount} in an hour`,
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
    columns: ['E-mail', 'Role', 'State', 'By', 'Ends', 'Actions'],
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
    empty: 'Nobody is invited.',
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
    submit: 'Change the role',
    fields: [select(place, { name: 'role', label: 'Role', value: role, options: ROLES })],
  })}`;
}

export function invitePage(place: Place): Html {
  return html`${heading('Invite somebody', { under: 'By a link, which holds for a week.' })}
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
  return html`${heading('The invitation is made', { under: html`<bdi>${email}</bdi>` })}
    <p>No mails are sent here: copy the link and send it. It works once, within a week.</p>
    ${shownOnce('Invitation link', url)}
    <p>
      Whoever has a user here signs in first, and finds the invitation under "Your account" too. An
      operator can also make the member, with a link that signs in:
    </p>
    <p>
      <code>${ADMIN_COMMAND} user create --org ${id} --email ${word(email)} --role ${role}</code>
    </p>
    <p>${button(place, '/settings/members', 'To the members', false)}</p>`;
}

/** As one word of a shell, whatever is in it. */
function word(text: string): string {
  return /^[\w.+@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function securityPage(place: Place, security: Security): Html {
  return html`${heading('Security', { under: 'For all members, in test and live mode.' })}
  ${form(place, {
    to: '/settings/security',
    submit: 'Change it',
    fields: [
      checkbox(place, {
        name: 'require_second_factor',
        label: 'Every member must have a second factor',
        isChecked: security.requireSecondFactor,
        hint: 'Who has none can enroll one, and do nothing else.',
      }),
      field(place, {
        name: 'refund_step_up_amount',
        label: 'Ask for a code again where refunds of an hour come to more than',
        value: security.refundStepUpAmount,
        hint: 'In live mode. Of any currency: 100.00.',
        isRequired: true,
        maxlength: 17,
      }),
    ],
  })}`;
}
