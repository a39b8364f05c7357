import { test } from 'bun:test';
import { killWorker, openBedForEach } from './deliveries.ts';

openBedForEach();

test('webhook deliveries through a night of kill -9 of the worker: none is lost', async () => {
  await killWorker(100);
}, 900_000);
