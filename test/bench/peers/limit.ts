// The limit of the framework. Same schemas, same check of the key, and a constant answer of the
// same shape that is serialised anew each time.
import { customerName, EVENTS_PER_CALL, FEATURE_KEY } from '../generator/workload.ts';
import { checkAnswer, ingestAnswer, trackAnswer } from './answers.ts';
import { openDoor, peerSettings, refusal, serveUntilBenchEnds } from './door.ts';
import { CheckBody, IngestBody, TrackBody } from '../../../src/http/wire/metering.ts';

const ID = '019ab1c2-0000-7000-8000-000000000000';
const USAGE = { customerId: ID, limit: 100_000_000, consumed: 12_345 };
const EVENT = { id: ID, featureKey: FEATURE_KEY, externalId: customerName(0), value: 1 };

const check = checkAnswer(FEATURE_KEY, USAGE);
const track = trackAnswer({ ...EVENT, duplicate: false }, USAGE);
const ingest = ingestAnswer(
  Array.from({ length: EVENTS_PER_CALL }, (_, index) => ({
    id: ID,
    externalId: `bench-1000-00000000-${String(index).padStart(3, '0')}`,
    isNew: true,
  })),
);

const settings = peerSettings();
const { app, letsIn } = openDoor(settings);
// With an explicit parser Elysia does not look at the content type.
app
  .post('/check', ({ request }) => (letsIn(request) ? check : refusal()), {
    parse: 'json',
    body: CheckBody,
  })
  .post('/track', ({ request }) => (letsIn(request) ? track : refusal()), {
    parse: 'json',
    body: TrackBody,
  })
  .post('/events/ingest', ({ request }) => (letsIn(request) ? ingest : refusal()), {
    parse: 'json',
    body: IngestBody,
  });
await serveUntilBenchEnds(app, settings);
