// What alerts look like.
import type { Static } from '@sinclair/typebox';
import type { Alert, CustomerAlerts } from '../wire/alerts.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';

export const ALERT: Static<typeof Alert> = {
  id: SAMPLE.alertId,
  meter_id: SAMPLE.meterId,
  feature_key: 'api-calls',
  customer_id: null,
  external_customer_id: null,
  type: 'usage_percentage',
  threshold: 80,
  created_at: SAMPLE.periodStart,
};

export const CUSTOMER_ALERTS: Static<typeof CustomerAlerts> = {
  data: [{ ...ALERT, triggered: true }],
};
