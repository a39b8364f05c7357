import { type Static, Type } from '@sinclair/typebox';
import type { InvitationRecord } from '../../records/invitations.ts';
import { type MemberRecord, ROLES } from '../../records/members.ts';
import { Body, Email, namedOneOf, Nullable, oneOf, Timestamp, Uuid } from './values.ts';

const Role = namedOneOf(ROLES);

export const MemberChange = Body({ role: Role }, { role: 'admin' });

export const InvitationCreate = Body(
  { email: Email, role: Role },
  { email: 'grace@example.com', role: 'support' },
);

export const Member = Type.Object({
  id: Uuid,
  user_id: Uuid,
  email: Type.String(),
  name: Type.String(),
  role: Role,
  second_factor: Type.Boolean({ description: 'Whether the user has enrolled one.' }),
  created_at: Timestamp,
});

export const Invitation = Type.Object({
  id: Uuid,
  email: Type.String(),
  role: Role,
  status: oneOf(['open', 'accepted', 'revoked', 'expired']),
  invited_by: Nullable(
    Type.String({ description: 'The e-mail address of the member who invited; null for a key.' }),
  ),
  created_at: Timestamp,
  expires_at: Timestamp,
});

/** `mailed`: whether mails are sent here. */
export const NewInvitation = Type.Object({
  ...Invitation.properties,
  mailed: Type.Boolean({
    description: 'false where the service sends no mails (`SMTP_URL`).',
  }),
  url: Nullable(
    Type.String({
      description:
        'If no mail is sent: the link to pass on, only in this answer. It works once. null if ' +
        'it is mailed, because then it proves who reads the mails of the address.',
    }),
  ),
});

export function fromMember(member: MemberRecord): Static<typeof Member> {
  return {
    id: member.id,
    user_id: member.userId,
    email: member.email,
    name: member.name,
    role: member.role,
    second_factor: member.hasSecondFactor,
    created_at: member.createdAt.toISOString(),
  };
}

export function fromInvitation(
  invitation: InvitationRecord,
  now: number,
): Static<typeof Invitation> {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    status: statusOf(invitation, now),
    invited_by: invitation.invitedBy,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  };
}

function statusOf({ acceptedAt, revokedAt, expiresAt }: InvitationRecord, now: number) {
  if (acceptedAt !== null) return 'accepted';
  if (revokedAt !== null) return 'revoked';
  return expiresAt.getTime() > now ? 'open' : 'expired';
}
