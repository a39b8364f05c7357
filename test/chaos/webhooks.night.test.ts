import { test } from 'bun:test';
import { killWorker, openBedForEach } from './deliveries.ts';

openBedForEach();

test('kill -9 of the worker at random under load', async () => {
  await killWorker(100);
}, 900_000);
