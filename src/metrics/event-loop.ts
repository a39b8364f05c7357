// Event loop delay: how long one task keeps others waiting.
//
// How: a timer every few milliseconds; its delay is the time of other tasks.
// Does not: say which task it was. A busy machine delays timers too.
import { Histogram, type Registry } from 'prom-client';
import type { Clock, Timers } from '../../ledger/ports.ts';
import { gauge } from './numbers.ts';

const EVERY_MS = 10;
/** The maximum is kept for this span and the one before, however often it is read. */
const SPAN_MS = 30_000;
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Returns the function that stops it. */
export function watchEventLoop(
  registry: Registry,
  { clock, timers }: { readonly clock: Pick<Clock, 'monotonic'>; readonly timers: Timers },
): () => void {
  const delays = new Histogram({
    name: 'tollhouse_event_loop_delay_seconds',
    help: 'How late a timer comes: nothing else was answered for so long.',
    buckets: BUCKETS,
    registers: [registry],
  });
  let longest = 0;
  let before = 0;
  let spanEnds = clock.monotonic() + SPAN_MS;
  let cancel = (): void => undefined;
  gauge(registry, {
    name: 'tollhouse_event_loop_longest_seconds',
    help: 'The longest of these in the last half to whole minute.',
    read: () => Math.max(longest, before) / 1e3,
  });
  const sample = (): void => {
    const due = clock.monotonic() + EVERY_MS;
    cancel = timers.after(EVERY_MS, () => {
      const now = clock.monotonic();
      const late = Math.max(0, now - due);
      delays.observe(late / 1e3);
      if (now >= spanEnds) {
        before = longest;
        longest = 0;
        spanEnds = now + SPAN_MS;
      }
      longest = Math.max(longest, late);
      sample();
    });
  };
  sample();
  return () => cancel();
}
