import { test } from 'bun:test';
import { killAtRandom } from './kill-at-random.ts';

test('kill -9 under load loses no usage and counts none twice', async () => {
  await killAtRandom(1);
}, 60_000);
