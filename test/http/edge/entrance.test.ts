import { expect, test } from 'bun:test';
import { Entrance } from '../../../src/http/edge/entrance.ts';

/** A turn ends by `end`. */
function turnsByHand() {
  let tasks: (() => void)[] = [];
  const timers = {
    after: () => () => undefined,
    soon: (task: () => void) => void tasks.push(task),
  };
  const end = (): void => {
    const due = tasks;
    tasks = [];
    for (const task of due) task();
  };
  return { timers, end };
}

test('requests begin for 5 to 10 ms in a turn, and further ones at its end', async () => {
  const { timers, end } = turnsByHand();
  const entrance = new Entrance(timers);
  const begin = (...times: number[]) => times.map((now) => entrance.enter(now));
  expect(begin(0, 4)).toEqual([undefined, undefined]);
  const late = begin(5, 6);
  expect(late).toEqual([expect.any(Promise), expect.any(Promise)]);
  end();
  await Promise.all(late.map(async (one) => one));
  // What the turn before has left of its time, and a time of its own.
  expect(begin(7, 11)).toEqual([undefined, undefined]);
  end();
  expect(begin(11, 12, 16)).toEqual([undefined, undefined, undefined]);
  expect(begin(17)).toEqual([expect.any(Promise)]);
});

test('turns of one request each let all begin', () => {
  const { timers, end } = turnsByHand();
  const entrance = new Entrance(timers);
  for (let now = 0; now < 100; now += 3) {
    expect(entrance.enter(now)).toBeUndefined();
    end();
  }
});
