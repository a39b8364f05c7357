// Who attacks: the same call by several senders at once, at every node, for a time.
import type { Sender } from '../chaos/call.ts';
import type { Stand } from './stand.ts';

const SENDERS = 4;
/**
 * What the neighbour may wait: or, where this machine is slow, as long as so many calls of the attacker take by themselves. But a call
 * that is slow because it holds everybody up is no excuse.
 */
const WAIT_MS_MAX = 1000;
const LONE_CALLS_MAX = 3;
const LONE_CALLS_MS_MAX = 5000;

/** Sends the call once; the status of its answer. */
type Send = (to: Sender) => Promise<number>;

export function waitMaxOf(loneMs: number): number {
  return Math.max(WAIT_MS_MAX, Math.min(LONE_CALLS_MAX * loneMs, LONE_CALLS_MS_MAX));
}

/** How long the call takes where nobody else asks anything, at the slowest. */
export async function loneCall({ urls, attacker }: Stand, send: Send): Promise<number> {
  let longestMs = 0;
  for (let n = 0; n < 3; n += 1) {
    const began = performance.now();
    await send({ url: urls[0]!, key: attacker.key });
    longestMs = Math.max(longestMs, performance.now() - began);
  }
  return longestMs;
}

/** Adds to `answers` how often which status came. */
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
