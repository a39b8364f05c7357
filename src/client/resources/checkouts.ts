import type { Table } from './resource.ts';

export const checkouts = {
  /** Create a hosted checkout. */
  create: 'createCheckout',
  /** List checkouts, newest first. */
  list: 'listCheckouts',
  /** Get a checkout. */
  retrieve: 'getCheckout',
  /** Expire a checkout. */
  expire: 'expireCheckout',
} as const satisfies Table;
