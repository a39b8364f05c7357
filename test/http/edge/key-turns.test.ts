// Concurrent calls with one key in one process run one after the other, and wait 5 s at most.
import { expect, test } from 'bun:test';
import { inProgress } from '../../../src/http/edge/errors.ts';
import { KeyTurns } from '../../../src/http/idempotency/key-turns.ts';
import { REPLAYED } from '../../../src/http/idempotency/replayed.ts';

const timers = {
  after: (ms: number, task: () => void) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
  soon: (task: () => void) => queueMicrotask(task),
};

test('of twenty calls at once with one key one runs at a time, and another key waits for none', async () => {
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

test('once one of twenty calls with one key is told the stored answer, the others are told it side by side', async () => {
  const turns = new KeyTurns({ clock: { monotonic: () => performance.now() }, timers });
  const gates: PromiseWithResolvers<Response>[] = [];
  const answers = Array.from({ length: 20 }, () =>
    turns.run('tenant', 'key', () => {
      const gate = Promise.withResolvers<Response>();
      gates.push(gate);
      return gate.promise;
    }),
  );
  gates[0]!.resolve(new Response('made'));
  await Bun.sleep(0);
  // The first answer may be one that is not stored: one more call finds out.
  expect(gates).toHaveLength(2);
  gates[1]!.resolve(new Response('made', REPLAYED));
  await Bun.sleep(0);
  expect(gates).toHaveLength(20);
  for (const gate of gates.slice(2)) gate.resolve(new Response('made', REPLAYED));
  const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
  expect(new Set(texts)).toEqual(new Set(['made']));
  // What comes later takes a turn again.
  const later = [1, 2].map(() => turns.run('tenant', 'key', () => new Response('later')));
  expect(await (await later[1]!).text()).toBe('later');
});

/** Time that moves to the next timer when it is told to. */
class World {
  #now = 0;
  #waiting: { readonly at: number; readonly task: () => void }[] = [];
  readonly turns = new KeyTurns({
    clock: { monotonic: () => this.#now },
    timers: {
      after: (ms, task) => {
        const timer = { at: this.#now + ms, task };
        this.#waiting.push(timer);
        return () => (this.#waiting = this.#waiting.filter((one) => one !== timer));
      },
      soon: (task) => queueMicrotask(task),
    },
  });

  /** When this is answered. */
  async whenAnswered(answer: Promise<Response>): Promise<readonly [number, number, string | null]> {
    let answered: Response | undefined;
    const noted = (async () => (answered = await answer))();
    for (;;) {
      await Bun.sleep(0);
      if (answered !== undefined) {
        await noted;
        return [this.#now, answered.status, answered.headers.get('retry-after')];
      }
      const [next] = this.#waiting.toSorted((one, other) => one.at - other.at);
      if (next === undefined) throw new Error('nothing is waited for');
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.#now = next.at;
      next.task();
    }
  }
}

test('a call that waits for another with its key is told to come back after 5 s', async () => {
  const world = new World();
  const gate = Promise.withResolvers<Response>();
  const first = world.turns.run('tenant', 'key', () => gate.promise);
  const second = world.turns.run('tenant', 'key', () => new Response());
  expect(await world.whenAnswered(second)).toEqual([5000, 409, '1']);
  gate.resolve(new Response('done'));
  expect(await (await first).text()).toBe('done');
});

test('a call whose key another process executes, which it polls, is told to come back after 5 s', async () => {
  const world = new World();
  let asked = 0;
  const answer = world.turns.run('tenant', 'key', () => {
    asked += 1;
    return inProgress();
  });
  expect(await world.whenAnswered(answer)).toEqual([5000, 409, '1']);
  expect(asked).toBeGreaterThan(10);
});
