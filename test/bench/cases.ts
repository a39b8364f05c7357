// What is measured: each case becomes one line of the table for each way.
import type { Shape } from './generator/plan.ts';
import { CUSTOMERS, EVENTS_PER_CALL, PAYMENTS } from './generator/workload.ts';

/** The service, the service of another commit, and what they are compared with. */
export type WayName = 'tollhouse' | 'before' | PeerName;
export type PeerName = 'limit' | 'plain' | 'lossy' | 'limiter-redis' | 'limiter-postgres';

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
  readonly ways: readonly WayName[];
}

// Enough to keep a server busy while it waits for its database; more would only wait for each
// other.
const INGEST_CONNECTIONS = 8;
const MONEY_CONNECTIONS = 32;

const OURS = ['tollhouse', 'before'] as const;
const USAGE_WAYS = [...OURS, 'limit', 'plain', 'lossy'] as const;
/** Rate limiters have no call for many events. */
const SINGLE_WAYS = [...USAGE_WAYS, 'limiter-redis', 'limiter-postgres'] as const;
/** Money has no lossy way: it must not be lost. */
const MONEY_WAYS = [...OURS, 'plain'] as const;

/** What runs where nothing is selected: the cases with goals for each request's cost. */
export const USUAL: readonly Case['group'][] = ['check', 'track', 'hot', 'ingest'];

export const CASES: readonly Case[] = [
  ...[32, 256].map((connections) => closed('check', connections)),
  ...[32, 256].map((connections) => closed('track', connections)),
  closed('hot', 256),
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
    ways: USAGE_WAYS,
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
    ways: shape === 'ingest' ? USAGE_WAYS : SINGLE_WAYS,
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
    ways: MONEY_WAYS,
  };
}

export function isOfMoney({ shape }: Case): boolean {
  return shape === 'refund' || shape === 'checkout';
}

/** What its costs are divided by: a request, or an event of a call with many. */
export function unitsOf({ events }: Case): number {
  return Math.max(events, 1);
}
