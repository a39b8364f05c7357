// A run finds services that answer, whatever happened to earlier keepers.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { holdWarmServices } from './warm.ts';
import { ask, databasesOf, endAll, keepersOf, LONG_MS, ONE, OTHER } from './warm-clones.ts';

setDefaultTimeout(120_000);

beforeAll(async () => {
  (await holdWarmServices(ONE, LONG_MS)).release();
});
afterAll(endAll);

test('a keeper of warm clones that is killed is replaced, and what it kept is ended', async () => {
  const before = databasesOf(ONE);
  expect(before.length).toBeGreaterThan(0);
  process.kill(keepersOf(ONE)[0]!, 'SIGKILL');
  const services = await holdWarmServices(ONE, LONG_MS);
  expect(await ask(services, 'select 1')).toHaveLength(1);
  expect(databasesOf(ONE).filter((pid) => before.includes(pid))).toEqual([]);
  services.release();
});

test('a process killed in one clone is ended by the keeper of another', async () => {
  process.kill(keepersOf(ONE)[0]!, 'SIGKILL');
  const services = await holdWarmServices(OTHER, LONG_MS);
  expect(databasesOf(ONE)).toEqual([]);
  services.release();
});
