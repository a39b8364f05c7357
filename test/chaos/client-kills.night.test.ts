import { test } from 'bun:test';
import { killBesideClient } from './client-killed.ts';

test('each track that resolved is there once, however often the service is killed', async () => {
  await killBesideClient(60);
}, 900_000);
