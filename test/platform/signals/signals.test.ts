// When a process ends because its parent ended: with its runner, and with no other process. More of
// both: signals.long.test.ts.
import { afterEach, expect, test } from 'bun:test';
import { endAll, livesOn, npx, start, TOLD } from './runner.ts';

afterEach(endAll);

test('a SIGTERM to npx alone ends what it started, through a shell and `bun run`', async () => {
  const { outer, reason } = await npx(`'${process.execPath}' exec "${TOLD}; true"; true`);
  outer.kill('SIGTERM');
  expect(await reason).toBe('the end of its runner');
});

test('a service under nohup lives on when its shell ends', async () => {
  await livesOn(await start('sh', ['-c', `nohup ${TOLD} & wait`]));
});
