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
  endpoint_id: Type.Optional({ ...Uuid, description: 'This endpoint alone.' }),
});

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const WebhookCounts = Type.Object(
  {
    delivered: Count('The receiver has them.'),
    pending: Count('Not tried yet.'),
    retrying: Count('Tried without success, and to be tried again.'),
    held: Count('They wait for the endpoint to be enabled.'),
    exhausted: Count('Given up.'),
  },
  { description: 'Of deliveries, by what became of them so far.' },
);

export const WebhookHealth = Type.Object({
  id: { ...Uuid, description: 'The endpoint.' },
  today: { ...WebhookCounts, description: "Since midnight in the organization's time zone." },
  week: { ...WebhookCounts, description: 'Since midnight six days before.' },
  complete: Type.Boolean({
    description: `Whether these are all of the seven days: only the newest ${DELIVERIES_READ_MAX} deliveries of an endpoint are counted.`,
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
