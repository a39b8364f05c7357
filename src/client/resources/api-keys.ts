import type { Table } from './resource.ts';

export const apiKeys = {
  /** Make an API key. */
  create: 'createApiKey',
  /** List API keys, newest first. */
  list: 'listApiKeys',
  /** Revoke an API key. */
  revoke: 'revokeApiKey',
  /** Replace an API key. */
  rotate: 'rotateApiKey',
} as const satisfies Table;
