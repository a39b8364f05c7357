import type { Table } from './resource.ts';

export const auditLog = {
  /** List who did what, newest first. */
  list: 'listAuditLog',
  /** Download who did what, as CSV. */
  download: 'downloadAuditLog',
} as const satisfies Table;
