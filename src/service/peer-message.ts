import type { TestClock } from '../platform/org-clock.ts';
import type { Change } from '../platform/postgres/changes.ts';

/** What one node publishes to all. */
export type PeerMessage = { readonly change: Change } | { readonly clock: TestClock };
