// Every page of the dashboard of an organisation with a hundred thousand customers, one at a time,
// with a neighbour of the same size in the same database.
//
// A page takes what a client on the same machine waits for all of it: what the server does, and the
// loopback. What PostgreSQL spends 50 ms on in a statement is named beside the page.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import type { Closers } from '../../support/closers.ts';
import { aMember, signedIn } from '../../http/people/tab.ts';
import { startService, type Stores } from '../bed/service.ts';
import { type Asked, everythingAsked } from './asked.ts';
import { makeWorld, type World } from './world.ts';

/** Of server time: issue 17. */
export const PAGE_MS_MAX = 300;
const STATEMENT_MS = 50;
export const COUNTS_STATEMENTS = "shared_preload_libraries = 'pg_stat_statements'\n";
/** Rows of the customer with the most, for each customer that there is. */
const MOST = 0.05;

export type Taken = Asked & {
  readonly status: number;
  /** The first one too: it may find a customer out of memory. */
  readonly ms: readonly number[];
  readonly bytes: number;
  /** Statements that took long, the longest first. */
  readonly slow: readonly { readonly ms: number; readonly text: string }[];
};

export async function runDashboard(
  stores: Stores,
  closers: Closers,
  options: {
    readonly customers: number;
    readonly rounds: number;
    readonly signal: AbortSignal;
    readonly say: (line: string) => void;
  },
): Promise<Taken[]> {
  const { customers, rounds, signal, say } = options;
  const sizes = { customers, most: Math.ceil(customers * MOST) };
  const world = await makeWorld(stores, closers, { sizes, say });
  const child = await startService(stores);
  closers.push(() => child.stop());
  const url = `http://127.0.0.1:${child.port}`;
  const ask = await askerOf(world, url);
  await world.sql`create extension if not exists pg_stat_statements`;
  const taken: Taken[] = [];
  for (const asked of await everythingAsked(world)) {
    signal.throwIfAborted();
    taken.push(await measure(world.sql, { asked, rounds, ask }));
  }
  return taken;
}

type Ask = (asked: Asked) => Promise<{ readonly status: number; readonly bytes: number }>;

async function askerOf({ sql, organisation }: World, url: string): Promise<Ask> {
  const owner = await aMember({ sql, organisation }, 'owner', {
    email: 'owner@example.com',
  });
  const { cookie } = await signedIn({ sql, url }, owner);
  const base = `${url}/dashboard/${organisation.id}/test`;
  return async ({ kind, path }) => {
    const response =
      kind === 'page'
        ? await fetch(base + path, {
            headers: { cookie: `__Host-tollhouse=${cookie}` },
            redirect: 'manual',
          })
        : await fetch(url + path, {
            headers: { authorization: `Bearer ${organisation.testKey}` },
          });
    const { byteLength } = await response.arrayBuffer();
    return { status: response.status, bytes: byteLength };
  };
}

async function measure(
  sql: Sql,
  { asked, rounds, ask }: { readonly asked: Asked; readonly rounds: number; readonly ask: Ask },
): Promise<Taken> {
  await sql`select pg_stat_statements_reset()`;
  const ms: number[] = [];
  let answer = { status: 0, bytes: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    answer = await ask(asked);
    ms.push(performance.now() - began);
  }
  const slow = await sql<{ ms: number; text: string }[]>`
    select max_exec_time as ms, regexp_replace(left(query, 200), '\\s+', ' ', 'g') as text
    from pg_stat_statements where max_exec_time > ${STATEMENT_MS}
      and dbid = (select oid from pg_database where datname = current_database())
    order by 1 desc limit 5`;
  return { ...asked, ...answer, ms, slow };
}
