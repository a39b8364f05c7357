// No request may hold the event loop: an organisation sends what takes longest to judge or to take in, and its neighbour does not notice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Sender } from '../chaos/call.ts';
import { type LargeCall, LARGEST_CALLS, prepareLargestCalls, sendAsItIs } from './largest-calls.ts';
import { moveIn, notice } from './neighbour.ts';
import { openStand, type Stand } from './stand.ts';

const ATTACK_MS = 3000;
const SENDERS = 4;
/**
 * What the neighbour may wait: or, where this machine is slow, as long as so many calls of the attacker take by themselves, and so many
 * times what it waits when nobody attacks.
 */
const WAIT_MS_MAX = 1000;
const LONE_CALLS_MAX = 3;
const CALM_TIMES_MAX = 5;
const CALM_MS = 1000;

describe.each([1, 3])('%d nodes', (nodes) => {
  let stand: Stand;
  beforeAll(async () => {
    stand = await openStand(nodes);
    await moveIn(stand);
    await prepareLargestCalls(stand.attacker);
  }, 120_000);
  afterAll(() => stand.stop());

  test.each(LARGEST_CALLS)(
    '$what',
    async (large) => {
      const [first = ''] = stand.urls;
      const loneMs = await loneCall({ url: first, key: stand.attacker.key }, large);
      const calmMs = CALM_TIMES_MAX * (await notice(stand, Bun.sleep(CALM_MS))).longestMs;
      const answers: Record<number, number> = {};
      const noticed = await notice(stand, attackWith(stand, large, answers));
      console.log({
        what: large.what,
        nodes,
        bytes: large.text.length,
        loneMs,
        ...noticed,
        answers,
      });
      expect(noticed.refused).toEqual({});
      expect(noticed.answered).toBeGreaterThan(0);
      expect(noticed.longestMs).toBeLessThan(
        Math.max(WAIT_MS_MAX, LONE_CALLS_MAX * loneMs, calmMs),
      );
      expect(Object.keys(answers)).toEqual([String(large.status)]);
    },
    120_000,
  );
});

/** How long the call takes where nobody else asks anything, at the slowest. */
async function loneCall(sender: Sender, large: LargeCall): Promise<number> {
  let longestMs = 0;
  for (let n = 0; n < 3; n += 1) {
    const began = performance.now();
    await sendAsItIs(sender, large);
    longestMs = Math.max(longestMs, performance.now() - began);
  }
  return longestMs;
}

async function attackWith(
  { urls, attacker }: Stand,
  large: LargeCall,
  answers: Record<number, number>,
): Promise<void> {
  const until = performance.now() + ATTACK_MS;
  const sender = async (n: number): Promise<void> => {
    while (performance.now() < until) {
      const at = { url: urls[n % urls.length] ?? '', key: attacker.key };
      const status = await sendAsItIs(at, large);
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, n) => sender(n)));
}
