// Three PostgreSQL under Patroni, three etcd, HAProxy and Redis, in a folder of their own on the
// loopback.
import { must } from '../../ledger/kernel/assert.ts';
import { prepareServiceAccount } from '../../src/platform/embedded/service-account.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { until } from '../support/until.ts';
import { OwnRedis } from '../workers/engine/own-redis.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { type Front, startHaproxy } from './haproxy.ts';
import { Member, PASSWORD, type Replication } from './patroni.ts';
import { makeFolder, removeFolder } from './folder.ts';
import type { Run } from './run.ts';

const NAMES = ['postgres-1', 'postgres-2', 'postgres-3'];
const START_MS_MAX = 90_000;
/** A primary that died comes back as a standby of the next one, rewound or copied anew. */
const WHOLE_MS_MAX = 120_000;
/**
 * Two rounds of Patroni. After an outage of etcd it looks healthy while it still counts its
 * standbys anew; a primary that dies then has no standby to promote.
 */
const SETTLED_MS = 10_000;

type Reported = {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
};

export class Stand {
  readonly members: readonly Member[];
  readonly redisUrl: string;
  readonly dataDir: string;
  readonly etcd: Etcd;
  readonly #front: Front;
  readonly #synchronous: boolean;

  constructor(parts: {
    members: readonly Member[];
    redisUrl: string;
    dataDir: string;
    etcd: Etcd;
    front: Front;
    synchronous: boolean;
  }) {
    this.members = parts.members;
    this.redisUrl = parts.redisUrl;
    this.dataDir = parts.dataDir;
    this.etcd = parts.etcd;
    this.#front = parts.front;
    this.#synchronous = parts.synchronous;
  }

  /** Through HAProxy, to the current primary. */
  get databaseUrl(): string {
    return `postgres://tollhouse:${PASSWORD}@127.0.0.1:${this.#front.port}/tollhouse`;
  }

  async primary(): Promise<Member> {
    const { name } = must(
      (await this.#reported()).find(({ role }) => role === 'leader'),
      'a primary',
    );
    return must(
      this.members.find((member) => member.name === name),
      name,
    );
  }

  async standbys(): Promise<Member[]> {
    const primary = await this.primary();
    return this.members.filter((member) => member !== primary);
  }

  /**
   * Resolves when one is the primary, the others follow it and, if required, count for its commits,
   * and this has lasted.
   */
  async whole(withinMs = WHOLE_MS_MAX): Promise<void> {
    let since = Infinity;
    const settled = async (): Promise<boolean> => {
      const now = performance.now();
      since = this.#isWhole(await this.#reported()) ? Math.min(since, now) : Infinity;
      return now - since >= SETTLED_MS;
    };
    await until('the cluster is whole', settled, withinMs);
  }

  async switchover(): Promise<void> {
    const { name: leader, restPort } = await this.primary();
    const response = await fetch(`http://127.0.0.1:${restPort}/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ leader }),
    });
    if (!response.ok) throw new Error(`no switchover: ${await response.text()}`);
  }

  #isWhole(reported: readonly Reported[]): boolean {
    const leaders = reported.filter(({ role, state }) => role === 'leader' && state === 'running');
    const followers = reported.filter(({ state }) => state === 'streaming');
    const counts = ({ role }: Reported): boolean => role === 'quorum_standby';
    return (
      leaders.length === 1 &&
      followers.length === NAMES.length - 1 &&
      (!this.#synchronous || followers.every(counts)) &&
      new Set(reported.map(({ timeline }) => timeline)).size === 1
    );
  }

  /** What the first of them that answers says of all. */
  async #reported(): Promise<Reported[]> {
    for (const { restPort } of this.members) {
      try {
        const signal = AbortSignal.timeout(500);
        const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal });
        return ((await response.json()) as { members: Reported[] }).members;
      } catch {
        // It is dead or frozen.
      }
    }
    return [];
  }
}

export async function startStand(
  { programs, closers, logs, say }: Run,
  replication: Replication,
): Promise<Stand> {
  say('starting three etcd, three PostgreSQL under Patroni, HAProxy and Redis');
  const dataDir = makeFolder();
  closers.push(() => removeFolder(dataDir, logs));
  const place = prepareServiceAccount(dataDir);
  const redis = await OwnRedis.start();
  closers.push(() => redis.stop());
  const etcd = await startEtcd(programs.etcd, place);
  closers.push(() => etcd.stop());
  const options = { programs, place, replication, etcdHosts: etcd.hosts };
  const members = await Promise.all(NAMES.map((name) => Member.make({ ...options, name })));
  closers.push(async () => {
    for (const member of members) await member.kill();
  });
  for (const member of members) member.start();
  const front = await startHaproxy(programs.haproxy, place, members);
  closers.push(() => front.stop());
  const synchronous = replication === 'quorum';
  const stand = new Stand({ members, redisUrl: redis.url, dataDir, etcd, front, synchronous });
  await stand.whole(START_MS_MAX);
  await createDatabase(await stand.primary());
  return stand;
}

async function createDatabase({ url }: Member): Promise<void> {
  const sql = openPool(url, { max: 1, applicationName: 'failover' });
  try {
    await sql.unsafe(`create role tollhouse login password '${PASSWORD}'`);
    await sql.unsafe('create database tollhouse owner tollhouse');
  } finally {
    await sql.end();
  }
}
