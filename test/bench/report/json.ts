import type { Machine } from '../probes/machine.ts';
import type { Change } from './comparison.ts';
import type { Result } from './figures.ts';
import type { Goal } from './goals.ts';

export interface Report {
  readonly results: readonly Result[];
  /** Empty without anything before. */
  readonly changes: readonly Change[];
  readonly goals: readonly Goal[];
  readonly machine: Machine;
  /** Errors, and what was lost. */
  readonly problems: readonly string[];
}

/** All that the tables say, and each round separately. */
export function jsonOf({ machine, results, changes, goals, problems }: Report): string {
  return JSON.stringify({ machine, results, changes, goals, problems }, null, 2);
}
