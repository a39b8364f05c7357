import type { Table } from './resource.ts';

export const tags = {
  /** Put a tag on a customer, a subscription or an invoice. */
  create: 'createTag',
  /** List tags, newest first. */
  list: 'listTags',
  /** Remove a tag. */
  del: 'deleteTag',
} as const satisfies Table;

export const customFields = {
  /** Add a custom field to a customer, a subscription or an invoice. */
  create: 'createCustomField',
  /** List custom fields, newest first. */
  list: 'listCustomFields',
  /** Remove a custom field. */
  del: 'deleteCustomField',
} as const satisfies Table;
