import type { Table } from './resource.ts';

export const reservations = {
  /** Hold units of a feature. */
  create: 'createReservation',
  /** Get a reservation. */
  retrieve: 'getReservation',
  /** Record what the work came to. */
  commit: 'commitReservation',
  /** Let go of what is held. */
  release: 'releaseReservation',
  /** Hold more units, or for longer. */
  extend: 'extendReservation',
} as const satisfies Table;
