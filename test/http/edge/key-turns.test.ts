// Concurrent calls with one key in one process run one after the other.
import { expect, test } from 'bun:test';
import { KeyTurns } from '../../../src/http/idempotency/key-turns.ts';

const timers = {
  after: (ms: number, task: () => void) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
  soon: (task: () => void) => queueMicrotask(task),
};

test('of twenty at once one runs at a time, and another key waits for none of them', async () => {
  const turns = new KeyTurns({ clock: { monotonic: () => performance.now() }, timers });
  const gates: PromiseWithResolvers<void>[] = [];
  let under = 0;
  let most = 0;
  const answers = Array.from({ length: 20 }, (_, which) =>
    turns.run('tenant', 'key', async () => {
      under += 1;
      most = Math.max(most, under);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      under -= 1;
      return new Response(String(which));
    }),
  );
  const other = await turns.run('tenant', 'another', () => new Response('at once'));
  expect(await other.text()).toBe('at once');
  for (let ended = 0; ended < 20; ended += 1) {
    expect(gates).toHaveLength(ended + 1);
    gates[ended]!.resolve();
    await Bun.sleep(0);
  }
  expect(most).toBe(1);
  const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
  expect(new Set(texts).size).toBe(20);
});
