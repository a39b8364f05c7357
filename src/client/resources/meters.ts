import type { Table } from './resource.ts';

export const meters = {
  /** Create a meter. */
  create: 'createMeter',
  /** List meters, newest first. */
  list: 'listMeters',
  /** Get a meter. */
  retrieve: 'getMeter',
  /** Create a meter, or change it where it is there. */
  put: 'putMeter',
  /** Change a meter. */
  update: 'updateMeter',
  /** Delete a meter. */
  del: 'deleteMeter',
} as const satisfies Table;
