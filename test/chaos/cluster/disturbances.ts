// The disturbances of a cluster. Each resolves when it is over, with what the comparison needs to
// know.
import type { Redis } from 'ioredis';
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import type { Random } from '../../support/random.ts';
import type { OwnPostgres } from '../own-postgres.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import type { Probes } from './probes.ts';
import type { Reader } from './reader.ts';

export type Stage = {
  readonly fleet: Fleet;
  readonly postgres: OwnPostgres;
  readonly redis: Redis;
  readonly sql: Sql;
  readonly customers: readonly string[];
  readonly probes: Probes;
  readonly reader: Reader;
  readonly random: Random;
  readonly leaseMs: number;
};

/** When each customer of a node was served again; null where it was not. */
export type Outcome = { readonly servedAfterMs?: readonly (number | null)[] };

export type Disturbance = (stage: Stage, node: FleetNode) => Promise<Outcome>;

/** A killed node's customers are served again within the lease plus this. */
export const TAKEOVER_MS = 2000;
/** The longest wait for them. */
const SERVED_MS_MAX = 30_000;
/** A request at the moment of waking may take as long as the node's first look at the database. */
const WAKE_MS_MAX = 10_000;
const ASKED_BEFORE_WAKE = 8;

const kill: Disturbance = async ({ sql, customers, probes, random, leaseMs }, node) => {
  const owned = await node.owned(sql, customers);
  const since = performance.now();
  await node.kill();
  const back = Bun.sleep(random.integer(0, 2 * leaseMs)).then(() => node.start());
  const servedAfterMs = await probes.served(owned, since, SERVED_MS_MAX);
  await back;
  return { servedAfterMs };
};

/**
 * The node is frozen for longer than its lease. It finds the requests of that time when it wakes;
 * it must answer neither those nor new ones from memory.
 */
const freeze: Disturbance = async (stage, node) => {
  const { sql, customers, probes, reader, random, leaseMs } = stage;
  const owned = await node.owned(sql, customers);
  const since = performance.now();
  node.freeze();
  const served = probes.served(owned, since, SERVED_MS_MAX);
  await Bun.sleep(leaseMs + random.integer(500, 1500 + leaseMs));
  const servedAfterMs = await served;
  const mine = owned.length === 0 ? customers : owned;
  const askAll = () => [
    reader.batch(node.url, mine, WAKE_MS_MAX),
    ...mine
      .slice(0, ASKED_BEFORE_WAKE)
      .map((one) => reader.check(node.url, one, undefined, WAKE_MS_MAX)),
    ...mine.slice(0, ASKED_BEFORE_WAKE).map((one) => reader.balances(node.url, one, WAKE_MS_MAX)),
  ];
  const asked = askAll();
  await Bun.sleep(random.integer(50, 300));
  node.thaw();
  asked.push(...askAll());
  await Promise.all(asked);
  return { servedAfterMs };
};

const roll: Disturbance = async (_stage, node) => {
  await node.leave();
  await node.start();
  return {};
};

const cutPeers: Disturbance = async ({ random }, node) => {
  await cutAgainAndAgain(random, () => node.peers.cut());
  return {};
};

const cutDatabase: Disturbance = async ({ random }, node) => {
  await cutAgainAndAgain(random, () => node.database.cut());
  return {};
};

const silencePeers: Disturbance = async ({ random, leaseMs }, node) => {
  node.peers.freeze();
  await Bun.sleep(random.integer(200, 2 * leaseMs));
  node.peers.thaw();
  return {};
};

/**
 * The cut is shorter than a lease, or longer: then other nodes take over, and what this one sent
 * arrives late.
 */
const silenceDatabase: Disturbance = async ({ random, leaseMs }, node) => {
  node.database.freeze();
  await Bun.sleep(random.integer(200, 2 * leaseMs));
  node.database.thaw();
  return {};
};

const restartDatabase: Disturbance = async ({ postgres }) => {
  await postgres.crash('SIGQUIT');
  await postgres.running();
  return {};
};

const killDatabase: Disturbance = async ({ postgres }) => {
  await postgres.crash('SIGKILL');
  await postgres.running();
  return {};
};

const flushRedis: Disturbance = async ({ redis }) => {
  await redis.flushall();
  return {};
};

async function cutAgainAndAgain(random: Random, cut: () => void): Promise<void> {
  for (let left = random.integer(1, 5); left > 0; left -= 1) {
    cut();
    await Bun.sleep(random.integer(10, 400));
  }
}

export const DISTURBANCES = {
  kill,
  freeze,
  roll,
  'cut peers': cutPeers,
  'silent peers': silencePeers,
  'cut database': cutDatabase,
  'silent database': silenceDatabase,
  'database stopped': restartDatabase,
  'database killed': killDatabase,
  'redis flushed': flushRedis,
} satisfies Record<string, Disturbance>;

export type DisturbanceName = keyof typeof DISTURBANCES;
