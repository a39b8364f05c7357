// What a worker does with events, where a test has none.
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { passEvents } from '../../workers/relay.ts';

/** Passes on all events that are committed. */
export async function relayAll(sql: Sql): Promise<void> {
  for (let step = await passEvents(sql); step?.more !== false; step = await passEvents(sql));
}
