import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Log, Timers } from '../../ledger/ports.ts';
import { guarded } from './guarded.ts';
import type { Processor, ProcessorFor } from './processor.ts';

/** Longer than any normal answer: a buyer is waiting. A later answer is found by asking again. */
const DEADLINE_MS = 8000;

export type ProcessorsDeps = {
  /** The sandbox on the tenant's own clock. */
  readonly sandboxFor: (tenant: Tenant) => Processor;
  readonly timers: Timers;
  readonly log: Log;
};

/** Live mode has none, so nothing can be sold there. Live keys never reach the sandbox. */
export function openProcessors({ sandboxFor, timers, log }: ProcessorsDeps): ProcessorFor {
  const guard = { timers, deadlineMs: DEADLINE_MS, log };
  return (tenant) => (tenant.mode === 'test' ? guarded(sandboxFor(tenant), guard) : null);
}
