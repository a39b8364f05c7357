import type { Table } from './resource.ts';

export const portalTokens = {
  /** Open the portal to a customer. */
  create: 'createPortalToken',
  /** Close the portal that a token opens. */
  revoke: 'revokePortalToken',
} as const satisfies Table;
