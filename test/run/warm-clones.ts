// Warm services in clones of this test alone.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { until } from '../support/until.ts';
import { DIRECTORIES, type WarmServices } from './warm.ts';

/** Until the keeper is told to stop. */
export const LONG_MS = 600_000;

const clones = mkdtempSync(join(tmpdir(), 'tollhouse-clones-'));
chmodSync(clones, 0o711);
const directoryOf = (name: string) => join(clones, DIRECTORIES.replace('*', name));
export const ONE = directoryOf('one');
export const OTHER = directoryOf('other');

export const keepersOf = (directory: string) => pidsOf(`keeper.ts ${directory}`);
export const databasesOf = (directory: string) => pidsOf(`postgres -D ${directory}/`);

function pidsOf(command: string): number[] {
  const { stdout } = Bun.spawnSync(['pgrep', '-f', command]);
  return stdout.toString().trim().split('\n').filter(Boolean).map(Number);
}

/** Ends all keepers. */
export async function endAll(): Promise<void> {
  for (const pid of keepersOf(clones)) process.kill(pid, 'SIGTERM');
  await until('they have stopped', () => keepersOf(clones).length === 0);
  rmSync(clones, { recursive: true });
}

export async function ask({ databaseUrl }: WarmServices, query: string): Promise<unknown> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  try {
    return await sql.unsafe(query);
  } finally {
    await sql.end();
  }
}
