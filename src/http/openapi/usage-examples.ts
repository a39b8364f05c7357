// Usage over time, and its events.
import type { Static } from '@sinclair/typebox';
import { SAMPLE } from '../wire/payloads/samples.ts';
import type { UsageEvents } from '../wire/usage-events.ts';
import type { UsageSeries } from '../wire/usage-series.ts';

const AT = '2026-11-21T12:00:00.000Z';

export const USAGE_SERIES: Static<typeof UsageSeries> = {
  data: [
    { start: '2026-11-20T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z', value: 42, events: 17 },
    { start: '2026-11-21T00:00:00.000Z', end: '2026-11-22T00:00:00.000Z', value: 0, events: 0 },
  ],
  exact_through: AT,
};

export const USAGE_EVENTS: Static<typeof UsageEvents> = {
  data: [
    {
      id: '01976c2e-5f00-7a10-8000-000000000012',
      feature_key: 'api-calls',
      customer_id: SAMPLE.customerId,
      external_customer_id: SAMPLE.externalCustomerId,
      value: 2,
      timestamp: AT,
      recorded_at: AT,
      metadata: { region: 'eu', tokens: 12, cached: true },
    },
  ],
  next_cursor: null,
};
