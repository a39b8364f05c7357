// What is measured: each case becomes one line of the table for each way.
import type { Shape } from './generator/plan.ts';
import { CUSTOMERS, EVENTS_PER_CALL, PAYMENTS } from './generator/workload.ts';

/** The service, and what it is compared with. */
export type WayName = 'tollhouse' | 'limit' | 'plain' | 'lossy';

export interface Case {
  readonly name: string;
  /** Its name for `--only`. */
  readonly group: 'check' | 'track' | 'hot' | 'ingest' | 'open' | 'refunds' | 'checkouts';
  readonly title: string;
  readonly shape: Shape;
  /** Customers or payments that requests are spread over; 1 is the hot one. */
  readonly spread: number;
  readonly connections: number;
  /** An open loop at a tenth of the closed loop's rate. */
  readonly isOpen: boolean;
  /** Events in one request, on average. A refund or a checkout is one. */
  readonly events: number;
  /** Ours first. */
  readonly ways: readonly WayName[];
}

// Enough to keep a server busy while it waits for its database; more would only wait for each
// other.
const INGEST_CONNECTIONS = 8;
const MONEY_CONNECTIONS = 32;

const ALL_WAYS = ['tollhouse', 'limit', 'plain', 'lossy'] as const;
/** Money has no lossy way: it must not be lost. */
const DURABLE_WAYS = ['tollhouse', 'plain'] as const;

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
    spread: CUSTOMERS,
    connections: 256,
    isOpen: true,
    events: 0.5,
    ways: ALL_WAYS,
  },
  refunds(1),
  refunds(PAYMENTS),
  money('checkouts', { name: 'checkouts', title: '`/checkouts`', shape: 'checkout', spread: 1 }),
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
    spread: group === 'hot' ? 1 : CUSTOMERS,
    connections,
    isOpen: false,
    events: { check: 0, track: 1, ingest: EVENTS_PER_CALL }[shape],
    ways: ALL_WAYS,
  };
}

function refunds(spread: number): Case {
  const whom = spread === 1 ? 'one payment' : `${spread.toLocaleString('en-US')} payments`;
  const name = `refunds-${spread === 1 ? 'hot' : 'spread'}`;
  return money('refunds', { name, title: `refunds of ${whom}`, shape: 'refund', spread });
}

function money(
  group: 'refunds' | 'checkouts',
  { title, ...item }: Pick<Case, 'name' | 'title' | 'shape' | 'spread'>,
): Case {
  return {
    ...item,
    group,
    title: `${title}, ${MONEY_CONNECTIONS} connections`,
    connections: MONEY_CONNECTIONS,
    isOpen: false,
    events: 1,
    ways: DURABLE_WAYS,
  };
}

export function isOfMoney({ shape }: Case): boolean {
  return shape === 'refund' || shape === 'checkout';
}
