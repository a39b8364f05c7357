// A Redis Cluster of three on this machine.
import type { Redis } from 'ioredis';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { OwnRedis } from './own-redis.ts';

const SLOTS = 16_384;
const NODES = 3;
/** A node that is silent for this long is down, and then the others refuse commands. */
const AWAY_MS = 1000;

export type OwnCluster = {
  /** As REDIS_URL takes it. */
  readonly url: string;
  readonly nodes: readonly OwnRedis[];
  stop(): Promise<void>;
};

export async function startOwnCluster(): Promise<OwnCluster> {
  const started = Array.from({ length: NODES }, async () => {
    const bus = await freePort();
    const settings = ['--cluster-enabled', 'yes', '--cluster-port', `${bus}`];
    const away = ['--cluster-node-timeout', `${AWAY_MS}`];
    return { bus, node: await OwnRedis.start([...settings, ...away]) };
  });
  const all = await Promise.all(started);
  const [first] = all;
  for (const [index, { node }] of all.entries()) {
    const from = Math.ceil((index * SLOTS) / NODES);
    const to = Math.ceil(((index + 1) * SLOTS) / NODES) - 1;
    await node.ask((redis) => redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to));
    if (first === undefined || node === first.node) continue;
    await node.ask((redis) =>
      redis.call('CLUSTER', 'MEET', '127.0.0.1', first.node.port, first.bus),
    );
  }
  const nodes = all.map(({ node }) => node);
  const isWhole = async (redis: Redis): Promise<boolean> =>
    (await redis.cluster('INFO')).includes('cluster_state:ok');
  for (const node of nodes) await until('the cluster is whole', () => node.ask(isWhole));
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
