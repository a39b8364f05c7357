// A database of its own for each test file, made from a template that was migrated once.
//
// A template is named after the migrations' content, so that a server that outlives the run never
// serves an old one. It gets its name only when it is complete. Files may run in parallel
// processes: one builds it under an advisory lock, the others wait.
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { migrate } from '../../src/database/migrate.ts';
import { testServices } from './services.ts';

const DATABASE = join(import.meta.dir, '../../src/database');
const LOCK_KEY = 7_206_518;
/** A closed connection leaves the server's list a moment after the client has gone. */
const CLOSE_MS_MAX = 2000;

export interface FreshDatabase {
  readonly url: string;
  /** Drops it. Close every connection before. @throws Error that lists those that are still open */
  drop(): Promise<void>;
}

/** What a template has, and the name of that. */
export interface Content {
  readonly name: string;
  /** Closes what it opens. */
  readonly fill: (url: string) => Promise<void>;
}

const NEWEST: Content = { name: 'newest', fill: (url) => migrate(url) };

/**
 * Call in `beforeAll`, and `drop()` in `afterAll`.
 * @throws Error where the servers are missing or a migration fails
 */
export async function freshDatabase(content = NEWEST): Promise<FreshDatabase> {
  const { databaseUrl } = testServices();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withServer(databaseUrl, async (sql) => {
    const template = await ensureTemplate(sql, databaseUrl, content);
    // Half the work of the other strategy, which writes each page to the log.
    await sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`;
  });
  return {
    url: urlOf(databaseUrl, name),
    drop: () => withServer(databaseUrl, (sql) => drop(sql, name)),
  };
}

async function ensureTemplate(sql: Sql, databaseUrl: string, content: Content): Promise<string> {
  const name = `template_${migrations()}_${content.name}`;
  if (await exists(sql, name)) return name;
  await sql`select pg_advisory_lock(${LOCK_KEY})`;
  try {
    if (await exists(sql, name)) return name;
    const unfinished = `${name}_unfinished`;
    await sql`drop database if exists ${sql(unfinished)} with (force)`;
    await sql`create database ${sql(unfinished)}`;
    await content.fill(urlOf(databaseUrl, unfinished));
    const open = await untilClosed(sql, unfinished);
    if (open.length > 0) throw new Error(`${name} left connections open: ${open.join('; ')}`);
    await sql`alter database ${sql(unfinished)} rename to ${sql(name)}`;
  } finally {
    await sql`select pg_advisory_unlock(${LOCK_KEY})`;
  }
  return name;
}

let known: string | undefined;
/** Their content does not change while a test runs. */
function migrations(): string {
  return (known ??= hashOf(DATABASE).slice(0, 16));
}

async function drop(sql: Sql, name: string): Promise<void> {
  const open = await untilClosed(sql, name);
  await sql`drop database ${sql(name)} with (force)`;
  if (open.length > 0) throw new Error(`connections were left open:\n${open.join('\n')}`);
}

/** Connections that should be closed, one line each. */
async function untilClosed(sql: Sql, name: string): Promise<string[]> {
  const deadline = performance.now() + CLOSE_MS_MAX;
  for (;;) {
    const open = await sql<{ line: string }[]>`
      select application_name || ' (' || coalesce(state, '') || '): ' || query as line
      from pg_stat_activity where datname = ${name} and backend_type = 'client backend'`;
    if (open.length === 0 || performance.now() > deadline) return open.map(({ line }) => line);
    await Bun.sleep(5);
  }
}

async function exists(sql: Sql, name: string): Promise<boolean> {
  const found = await sql`select 1 from pg_database where datname = ${name}`;
  return found.length > 0;
}

/** One connection, because it owns the advisory lock. */
async function withServer<T>(url: string, task: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    return await task(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function urlOf(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function hashOf(directory: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(directory, { recursive: true }).map(String).sort()) {
    const path = join(directory, name);
    if (statSync(path).isFile()) hash.update(name).update(readFileSync(path));
  }
  return hash.digest('hex');
}
