import { test } from 'bun:test';
import { killAlone, killOfThree } from './prepaid-killed.ts';

test('kill -9 at random, while credit pools pay, hold and release, loses nothing', async () => {
  await killAlone(5);
}, 240_000);

test('three nodes with credit pools, one killed after another: the others take over their customers', async () => {
  await killOfThree(2);
}, 240_000);
