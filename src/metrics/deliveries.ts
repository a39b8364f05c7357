// Deliveries of this process, and their latency. Those that are due, held or claimed anywhere are
// in database.ts.
import { Counter, Histogram, type Registry } from 'prom-client';

/** A status or the name of a failure; the time since the event's commit, for a first attempt. */
type AttemptResult = { readonly result: string; readonly sinceCommitMs: number | null };

export function attemptObserver(registry: Registry): (attempt: AttemptResult) => void {
  const attempts = new Counter({
    name: 'tollhouse_delivery_attempts_total',
    help: 'Attempts to deliver, by what was answered or went wrong.',
    labelNames: ['result'],
    registers: [registry],
  });
  const first = new Histogram({
    name: 'tollhouse_delivery_first_attempt_seconds',
    help: 'From the commit of an event to its first attempt.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60],
    registers: [registry],
  });
  return ({ result, sinceCommitMs }) => {
    attempts.inc({ result: classOf(result) });
    if (sinceCommitMs !== null) first.observe(Math.max(0, sinceCommitMs) / 1000);
  };
}

/** Receivers choose their status: a label for each would let them fill our memory. */
function classOf(result: string): string {
  return /^\d/.test(result) ? `${result.charAt(0)}xx` : result;
}
