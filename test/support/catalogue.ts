// Compares events with the catalogue: each has exactly the documented fields.
import { Value } from '@sinclair/typebox/value';
import { EVENT_ENVELOPES } from '../../src/http/wire/payloads/envelopes.ts';
import { envelopeOf, type EventEnvelope, type EventRecord } from '../../src/records/events.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const MOMENT_NAME = /(?:At|Start|End|Date|^timestamp)$/;

/** How the event differs from the catalogue, one line each. */
export function misfits(event: EventEnvelope): string[] {
  const { schema, data } = EVENT_ENVELOPES[event.type];
  const found = [...Value.Errors(schema, event)].map(({ path, message }) => `${path} ${message}`);
  for (const [name, value] of Object.entries(event.data)) {
    if (!Object.hasOwn(data.properties, name)) found.push(`/data/${name} is not in the catalogue`);
    if (MOMENT_NAME.test(name) && typeof value === 'string' && !MOMENT.test(value)) {
      found.push(`/data/${name} is not a moment: ${value}`);
    }
  }
  return found.map((line) => `${event.type} ${line}`);
}

/** The same for every event in the database. */
export async function misfitsOf(sql: Sql): Promise<string[]> {
  const events = await sql<EventRecord[]>`
    select id, organisation_id as "organisationId", mode, type, object_type as "objectType", object_id as "objectId",
      account_id as "accountId", sequence, at, data from events`;
  return events.flatMap((event) => misfits(envelopeOf(event)));
}
