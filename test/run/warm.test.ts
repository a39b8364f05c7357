// A run finds services that answer, whatever happened to earlier runs and keepers.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { until } from '../support/until.ts';
import { DIRECTORIES, holdWarmServices, type WarmServices } from './warm.ts';

setDefaultTimeout(120_000);

const IDLE_MS = 500;
/** Until the keeper is told to stop. */
const LONG_MS = 600_000;

const clones = mkdtempSync(join(tmpdir(), 'tollhouse-clones-'));
chmodSync(clones, 0o711);
const [ONE, OTHER] = ['one', 'other'].map((name) => join(clones, DIRECTORIES.replace('*', name)));

const keepersOf = (directory: string) => pidsOf(`keeper.ts ${directory}`);
const databasesOf = (directory: string) => pidsOf(`postgres -D ${directory}/`);

function pidsOf(command: string): number[] {
  const { stdout } = Bun.spawnSync(['pgrep', '-f', command]);
  return stdout.toString().trim().split('\n').filter(Boolean).map(Number);
}

afterAll(async () => {
  for (const pid of keepersOf(clones)) process.kill(pid, 'SIGTERM');
  await until('they have stopped', () => keepersOf(clones).length === 0);
  rmSync(clones, { recursive: true });
});

async function ask({ databaseUrl }: WarmServices, query: string): Promise<unknown> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  try {
    return await sql.unsafe(query);
  } finally {
    await sql.end();
  }
}

test('two runs at once have the same, and what they leave is dropped with the last', async () => {
  const [one, other] = await Promise.all([
    holdWarmServices(ONE, LONG_MS),
    holdWarmServices(ONE, LONG_MS),
  ]);
  expect(one.databaseUrl).toBe(other.databaseUrl);
  await until('the second keeper has left', () => keepersOf(ONE!).length === 1);
  await ask(one, 'create database test_left');
  const left = `select 1 from pg_database where datname = 'test_left'`;
  other.release();
  expect(await ask(one, left)).toHaveLength(1);
  one.release();
  await until('the database is dropped', async () => {
    const next = await holdWarmServices(ONE, LONG_MS);
    const found = await ask(next, left);
    next.release();
    return (found as unknown[]).length === 0;
  });
});

test('a keeper that is killed is replaced, and what it kept is ended', async () => {
  const before = databasesOf(ONE!);
  expect(before.length).toBeGreaterThan(0);
  process.kill(keepersOf(ONE!)[0]!, 'SIGKILL');
  const services = await holdWarmServices(ONE, LONG_MS);
  expect(await ask(services, 'select 1')).toHaveLength(1);
  expect(databasesOf(ONE!).filter((pid) => before.includes(pid))).toEqual([]);
  services.release();
});

test('what was killed in one clone is ended by the keeper of another', async () => {
  process.kill(keepersOf(ONE!)[0]!, 'SIGKILL');
  const services = await holdWarmServices(OTHER, IDLE_MS);
  expect(databasesOf(ONE!)).toEqual([]);
  services.release();
});

test('when they have been idle for a while they stop, and leave nothing', async () => {
  await until('they have stopped', () => keepersOf(OTHER!).length === 0, 60_000);
  expect(databasesOf(OTHER!)).toEqual([]);
  expect(existsSync(join(OTHER!, 'data'))).toBe(false);
});
