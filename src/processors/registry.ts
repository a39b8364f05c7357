import type { Log, Timers } from '../../ledger/ports.ts';
import { guarded } from './guarded.ts';
import type { Processor } from './processor.ts';

/** Longer than any sane answer; who waits is a buyer. What comes later is found by asking again. */
const DEADLINE_MS = 8000;

export type ProcessorsDeps = {
  readonly sandbox: Processor;
  readonly timers: Timers;
  readonly log: Log;
};

/** Which processor moves the money of a mode. null: none is configured, so nothing can be sold. Live keys never reach the sandbox. */
export function openProcessors({
  sandbox,
  timers,
  log,
}: ProcessorsDeps): (mode: 'test' | 'live') => Processor | null {
  const test = guarded(sandbox, { timers, deadlineMs: DEADLINE_MS, log });
  return (mode) => (mode === 'test' ? test : null);
}
