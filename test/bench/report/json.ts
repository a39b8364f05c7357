import type { Machine } from '../probes/machine.ts';
import type { Row } from '../rounds.ts';
import type { Goal } from './goals.ts';
import { summaryOf } from './summary.ts';

/** All that the table says, and each round separately. */
export function jsonOf(rows: readonly Row[], goals: readonly Goal[], machine: Machine): string {
  const results = rows.flatMap(({ case: item, ratePerSecond, measured }) =>
    [...measured].map(([way, rounds]) => ({
      case: item.name,
      way,
      offeredPerSecond: ratePerSecond,
      connections: item.connections,
      eventsPerRequest: item.events,
      ...summaryOf(item, rounds),
      rounds: rounds.map((round) => ({
        requestsPerSecond: round.requestsPerSecond,
        footprint: round.footprint ?? null,
        latenessMicros: round.load.latenessMicros,
      })),
    })),
  );
  return JSON.stringify({ machine, results, goals }, null, 2);
}
