// Who decides about whom: an owner about everybody, an admin about all but owners.
import { type Role, ROLES } from '../records/members.ts';

/** What the one who acts may do: a member's role, or a key's scope. */
export type Governor = Role | 'all' | 'read' | 'metering';

/** Whether it may make a member of this role, change it or remove it. */
export function mayGovern(governor: Governor, role: Role): boolean {
  if (governor === 'owner' || governor === 'all') return true;
  return governor === 'admin' && role !== 'owner';
}

/** The roles that it may make no member of; all of them where it decides about nobody any more. */
export function rolesBeyond(governor: Governor | null): readonly Role[] {
  return ROLES.filter((role) => governor === null || !mayGovern(governor, role));
}
