// A process ends with its runner, and with no other process that began it.
import { afterEach, expect, test } from 'bun:test';
import { endAll, livesOn, npx, start, type Told, TOLD } from './runner.ts';

afterEach(endAll);

test('a kill -9 of npx ends what it started', async () => {
  const { outer, reason } = await npx(`${TOLD}; true`);
  outer.kill('SIGKILL');
  expect(await reason).toBe('the end of its runner');
});

// prettier-ignore
const DAEMONS: [string, () => Promise<Told>][] = [
  ['setsid in a shell that ends',                   () => start('sh', ['-c', `setsid ${TOLD} & wait`])],
  ['setsid in a shell of npx, whose variables it has', () => npx(`setsid ${TOLD} & wait`)],
];
test.each(DAEMONS)('a service begun by %s lives on', async (_what, begin) =>
  livesOn(await begin()),
);
