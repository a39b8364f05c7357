// Nodes on one database as an operator runs them. Each has a proxy before its database and before
// its port for the other nodes.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { slotOf } from '../../../ledger/kernel/slot.ts';
import { freePort } from '../../support/free-port.ts';
import { type Proxy, startProxy } from '../../support/proxy.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
import { until } from '../../support/until.ts';
import { MONEY_ENV } from '../money.ts';
import { type ServiceProcess, startProcess } from '../service-process.ts';

const SECRET = 'a secret that all nodes of a run share';
/** The bound for an overloaded machine. */
const UP_MS_MAX = 60_000;
const READY_MS_MAX = 30_000;
const EXIT_MS_MAX = 30_000;

export type FleetOptions = {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly leaseMs: number;
  readonly nodes: number;
};

export class Fleet {
  readonly nodes: FleetNode[] = [];
  readonly options: FleetOptions;

  private constructor(options: FleetOptions) {
    this.options = options;
  }

  /** Resolves when all of them answer and one serves. */
  static async open(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    try {
      for (let made = 0; made < options.nodes; made += 1) await fleet.join();
      await until('a node serves', () => fleet.anyReady(), READY_MS_MAX);
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  /** Starts one more; resolves when it answers. */
  async join(): Promise<FleetNode> {
    const name = String.fromCharCode('a'.charCodeAt(0) + this.nodes.length);
    const node = await FleetNode.open(name, this.options);
    this.nodes.push(node);
    await node.start();
    return node;
  }

  async anyReady(): Promise<boolean> {
    const ready = await Promise.all(this.nodes.map((node) => node.isReady()));
    return ready.includes(true);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

export class FleetNode {
  readonly name: string;
  readonly url: string;
  /** The address for the other nodes. */
  readonly address: string;
  readonly database: Proxy;
  readonly peers: Proxy;
  readonly #listen: string;
  readonly #options: FleetOptions;
  readonly #earlier: string[] = [];
  #process: ServiceProcess | undefined;

  private constructor(
    options: FleetOptions,
    parts: Pick<FleetNode, 'name' | 'url' | 'database' | 'peers'> & { readonly listen: string },
  ) {
    this.#options = options;
    this.name = parts.name;
    this.url = parts.url;
    this.database = parts.database;
    this.peers = parts.peers;
    this.#listen = parts.listen;
    this.address = new URL(parts.peers.url).host;
  }

  static async open(name: string, options: FleetOptions): Promise<FleetNode> {
    const url = `http://127.0.0.1:${await freePort()}`;
    const listen = `127.0.0.1:${await freePort()}`;
    const [database, peers] = await Promise.all([
      startProxy(options.databaseUrl),
      startProxy(`http://${listen}`),
    ]);
    return new FleetNode(options, { name, url, listen, database, peers });
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const { redisUrl, leaseMs } = this.#options;
    this.#earlier.push(...(this.#process?.logged ?? []));
    this.#process = await startProcess({
      databaseUrl: this.database.url,
      redisUrl,
      leaseMs,
      port: Number(new URL(this.url).port),
      upMs: UP_MS_MAX,
      env: {
        ...MONEY_ENV,
        NODE_ADDRESS: this.address,
        NODE_LISTEN: this.#listen,
        NODE_SECRET: SECRET,
        SECRETS_KEY: Buffer.from(TEST_SECRETS_KEY).toString('base64'),
        ALLOW_LOOPBACK_URLS: 'true',
      },
    });
    await this.#process.up();
  }

  /** Since the first start. */
  get logged(): readonly string[] {
    return [...this.#earlier, ...(this.#process?.logged ?? [])];
  }

  async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/ready`, { signal: AbortSignal.timeout(500) })).ok;
    } catch {
      return false;
    }
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  freeze(): void {
    this.#process?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#process?.signal('SIGCONT');
  }

  /** SIGTERM; resolves when it has ended. @throws where it ends with an error, or not in time */
  async leave(): Promise<void> {
    const leaving = this.#process;
    leaving?.signal('SIGTERM');
    const late = Bun.sleep(EXIT_MS_MAX).then(() => 'not in time');
    const exit = await Promise.race([leaving?.exited, late]);
    if (exit !== 0) throw new Error(`node ${this.name} left with ${exit}`);
  }

  async stop(): Promise<void> {
    this.database.thaw();
    this.peers.thaw();
    await this.#process?.kill();
    await Promise.all([this.database.stop(), this.peers.stop()]);
  }

  /** Which of these actors this node owns now, as the database says. */
  async owned(sql: Sql, customers: readonly string[]): Promise<string[]> {
    const slots = await this.slots(sql);
    return customers.filter((customer) => slots.has(slotOf(customer)));
  }

  async slots(sql: Sql): Promise<ReadonlySet<number>> {
    const rows = await sql<{ slot: number }[]>`
      select slot from slots join nodes on nodes.id = slots.node where address = ${this.address}`;
    return new Set(rows.map(({ slot }) => slot));
  }
}
