import type { Table } from './resource.ts';

export const members = {
  /** List members, newest first. */
  list: 'listMembers',
  /** Get a member. */
  retrieve: 'getMember',
  /** Change the role of a member. */
  update: 'updateMember',
  /** Remove a member. */
  remove: 'removeMember',
} as const satisfies Table;

export const invitations = {
  /** Invite somebody by e-mail. */
  create: 'createInvitation',
  /** List invitations, newest first. */
  list: 'listInvitations',
  /** Withdraw an invitation. */
  revoke: 'revokeInvitation',
} as const satisfies Table;
