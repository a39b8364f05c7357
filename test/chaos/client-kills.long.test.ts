import { test } from 'bun:test';
import { killBesideClient } from './client-killed.ts';

test('each client track that resolved is recorded once, however often the service is killed', async () => {
  await killBesideClient(6);
}, 300_000);
