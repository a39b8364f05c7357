// Ends the invitations of an address: they may be for whoever joins or leaves in another way.
import type { Executor } from '../platform/postgres/postgres.ts';
import { isEmailOf } from './users.ts';

export type OfAddress = {
  readonly organisationId: string;
  readonly email: string;
  readonly now: number;
};

/**
 * Those of an address in an organisation, also where they are over. Who makes or removes a member
 * of this address calls it first: who accepts one holds its row, and then makes the user and the
 * member.
 */
export async function revokeInvitationsFor(
  sql: Executor,
  { organisationId, email, now }: OfAddress,
): Promise<void> {
  await sql`
    update invitations set revoked_at = ${new Date(now)}
    where organisation_id = ${organisationId} and ${isEmailOf(sql, 'email', email)}
      and accepted_at is null and revoked_at is null`;
}
