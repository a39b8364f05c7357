// Three nodes of etcd: two of them decide who holds the leader's lease.
import { join } from 'node:path';
import { makeOwned, type ServiceAccount } from '../../src/platform/embedded/service-account.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { Daemon } from './daemon.ts';

const NODES = ['etcd-1', 'etcd-2', 'etcd-3'];

export type Etcd = {
  /** host:port of each. */
  readonly hosts: readonly string[];
  readonly nodes: readonly Daemon[];
  stop(): Promise<void>;
};

export async function startEtcd(program: string, place: ServiceAccount): Promise<Etcd> {
  const members = await Promise.all(
    NODES.map(async (name) => ({
      name,
      client: `127.0.0.1:${await freePort()}`,
      peer: `http://127.0.0.1:${await freePort()}`,
    })),
  );
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',');
  const nodes = members.map(({ name, client, peer }) => {
    const folder = join(place.directory, name);
    makeOwned(folder, place.account);
    const options = {
      name,
      'data-dir': folder,
      'listen-client-urls': `http://${client}`,
      'advertise-client-urls': `http://${client}`,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': cluster,
      'log-level': 'error',
    };
    const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    return new Daemon(name, place, [program, ...args]);
  });
  for (const node of nodes) node.start();
  const hosts = members.map(({ client }) => client);
  await until('etcd answers', async () => (await Promise.all(hosts.map(isHealthy))).every(Boolean));
  return {
    hosts,
    nodes,
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
    },
  };
}

async function isHealthy(host: string): Promise<boolean> {
  try {
    return (await fetch(`http://${host}/health`)).ok;
  } catch {
    return false;
  }
}
