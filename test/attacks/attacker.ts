// The attacker: several senders of the same call at once, at every node, for some time.
import type { Sender } from '../chaos/call.ts';
import type { Stand } from './stand.ts';

const SENDERS = 4;
/**
 * How long the neighbour may wait: this, or on a slow machine the time of this many of the
 * attacker's calls run alone. A call that is slow because it blocks everything is no excuse.
 */
const WAIT_MS_MAX = 1000;
const LONE_CALLS_MAX = 3;
const LONE_CALLS_MS_MAX = 5000;

/** Sends the call once; the status of its answer. */
type Send = (to: Sender) => Promise<number>;

export function waitMaxOf(loneMs: number): number {
  return Math.max(WAIT_MS_MAX, Math.min(LONE_CALLS_MAX * loneMs, LONE_CALLS_MS_MAX));
}

/** The longest duration of the call when there is no other load. */
export async function loneCall({ urls, attacker }: Stand, send: Send): Promise<number> {
  let longestMs = 0;
  for (let n = 0; n < 3; n += 1) {
    const began = performance.now();
    await send({ url: urls[0]!, key: attacker.key });
    longestMs = Math.max(longestMs, performance.now() - began);
  }
  return longestMs;
}

/** Counts in `answers` how often each status came. */
export async function attackWith(
  { urls, attacker }: Stand,
  send: Send,
  { forMs, answers }: { readonly forMs: number; readonly answers: Record<number, number> },
): Promise<void> {
  const until = performance.now() + forMs;
  const sender = async (n: number): Promise<void> => {
    while (performance.now() < until) {
      const status = await send({ url: urls[n % urls.length]!, key: attacker.key });
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, n) => sender(n)));
}
