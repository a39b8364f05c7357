import type { Table } from './resource.ts';

export const events = {
  /** List events, newest first. */
  list: 'listEvents',
  /** Get an event. */
  retrieve: 'getEvent',
  /** Record up to 500 events. */
  ingest: 'ingestEvents',
} as const satisfies Table;
