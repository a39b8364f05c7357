// Nodes under test: real processes on one database, each with a port of its own.
import postgres, { type Sql } from 'postgres';
import { slotOf } from '../../../ledger/kernel/slot.ts';
import type { Closers } from '../../support/closers.ts';
import { freePort } from '../../support/free-port.ts';
import { type Child } from '../bed/child.ts';
import { createOrganisation, seed, startService, type Stores } from '../bed/service.ts';
import { postmasterOf } from '../probes/database.ts';

const SECRET = 'what the nodes of a bench have in common';
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const SHARED_MS_MAX = 30_000;
const POLL_MS = 20;

/** A template database with all customers and no node, and what the parts of the bench share. */
export type Bed = {
  readonly stores: Stores;
  readonly admin: Sql;
  readonly authorization: string;
  readonly postmaster: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
};

export async function openBed(
  stores: Stores,
  closers: Closers,
  { signal, say }: Pick<Bed, 'signal' | 'say'>,
): Promise<Bed> {
  say('making customers');
  const seeder = await startService(stores);
  const { authorization } = await createOrganisation(stores);
  try {
    await seed(seeder.port, authorization);
  } finally {
    await seeder.stop();
  }
  const admin = postgres(withDatabase(stores, 'postgres').databaseUrl, { max: 1 });
  closers.push(() => admin.end({ timeout: 5 }));
  const postmaster = await postmasterOf(admin);
  return { stores, admin, authorization, postmaster, signal, say };
}

export class Nodes {
  readonly bed: Bed;
  readonly sql: Sql;
  readonly #stores: Stores;
  readonly #places: readonly Place[];
  readonly #running = new Map<number, Child>();

  private constructor(bed: Bed, stores: Stores, places: readonly Place[]) {
    this.bed = bed;
    this.#stores = stores;
    this.#places = places;
    this.sql = postgres(stores.databaseUrl, { max: 1 });
  }

  /** On a copy of the database. Resolves when all serve their share. */
  static async open(bed: Bed, closers: Closers, count: number): Promise<Nodes> {
    const { admin, stores } = bed;
    const name = `bench_${crypto.randomUUID().slice(0, 8)}`;
    const template = new URL(stores.databaseUrl).pathname.slice(1);
    await admin`create database ${admin(name)} template ${admin(template)}`;
    const places: Place[] = [];
    for (let made = 0; made < count; made += 1) {
      places.push({ port: await freePort(), address: `127.0.0.1:${await freePort()}` });
    }
    const nodes = new Nodes(bed, withDatabase(stores, name), places);
    closers.push(() => nodes.#close());
    for (let at = 0; at < count; at += 1) await nodes.start(at);
    await nodes.shared();
    return nodes;
  }

  get ports(): readonly number[] {
    return this.#places.map(({ port }) => port);
  }

  get pids(): readonly number[] {
    return [...this.#running.values()].map(({ pid }) => pid);
  }

  /** Resolves when it is ready. */
  async start(at: number): Promise<void> {
    const { address, port } = this.#place(at);
    const env = {
      NODE_ADDRESS: address,
      NODE_SECRET: SECRET,
      SECRETS_KEY,
      DELIVER_WEBHOOKS: 'false',
    };
    this.#running.set(at, await startService(this.#stores, env, port));
  }

  /** SIGTERM; resolves when it has ended. */
  async leave(at: number): Promise<void> {
    const child = this.#running.get(at);
    await child?.stop();
    this.#running.delete(at);
  }

  /** SIGKILL. */
  kill(at: number): void {
    const child = this.#running.get(at);
    if (child !== undefined) process.kill(child.pid, 'SIGKILL');
    this.#running.delete(at);
  }

  /** Resolves when each running node owns its final slots. */
  async shared(): Promise<void> {
    const running = [...this.#running.keys()].map((at) => this.#place(at).address);
    const deadline = performance.now() + SHARED_MS_MAX;
    for (let [known, since] = ['', 0]; performance.now() < deadline; await Bun.sleep(POLL_MS)) {
      this.bed.signal.throwIfAborted();
      const owners = await this.#owners();
      const now = owners.join();
      if (now !== known) [known, since] = [now, performance.now()];
      const holders = new Set(owners);
      const isShared = holders.size === running.length && running.every((one) => holders.has(one));
      // A node that is to take or give slots does so within one survey of the other.
      if (isShared && performance.now() - since > QUIET_MS) return;
    }
    throw new Error('the nodes do not come to share the slots');
  }

  /** The numbers of the customers that it owns. */
  async customersOf(at: number): Promise<readonly number[]> {
    const { address } = this.#place(at);
    const owners = await this.#owners();
    const customers = await this.sql<{ id: string; number: number }[]>`
      select id, right(external_customer_id, 7)::int as number from customers where external_customer_id like 'cust-%'
      order by number`;
    return customers.filter(({ id }) => owners[slotOf(id)] === address).map(({ number }) => number);
  }

  /** Addresses by slot. */
  async #owners(): Promise<readonly (string | null)[]> {
    const rows = await this.sql<{ address: string | null }[]>`
      select nodes.address from slots left join nodes on nodes.id = slots.node order by slot`;
    return rows.map(({ address }) => address);
  }

  #place(at: number): Place {
    const place = this.#places[at];
    if (place === undefined) throw new Error(`no node ${at}`);
    return place;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((at) => this.leave(at)));
    await this.sql.end({ timeout: 5 });
  }
}

type Place = { readonly port: number; readonly address: string };

/** A node looks once a second, and when it is notified. */
const QUIET_MS = 1200;

function withDatabase(stores: Stores, name: string): Stores {
  const url = new URL(stores.databaseUrl);
  url.pathname = `/${name}`;
  return { ...stores, databaseUrl: url.href };
}
