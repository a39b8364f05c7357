// Runs at once have the same services, which end when nobody has used them for a while. Keepers
// that are killed: warm.long.test.ts.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import { holdWarmServices } from './warm.ts';
import { ask, databasesOf, endAll, keepersOf, ONE } from './warm-clones.ts';

setDefaultTimeout(120_000);

const IDLE_MS = 500;

afterAll(endAll);

test('two runs at once share the warm services, and what they leave is dropped with the last', async () => {
  const [one, other] = await Promise.all([
    holdWarmServices(ONE, IDLE_MS),
    holdWarmServices(ONE, IDLE_MS),
  ]);
  expect(one.databaseUrl).toBe(other.databaseUrl);
  await until('the second keeper has left', () => keepersOf(ONE).length === 1);
  await ask(one, 'create database test_left');
  const left = `select 1 from pg_database where datname = 'test_left'`;
  other.release();
  expect(await ask(one, left)).toHaveLength(1);
  one.release();
  await until('the database is dropped', async () => {
    const next = await holdWarmServices(ONE, IDLE_MS);
    const found = await ask(next, left);
    next.release();
    return (found as unknown[]).length === 0;
  });
});

test('warm services that have been idle for a while stop, and leave nothing', async () => {
  await until('they have stopped', () => keepersOf(ONE).length === 0, 60_000);
  expect(databasesOf(ONE)).toEqual([]);
  expect(existsSync(join(ONE, 'data'))).toBe(false);
});
