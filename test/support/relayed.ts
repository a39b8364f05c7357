// What a worker does with events, for a test without a worker.
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { passEvents } from '../../workers/relay.ts';

/** Fans out all committed events. */
export async function relayAll(sql: Sql): Promise<void> {
  for (let step = await passEvents(sql); step?.more !== false; step = await passEvents(sql));
}
