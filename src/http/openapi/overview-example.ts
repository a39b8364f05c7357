// What the overview of a day looks like.
import type { Static } from '@sinclair/typebox';
import { daysOf, fromNumbers, type Overview } from '../wire/overview.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

export const OVERVIEW: Static<typeof Overview> = fromNumbers({
  now: NOON,
  zone: 'UTC',
  days: daysOf(NOON, 'UTC'),
  revenue: [
    { isToday: true, hour: 9, currency: 'USD', amount: 9800n },
    { isToday: false, hour: 10, currency: 'USD', amount: 4900n },
  ],
  subscriptions: { active: 120n, trialing: 8n, pastDue: 3n, paused: 1n, blocked: 1n },
  meters: [{ id: 'meter', slug: 'api-calls', aggregation: 'sum', scale: 0 }],
  usage: [
    { isToday: true, hour: 9, meterId: 'meter', value: 4200n, events: 4200n },
    { isToday: false, hour: 9, meterId: 'meter', value: 3900n, events: 3900n },
  ],
  denials: [{ isToday: true, hour: 11, count: 2n }],
  failed: { today: 1n, before: 0n },
  webhooks: { endpoints: 2n, disabled: 0n, delivered: 230n, waiting: 1n, exhausted: 0n },
});
