// The service as an operator runs it, on one node or several, and two organisations: one attacks,
// the other is its neighbour.
import { call, type Sender } from '../chaos/call.ts';
import { nodeEnvironment, startProcess } from '../chaos/service-process.ts';
import { createKeys } from '../chaos/tenant.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

export type Stand = {
  /** Of each node. */
  readonly urls: readonly string[];
  readonly attacker: Tenant;
  readonly neighbour: Tenant;
  stop(): Promise<void>;
};

export type Tenant = {
  readonly key: string;
  /** Creates something through the first node. @throws Error where it is refused */
  make(path: string, body: unknown): Promise<void>;
};

const LEASE_MS = 5000;

export async function openStand(count: number): Promise<Stand> {
  const database = await freshDatabase();
  const start = async () => {
    const env = count === 1 ? {} : await nodeEnvironment();
    return startProcess({ databaseUrl: database.url, leaseMs: LEASE_MS, env, upMs: 60_000 });
  };
  const nodes = await Promise.all(Array.from({ length: count }, start));
  const urls = nodes.map(({ url }) => url);
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
    await database.drop();
  };
  try {
    for (const node of nodes) await node.ready();
    await shared(database.url, count);
    const tenant = async (): Promise<Tenant> => {
      const { testKey: key } = await createKeys(database.url);
      return { key, make: (path, body) => make({ url: urls[0]!, key }, path, body) };
    };
    return { urls, attacker: await tenant(), neighbour: await tenant(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when each node serves some of the slots. */
async function shared(databaseUrl: string, count: number): Promise<void> {
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'attacks' });
  try {
    await until('each node serves slots', async () => {
      const [row] = await sql<{ owners: number }[]>`
        select count(distinct node)::int as owners from slots`;
      return row?.owners === count;
    });
  } finally {
    await sql.end();
  }
}

async function make(sender: Sender, path: string, body: unknown): Promise<void> {
  const { status, json } = await call(sender, path, body);
  if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
}
