// Clocks: how this node's clock compares with those of its peers, and which test clocks are
// stopped.
import type { Registry } from 'prom-client';
import type { OrgClocks } from '../platform/org-clock.ts';
import { counter, gauge } from './numbers.ts';

export function watchClock(registry: Registry, clocks: Pick<OrgClocks, 'stats' | 'stopped'>): void {
  gauge(registry, {
    name: 'tollhouse_clock_lead_seconds',
    help: "How far the time that business goes by is ahead of this machine's clock, because another node's is.",
    read: () => clocks.stats.leadMs / 1000,
  });
  counter(registry, {
    name: 'tollhouse_clock_wrong_total',
    help: "Times that another node's clock was so far ahead that it was not followed: one of the two is wrong.",
    read: () => clocks.stats.wrong,
  });
  gauge(registry, {
    name: 'tollhouse_test_clocks_stopped',
    help: 'Organisations whose test clock is being moved.',
    read: () => clocks.stopped.size,
  });
}
