// One call whose events go to fifty endpoints: 250,000 deliveries. Its flush writes none of them,
// and the neighbour notices nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { call } from '../chaos/call.ts';
import { until } from '../support/until.ts';
import { waitMaxOf } from './attacker.ts';
import { moveIn, notice } from './neighbour.ts';
import { openStand, type Stand } from './stand.ts';

const METERS = 10;
const CUSTOMERS = 500;
const ENDPOINTS = 50;
/** This many events for one endpoint show that a part is fanned out while the rest continues. */
const PART = 200;

describe.each([1, 3])('on %d nodes a fan-out of', (nodes) => {
  let stand: Stand;
  beforeAll(async () => {
    stand = await openStand(nodes);
    await moveIn(stand);
    const make = (path: string, body: unknown) => stand.attacker.make(path, body);
    for (let n = 0; n < METERS; n += 1) {
      await make('/meters', { slug: `meter-${n}`, event_name: 'attack' });
    }
    for (let n = 0; n < CUSTOMERS; n += 1) {
      await make('/customers', { external_customer_id: `attacker-${n}` });
    }
  }, 120_000);
  afterAll(() => stand.stop());

  /** One event for each customer. Returns how long it took. */
  async function ingest(): Promise<number> {
    const events = Array.from({ length: CUSTOMERS }, (_, n) => ({
      name: 'attack',
      external_customer_id: `attacker-${n}`,
    }));
    const began = performance.now();
    const sender = { url: stand.urls[0]!, key: stand.attacker.key };
    const { status, json } = await call(sender, '/events/ingest', { events }, 60_000);
    expect([status, json]).toMatchObject([200, {}]);
    return performance.now() - began;
  }

  /** The number of deliveries of the endpoint, up to PART. */
  async function deliveries(endpointId: string): Promise<number> {
    const path = `/webhook-endpoints/${endpointId}/deliveries?limit=${PART}`;
    const headers = { authorization: `Bearer ${stand.attacker.key}` };
    const reply = await fetch(`${stand.urls[0]}${path}`, { headers });
    return ((await reply.json()) as { data: unknown[] }).data.length;
  }

  test('fifty disabled endpoints of everything does not slow usage', async () => {
    const loneMs = await ingest();
    const endpoint = {
      url: 'https://hooks.example/',
      event_types: ['*'],
      status: 'disabled',
    };
    for (let n = 0; n < ENDPOINTS; n += 1)
      await stand.attacker.make('/webhook-endpoints', endpoint);
    const sender = { url: stand.urls[0]!, key: stand.attacker.key };
    const headers = { authorization: `Bearer ${sender.key}` };
    const listed = await fetch(`${sender.url}/webhook-endpoints`, { headers });
    const [{ id }] = ((await listed.json()) as { data: [{ id: string }] }).data;
    const attack = async (): Promise<number> => {
      const tookMs = await ingest();
      await until('a part is passed on', async () => (await deliveries(id)) === PART, 60_000);
      return tookMs;
    };
    const attacking = attack();
    const noticed = await notice(stand, attacking);
    console.log({ nodes, loneMs, toldMs: await attacking, ...noticed });
    expect(noticed.refused).toEqual({});
    expect(noticed.longestMs).toBeLessThan(waitMaxOf(loneMs));
  }, 120_000);
});
