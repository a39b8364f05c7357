// `--processes N`: a parent that serves nothing itself, and N nodes on the same port.
//
//     parent: services, schema, demo ──environment──▶ node 1 … node N: src/main.ts
//                                    ◀──"serving"────
//
// Holds: a node that dies is started again. Nodes leave one after the other, so each can hand over
// its slots, and one of them answers until the last one leaves. A node without its parent leaves.
//
// Peers: the nodes of one machine derive their secret from SECRETS_KEY, so the nodes of two starts
// on one database know each other, and one start can replace the other. With several machines,
// NODE_ADDRESS and NODE_SECRET are set, and the nodes take the ports from that one on.
import { spawn } from 'node:child_process';
import { hkdfSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { promises as timers } from 'node:timers';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { bind, claimPort, unbind } from './platform/net/listen.ts';
import type { StopStep } from './platform/embedded/processes.ts';
import {
  type Log,
  type ServiceSpec,
  supervise,
  type Supervised,
} from './platform/embedded/supervisor.ts';

/** After this time all remaining nodes leave at once. */
const IN_TURN_MS_MAX = 30_000;
/** The first is longer than a node gives itself. */
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGTERM', waitMs: 18_000 },
  { signal: 'SIGKILL', waitMs: 5000 },
];
const SERVING = 'serving';
const LOOPBACK = '127.0.0.1';
/** Pools, lanes, streams, journal, changes, keys, metrics, a worker and a mailer of one node. */
const CONNECTIONS_PER_NODE = 70;
const CONNECTIONS_OF_OTHERS = 48;

type Environment = Readonly<Record<string, string | undefined>>;
type NodeAddress = { readonly address: string; readonly listen: string };

export type FleetOptions = {
  readonly processes: number;
  readonly env: Environment;
  readonly config: Config;
  readonly secretsKey: Uint8Array;
  readonly services: {
    readonly databaseUrl: string;
    readonly redisUrl: string;
    readonly embedded: boolean;
  };
  readonly log: Log;
};

/** Of an embedded PostgreSQL that so many nodes share. */
export function connectionsOf(processes: number): number {
  return processes * CONNECTIONS_PER_NODE + CONNECTIONS_OF_OTHERS;
}

/**
 * Resolves when all nodes serve, with a function that makes them leave. @throws ServiceFailure;
 * then no node is left running
 */
export async function openFleet(options: FleetOptions): Promise<() => Promise<void>> {
  const { config, services, log } = options;
  // Another program there may use another database, and the kernel would give each the other's
  // callers.
  if (services.embedded) await claimPort({ port: config.port, setBy: 'PORT' }, config.host);
  const places = await placesOf(options);
  const specs = places.map((place, index) =>
    specOf(place.address, environmentOf(options, { place, index })),
  );
  const started = await Promise.allSettled(specs.map((spec) => supervise(spec, log)));
  const nodes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw failed.reason;
  }
  return () => leaveInTurn(nodes);
}

/** For a node: it ends with its parent. Returns what tells the parent that it serves. */
export function followParent(): () => void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  return () => process.send?.(SERVING);
}

async function leaveInTurn(nodes: readonly Supervised[]): Promise<void> {
  const done = new AbortController();
  const late = timers
    .setTimeout(IN_TURN_MS_MAX, undefined, { signal: done.signal })
    .catch(() => undefined);
  const leaving: Promise<void>[] = [];
  for (const node of nodes) {
    const left = node.stop();
    leaving.push(left);
    await Promise.race([left, late]);
  }
  await Promise.all(leaving);
  done.abort();
}

function specOf(address: string, env: Environment): ServiceSpec {
  return {
    name: `node ${address}`,
    stopSteps: STOP_STEPS,
    prepare: () => Promise.resolve(),
    // Leading a session of its own: a Ctrl-C reaches the parent alone, which lets them leave in
    // turn.
    launch: () =>
      spawn(process.execPath, [join(import.meta.dir, 'main.ts')], {
        env,
        detached: true,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    ready: (child, signal) =>
      new Promise((resolve) => {
        child.once('message', () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    lastWords: () => 'its own words are above',
  };
}

function environmentOf(
  { env, config, secretsKey, services }: FleetOptions,
  { place, index }: { readonly place: NodeAddress; readonly index: number },
): Environment {
  const { metricsPort, node, allowLoopbackUrls } = config;
  return {
    ...env,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    // Its default is another one where DATABASE_URL is set.
    ALLOW_LOOPBACK_URLS: String(allowLoopbackUrls),
    SECRETS_KEY: Buffer.from(secretsKey).toString('base64'),
    NODE_ADDRESS: place.address,
    NODE_LISTEN: place.listen,
    NODE_SECRET: node?.secret ?? secretOfNodes(secretsKey),
    REUSE_PORT: 'true',
    ...(metricsPort !== undefined && { METRICS_PORT: String(metricsPort + index) }),
  };
}

function secretOfNodes(secretsKey: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', 'tollhouse nodes', 32)).toString('base64');
}

/**
 * On one machine: any ports that are free, which no other machine reaches. On several: those from
 * the given one on.
 */
async function placesOf({
  config: { node },
  processes,
}: FleetOptions): Promise<readonly NodeAddress[]> {
  if (node === undefined) {
    const ports = await freePorts(processes);
    return ports.map((port) => ({ address: `${LOOPBACK}:${port}`, listen: `${LOOPBACK}:${port}` }));
  }
  const { address, listen } = node;
  return Array.from({ length: processes }, (_, index) => ({
    address: further(address, index),
    listen: further(listen, index),
  }));
}

function further(hostPort: string, by: number): string {
  const at = hostPort.lastIndexOf(':') + 1;
  return `${hostPort.slice(0, at)}${Number(hostPort.slice(at)) + by}`;
}

/** Open at the same time, so that they differ. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => bind({ port: 0, host: LOOPBACK })),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(unbind));
  return ports;
}
