// What is measured: each case becomes one line of the table for each way.
import type { Shape } from './generator/plan.ts';
import { CUSTOMERS, EVENTS_PER_CALL } from './generator/workload.ts';

/** Ours, and what it is compared with. */
export type WayName = 'tollhouse' | 'limit' | 'plain' | 'lossy';

export interface Case {
  readonly name: string;
  /** What `--only` picks it by. */
  readonly group: 'check' | 'track' | 'hot' | 'ingest' | 'open';
  readonly title: string;
  readonly shape: Shape;
  readonly customers: number;
  readonly connections: number;
  /** An open loop at a tenth of the rate that a closed one has reached. */
  readonly isOpen: boolean;
  /** Events in one request, on average. */
  readonly events: number;
}

// Enough to keep a server busy while it waits for its database; more only wait for each other.
const INGEST_CONNECTIONS = 8;

export const CASES: readonly Case[] = [
  ...[32, 256].map((connections) => closed('check', connections)),
  ...[32, 256].map((connections) => closed('track', connections)),
  ...[32, 256].map((connections) => closed('hot', connections)),
  closed('ingest', INGEST_CONNECTIONS),
  {
    name: 'open',
    group: 'open',
    title: '`/check` and `/track` in turn, open loop',
    shape: 'mixed',
    customers: CUSTOMERS,
    connections: 256,
    isOpen: true,
    events: 0.5,
  },
];

function closed(group: 'check' | 'track' | 'hot' | 'ingest', connections: number): Case {
  const shape = group === 'hot' ? 'track' : group;
  const path = shape === 'ingest' ? `/events/ingest\` of ${EVENTS_PER_CALL}` : `/${shape}\``;
  const whom = group === 'hot' ? ', one customer' : '';
  return {
    name: `${group}-${connections}`,
    group,
    title: `\`${path}${whom}, ${connections} connections`,
    shape,
    customers: group === 'hot' ? 1 : CUSTOMERS,
    connections,
    isOpen: false,
    events: { check: 0, track: 1, ingest: EVENTS_PER_CALL }[shape],
  };
}
