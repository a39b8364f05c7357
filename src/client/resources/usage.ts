import type { Table } from './resource.ts';

export const usage = {
  /** Usage of a feature over time. */
  retrieve: 'getUsage',
  /** List events of usage, newest first. */
  events: 'listUsageEvents',
} as const satisfies Table;
