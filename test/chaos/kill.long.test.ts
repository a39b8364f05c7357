import { test } from 'bun:test';
import { killAtRandom } from './kill-at-random.ts';

test('kill -9 at random under load loses no usage and counts none twice', async () => {
  await killAtRandom(8);
}, 180_000);
