import { type Static, Type } from '@sinclair/typebox';
import {
  DELIVERIES_READ_MAX,
  type DeliveryCounts,
  type WebhookHealth as Health,
} from '../../records/webhook-health.ts';
import { PAGE } from '../list.ts';
import { Body, Uuid } from './values.ts';

export const WebhookHealthQuery = Body({
  ...PAGE,
  endpoint_id: Type.Optional({ ...Uuid, description: 'Only this endpoint.' }),
});

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const WebhookCounts = Type.Object(
  {
    delivered: Count('The receiver has accepted them.'),
    pending: Count('Not tried yet.'),
    retrying: Count('Failed so far, and will be retried.'),
    held: Count('Waiting for the endpoint to be enabled.'),
    exhausted: Count('Failed after all retries.'),
  },
  { description: 'Deliveries by their current outcome.' },
);

export const WebhookHealth = Type.Object({
  id: { ...Uuid, description: 'The endpoint.' },
  today: { ...WebhookCounts, description: "Since midnight in the organization's time zone." },
  week: { ...WebhookCounts, description: 'Since midnight six days before.' },
  complete: Type.Boolean({
    description: `Whether all of the seven days are counted: of an endpoint only the newest ${DELIVERIES_READ_MAX} are.`,
  }),
});

export function fromWebhookHealth(health: Health): Static<typeof WebhookHealth> {
  return {
    id: health.id,
    today: fromCounts(health.today),
    week: fromCounts(health.week),
    complete: health.isComplete,
  };
}

function fromCounts(counts: DeliveryCounts): Static<typeof WebhookCounts> {
  return {
    delivered: Number(counts.delivered),
    pending: Number(counts.pending),
    retrying: Number(counts.retrying),
    held: Number(counts.held),
    exhausted: Number(counts.exhausted),
  };
}

/** Midnights in a zone: of today, and of the day six days before. */
export function weekOf(now: number, zone: string): { readonly today: Date; readonly week: Date } {
  const day = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  const at = (one: Temporal.ZonedDateTime) => new Date(one.epochMilliseconds);
  return { today: at(day), week: at(day.subtract({ days: 6 }).startOfDay()) };
}
