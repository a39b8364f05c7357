import { test } from 'bun:test';
import { killBesideClient } from './client-killed.ts';

test('each client track that resolved is recorded once, through a night of kills', async () => {
  await killBesideClient(60);
}, 900_000);
