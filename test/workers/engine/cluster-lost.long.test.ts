// A Redis Cluster without replicas loses the node that has the queue. Nothing is lost, and nothing
// is sent twice, since no worker dies.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { audit } from '../../../src/database/audit.ts';
import { until } from '../../support/until.ts';
import { Bed, type Endpoint } from './bed.ts';
import { type OwnCluster, startOwnCluster } from './own-cluster.ts';
import type { OwnRedis } from './own-redis.ts';
import { Sink } from './sink.ts';

const ENDPOINTS = 10;
/** More than a ticket takes at once. */
const EVENTS_IN_FLIGHT = 40;

setDefaultTimeout(60_000);

let cluster: OwnCluster;
let bed: Bed;
let sink: Sink;
let endpoints: Endpoint[];
let events: string[];

beforeEach(async () => {
  cluster = await startOwnCluster();
  bed = await Bed.start({ engines: 0, faster: 1 });
  for (let engine = 0; engine < 2; engine += 1) await bed.addEngine({ redisUrl: cluster.url });
  sink = new Sink();
  endpoints = await Promise.all(
    Array.from({ length: ENDPOINTS }, (_, index) => bed.endpoint(`${sink.url}/${index}`)),
  );
  events = [];
});
afterEach(async () => {
  expect(await audit(bed.server.sql)).toEqual([]);
  await bed.stop();
  await sink.stop();
  await cluster.stop();
});

async function owe(count: number): Promise<void> {
  events.push(...(await bed.events(count)));
}

async function allDelivered(): Promise<void> {
  const owed = endpoints.flatMap(() => events).toSorted();
  await until('all arrived', () => sink.arrivals.length >= owed.length);
  for (const { id } of endpoints) await bed.all(id, 'delivered');
  expect(sink.ids.toSorted()).toEqual(owed);
}

/** The node that the queue is on. */
async function queueNode(): Promise<OwnRedis> {
  const counts = await Promise.all(cluster.nodes.map((node) => node.keys()));
  return must(cluster.nodes[counts.indexOf(Math.max(...counts))], 'a node');
}

test('deliveries are made though the Redis node of the queue is emptied while they are due and in flight', async () => {
  const held = Promise.withResolvers<undefined>();
  sink.answer = () => held.promise.then(() => new Response());
  await owe(EVENTS_IN_FLIGHT);
  await until('some are in flight', () => sink.arrivals.length > 0);
  await (await queueNode()).flush();
  held.resolve(undefined);
  await allDelivered();
});

test('deliveries are made though each Redis node in turn is killed, and back, empty', async () => {
  for (const node of cluster.nodes) {
    await owe(3);
    await node.kill();
    const other = must(
      cluster.nodes.find((candidate) => candidate !== node),
      'another node',
    );
    await owe(3);
    await until('the cluster is down', () =>
      other.ask(async (redis) => (await redis.cluster('INFO')).includes('cluster_state:fail')),
    );
    await owe(3);
    await node.start();
    await allDelivered();
  }
});
