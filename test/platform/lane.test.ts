import { expect, test } from 'bun:test';
import { Lane } from '../../src/platform/postgres/lane.ts';

/** A lane whose calls end, and whose time passes, when the test says so. */
function open(options: { places: number; perTenant: number; waitingMax: number }) {
  const due = new Set<() => void>();
  const timers = {
    after: (_ms: number, task: () => void) => {
      due.add(task);
      return () => due.delete(task);
    },
    soon: (task: () => void) => queueMicrotask(task),
  };
  const lane = new Lane({ ...options, waitMs: 1, timers });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const refused: string[] = [];
  const settle = () => Bun.sleep(0);
  return {
    begun,
    refused,
    settle,
    timersLeft: () => due.size,
    async ask(...names: string[]): Promise<void> {
      for (const name of names) {
        const { promise, resolve } = Promise.withResolvers<null>();
        const task = () => {
          begun.push(name);
          ends.set(name, () => resolve(null));
          return promise;
        };
        lane.run(name[0]!, task).then(
          (done) => (done === 'no_place' ? refused.push(name) : undefined),
          () => undefined,
        );
      }
      await settle();
    },
    async end(name: string): Promise<void> {
      ends.get(name)!();
      await settle();
    },
    async expire(): Promise<void> {
      for (const task of due) task();
      await settle();
    },
  };
}

test('a lane gives a tenant its share at most, and waiting calls take turns', async () => {
  const lane = open({ places: 3, perTenant: 2, waitingMax: 10 });
  await lane.ask('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'c1');
  expect(lane.begun).toEqual(['a1', 'a2', 'b1']);
  for (const name of ['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4', 'b3']) await lane.end(name);
  expect(lane.begun.slice(3)).toEqual(['a3', 'b2', 'c1', 'a4', 'b3', 'a5']);
  expect([lane.refused, lane.timersLeft()]).toEqual([[], 0]);
});

test('a lane whose queue of one tenant is full refuses that tenant alone', async () => {
  const lane = open({ places: 2, perTenant: 1, waitingMax: 1 });
  await lane.ask('a1', 'a2', 'a3', 'b1', 'b2');
  expect([lane.begun, lane.refused]).toEqual([['a1', 'b1'], ['a3']]);
});

test('a call that waited too long in a lane is refused, and holds no place', async () => {
  const lane = open({ places: 1, perTenant: 1, waitingMax: 2 });
  await lane.ask('a1', 'a2', 'b1');
  await lane.expire();
  expect(lane.refused).toEqual(['a2', 'b1']);
  await lane.end('a1');
  await lane.ask('a3');
  expect(lane.begun).toEqual(['a1', 'a3']);
});

test('a call that fails in a lane gives its place back', async () => {
  const timers = { after: () => () => undefined, soon: () => undefined };
  const lane = new Lane({ places: 1, perTenant: 1, waitingMax: 0, waitMs: 1, timers });
  const lost = new Error('lost');
  const fail = (): Promise<never> => Promise.reject(lost);
  expect(await lane.run('a', fail).catch((error: unknown) => error)).toBe(lost);
  expect(await lane.run('a', () => Promise.resolve('done'))).toBe('done');
});
