// Long questions: in slices, one of an organisation at a time, one slice of all in a turn.
import { expect, test } from 'bun:test';
import { LongWork, type Rest } from '../../ledger/kernel/long-work.ts';
import { LONG_WORK_SLICE_MS, LONG_WORK_WAITING_MAX } from '../../ledger/limits.ts';
import { LedgerUnavailable } from '../../ledger/ports.ts';

/** Turns of an event loop, one by one. */
function loop() {
  let due: (() => void)[] = [];
  const alarms = new Set<() => void>();
  const timers = {
    after: (_ms: number, task: () => void) => {
      alarms.add(task);
      return () => void alarms.delete(task);
    },
    soon: (task: () => void) => void due.push(task),
  };
  let time = 0;
  // Each look at it is a slice later.
  const clock = { monotonic: () => (time += LONG_WORK_SLICE_MS) };
  /** What waits so far has waited as long as it may. */
  const late = () => {
    for (const alarm of alarms) alarm();
  };
  const turn = async (): Promise<void> => {
    const now = due;
    due = [];
    for (const task of now) task();
    // What follows from them is done before the next turn.
    for (let n = 0; n < 50; n += 1) await Promise.resolve();
  };
  /** Turns until it is settled. */
  const until = async <T>(done: Promise<T>): Promise<T> => {
    const state = { isOver: false };
    const over = done.finally(() => (state.isOver = true));
    while (!state.isOver) await turn();
    return over;
  };
  return { deps: { clock, timers }, alarms, late, turn, until };
}

/** Notes its slices. */
function sliced(name: string, count: number, seen: string[]) {
  return async (rest: Rest): Promise<string> => {
    for (let n = 1; n <= count; n += 1) {
      seen.push(`${name}${n}`);
      await rest();
    }
    return name;
  };
}

test('an organisation has one at a time, and of all organisations one slice runs in a turn', async () => {
  const { deps, turn } = loop();
  const work = new LongWork(deps);
  const seen: string[] = [];
  const done = Promise.all([
    work.run('one', sliced('a', 2, seen)),
    work.run('one', sliced('b', 1, seen)),
    work.run('two', sliced('c', 3, seen)),
  ]);
  await turn();
  const turns: string[] = [];
  while (turns.length < 6) {
    turns.push(seen.splice(0).join(' '));
    await turn();
  }
  // The first slice of each begins with its call, or with the end of the one before it.
  expect(turns).toEqual(['a1 c1', 'a2', 'c2', 'b1', 'c3', '']);
  expect(await done).toEqual(['a', 'b', 'c']);
});

test('what an organisation asks beyond its bound is refused, and others are not', async () => {
  const { deps, until } = loop();
  const work = new LongWork(deps);
  const task = sliced('', 1, []);
  const held = Array.from({ length: LONG_WORK_WAITING_MAX }, () => work.run('one', task));
  const refused = await work.run('one', task).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(LedgerUnavailable);
  const other = work.run('two', task);
  await until(Promise.all([...held, other]));
  await until(work.run('one', task));
});

test('what fails lets the next one go on', async () => {
  const { deps, until } = loop();
  const work = new LongWork(deps);
  const failed = work.run('one', () => Promise.reject(new Error('broken')));
  const next = work.run('one', sliced('a', 1, []));
  expect(await failed.catch((error: unknown) => String(error))).toBe('Error: broken');
  expect(await until(next)).toBe('a');
});

const refusalOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'answered',
    (error: unknown) => error instanceof LedgerUnavailable,
  );

test('what is not answered in time is refused at once, and ends at its next slice', async () => {
  const { deps, late, turn, until } = loop();
  const work = new LongWork(deps);
  const seen: string[] = [];
  const asked = [work.run('one', sliced('a', 9, seen)), work.run('one', sliced('b', 1, seen))].map(
    refusalOf,
  );
  await turn();
  await turn();
  late();
  // Without another turn: the one that runs has not ended yet.
  expect(await Promise.all(asked)).toEqual([true, true]);
  const before = [...seen];
  const next = work.run('one', sliced('c', 1, seen));
  expect(await until(next)).toBe('c');
  expect(before).not.toContain('b1');
  expect(seen).toEqual([...before, 'c1']);
});

test('what is answered in time leaves no timer', async () => {
  const { deps, alarms, until } = loop();
  await until(new LongWork(deps).run('one', sliced('a', 2, [])));
  expect(alarms.size).toBe(0);
});

test('a slice goes on until it has lasted long enough', async () => {
  const { deps, turn } = loop();
  let time = 0;
  const clock = { monotonic: () => time };
  const seen: string[] = [];
  const work = new LongWork({ ...deps, clock });
  const done = work.run('one', async (rest) => {
    for (let n = 1; n <= 7; n += 1) {
      seen.push(`a${n}`);
      time += LONG_WORK_SLICE_MS / 2;
      await rest();
    }
  });
  const turns: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    turns.push(seen.splice(0).join(' '));
    await turn();
  }
  await done;
  expect(turns).toEqual(['a1', 'a2', 'a3 a4', 'a5 a6']);
});
