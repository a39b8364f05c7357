// The routes of the ways that keep something. What is in here costs them all the same.
import { ids } from '../../../src/platform/ids.ts';
import { checkAnswer, ingestAnswer, trackAnswer, type Usage } from './answers.ts';
import { openDoor, type PeerSettings, refusal, serveUntilBenchEnds } from './door.ts';
import {
  CheckBody,
  IngestBody,
  type IngestEvent,
  TrackBody,
} from '../../../src/http/wire/metering.ts';

export interface UsageEvent {
  readonly id: string;
  readonly externalId: string;
  readonly value: number;
}

export interface Way {
  check(externalId: string): Promise<Usage>;
  track(event: UsageEvent): Promise<{ usage: Usage; duplicate: boolean }>;
  /** For each event, whether it was new. Not all ways have it. */
  ingest?(events: readonly UsageEvent[]): Promise<readonly boolean[]>;
}

export async function serve(settings: PeerSettings, way: Way): Promise<never> {
  const { app, letsIn } = openDoor(settings);
  app
    .post(
      '/check',
      async ({ request, body }) => {
        if (!letsIn(request)) return refusal();
        return checkAnswer(body.feature_key, await way.check(body.external_customer_id ?? ''));
      },
      { parse: 'json', body: CheckBody },
    )
    .post(
      '/track',
      async ({ request, body }) => {
        if (!letsIn(request)) return refusal();
        const event = {
          id: eventId(body.idempotency_key),
          externalId: body.external_customer_id ?? '',
          value: Number(body.value ?? 1),
        };
        const { usage, duplicate } = await way.track(event);
        return trackAnswer({ ...event, featureKey: body.feature_key, duplicate }, usage);
      },
      { parse: 'json', body: TrackBody },
    )
    .post(
      '/events/ingest',
      async ({ request, body }) => {
        if (!letsIn(request)) return refusal();
        const asked = body.events as readonly IngestEvent[];
        const events = asked.map((event) => ({
          id: eventId(event.external_id),
          externalId: event.external_customer_id ?? '',
          value: Number(event.value ?? 1),
        }));
        const isNew = (await way.ingest?.(events)) ?? [];
        return ingestAnswer(
          asked.map((event, index) => ({
            id: events[index]?.id ?? '',
            externalId: event.external_id ?? '',
            isNew: isNew[index] ?? false,
          })),
        );
      },
      { parse: 'json', body: IngestBody },
    );
  return serveUntilBenchEnds(app, settings);
}

/** Derived from the key, as in the service: one index is the primary key and counts a key once. */
function eventId(key: string | undefined): string {
  return key === undefined ? ids.next() : ids.derive('event', key);
}
