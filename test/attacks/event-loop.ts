// No request may block the event loop: an organisation sends the calls that take longest to parse
// or to record, and its neighbour does not notice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Sender } from '../chaos/call.ts';
import { attackWith, loneCall, waitMaxOf } from './attacker.ts';
import { type LargeCall, prepareLargestCalls, sendAsItIs } from './largest-calls.ts';
import { moveIn, notice } from './neighbour.ts';
import { openStand, type Stand } from './stand.ts';

/** On a slow machine the neighbour may wait this many times as long as without an attack. */
const CALM_TIMES_MAX = 5;
const CALM_MS = 500;

type Attacks = {
  readonly calls: readonly LargeCall[];
  /** How long each goes on. */
  readonly forMs: number;
};

/** Each call against one node, and against three. */
export function attackEventLoop({ calls, forMs }: Attacks): void {
  describe.each([1, 3])('on %d nodes the event loop is not blocked by', (nodes) => {
    let stand: Stand;
    beforeAll(async () => {
      stand = await openStand(nodes);
      await moveIn(stand);
      await prepareLargestCalls(stand.attacker);
    }, 120_000);
    afterAll(() => stand.stop());

    test.each(calls)(
      '$what',
      async (large) => {
        const send = (to: Sender) => sendAsItIs(to, large);
        const loneMs = await loneCall(stand, send);
        const calmMs = CALM_TIMES_MAX * (await notice(stand, Bun.sleep(CALM_MS))).longestMs;
        const answers: Record<number, number> = {};
        const noticed = await notice(stand, attackWith(stand, send, { forMs, answers }));
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
        expect(noticed.longestMs).toBeLessThan(Math.max(waitMaxOf(loneMs), calmMs));
        expect(Object.keys(answers)).toEqual([String(large.status)]);
      },
      120_000,
    );
  });
}
