// Work beside the service: its rounds, and how it ends.
import { expect, test } from 'bun:test';
import {
  BackgroundWork,
  inSteps,
  type Round,
} from '../../src/platform/background/background-work.ts';
import { clock, timers } from '../../src/platform/clock.ts';

const CLOSE_MS_MAX = 60_000;

function worked(work: (round: Round) => Promise<void>, closeMsMax = CLOSE_MS_MAX) {
  const logged: unknown[] = [];
  const background = new BackgroundWork({
    timers,
    log: { error: ({ err }: { err?: unknown }) => logged.push(err) },
    failed: 'it is done later',
    everyMs: 1,
    closeMsMax,
    work,
  });
  return { background, logged };
}

test('a round of background work that fails is reported, and the next one begins', async () => {
  const again = Promise.withResolvers<void>();
  let rounds = 0;
  const { background, logged } = worked(async () => {
    rounds += 1;
    if (rounds === 2) again.resolve();
    else if (rounds === 1) throw new Error('away');
  });
  background.start();
  await again.promise;
  await background.close();
  expect(logged.map(String)).toEqual(['Error: away']);
});

test('closing background work waits for the step that is under way, and no other begins', async () => {
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [began, ended] = [0, 0];
  const { background } = worked(({ isOver }) =>
    inSteps({ clock, timers }, isOver, async () => {
      began += 1;
      begun.resolve();
      await goOn.promise;
      ended += 1;
      return ended < 10;
    }),
  );
  background.start();
  await begun.promise;
  const closed = background.close();
  goOn.resolve();
  await closed;
  expect([began, ended]).toEqual([1, 1]);
});

test('closing background work does not wait for ever, and what fails after it is not reported', async () => {
  const [begun, fail] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { background, logged } = worked(async ({ report }) => {
    begun.resolve();
    await fail.promise.catch(report);
    throw new Error('late');
  }, 1);
  const working = background.work();
  await begun.promise;
  await background.close();
  fail.reject(new Error('a part'));
  const failed = await working.catch(String);
  expect([failed, logged]).toEqual(['Error: late', []]);
});
