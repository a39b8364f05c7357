import { test } from 'bun:test';
import { killAlone, killOfThree } from './prepaid-killed.ts';

test('kill -9 at random, and while a pool pays, holds and lets go', async () => {
  await killAlone(5);
}, 240_000);

test('three nodes, one killed after another: the others take its customers', async () => {
  await killOfThree(2);
}, 240_000);
