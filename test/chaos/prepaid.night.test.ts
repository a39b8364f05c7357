import { test } from 'bun:test';
import { killAlone, killOfThree } from './prepaid-killed.ts';

test('kill -9 at random for a night, while credit pools pay, hold and release, loses nothing', async () => {
  await killAlone(60);
}, 900_000);

test('three nodes with credit pools through a night of kills: the others take over their customers', async () => {
  await killOfThree(20);
}, 900_000);
