import { test } from 'bun:test';
import { killAtRandom } from './kill-at-random.ts';

test('kill -9 under load, a few times, loses nothing and counts nothing twice', async () => {
  await killAtRandom(3);
}, 60_000);
