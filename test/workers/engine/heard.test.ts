// Which endpoints get which events.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createOrganisation } from '../../../src/accounts/onboarding.ts';
import { ids } from '../../../src/platform/ids.ts';
import { Bed } from './bed.ts';
import { Sink } from './sink.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.start();
});
afterAll(() => bed.stop());

/** A second organisation of the group. */
async function secondMember() {
  const { sql, group } = bed.server;
  const made = await createOrganisation(
    { sql, ids, now: Date.now() },
    { name: 'Two', groupId: group.id },
  );
  if (typeof made === 'string') throw new Error(made);
  return made;
}

test('each event goes to the endpoints of its organisation and its group, in its own mode', async () => {
  const { organisation: one, other, group } = bed.server;
  const two = await secondMember();
  const sinks = { one: new Sink(), two: new Sink(), other: new Sink(), group: new Sink() };
  // Live endpoints must be public, so these local ones are written by SQL: nothing may reach them
  // here.
  const live = { one: new Sink(), group: new Sink() };
  const endpoints = [
    await bed.endpoint(sinks.one.url),
    await bed.endpoint(sinks.two.url, {}, two.testKey),
    await bed.endpoint(sinks.other.url, {}, other.testKey),
  ];
  const partner = await bed.server.call('POST', '/partner/webhook-endpoints', {
    key: group.testKey,
    body: { url: 'https://hooks.example/', event_types: ['customer.created'] },
  });
  expect(partner.status).toBe(201);
  const { sql } = bed.server;
  await sql`update webhook_endpoints set url = ${sinks.group.url} where id = ${partner.json.id}`;
  const liveOnes = [
    await bed.endpoint('https://hooks.example/', {}, one.liveKey),
    (
      await bed.server.call('POST', '/partner/webhook-endpoints', {
        key: group.liveKey,
        body: { url: 'https://hooks.example/', event_types: ['customer.created'] },
      })
    ).json,
  ];
  for (const [index, sink] of Object.values(live).entries()) {
    await sql`update webhook_endpoints set url = ${sink.url} where id = ${liveOnes[index].id}`;
  }
  const [first] = await bed.events(1);
  const [second] = await bed.events(1, two.testKey);
  const [third] = await bed.events(1, other.testKey);
  const [inLive] = await bed.events(1, one.liveKey);
  for (const { id } of [...endpoints, partner.json]) await bed.all(id, 'delivered');
  expect(sinks.one.ids).toEqual([first!]);
  expect(sinks.two.ids).toEqual([second!]);
  expect(sinks.other.ids).toEqual([third!]);
  const heard = sinks.group.arrivals.map(({ id, body }) => {
    const { data } = JSON.parse(body);
    return [id, [data.organizationId, data.mode]];
  });
  expect(heard).toHaveLength(2);
  expect(Object.fromEntries(heard)).toEqual({
    [first!]: [one.id, 'test'],
    [second!]: [two.id, 'test'],
  });
  for (const { id } of liveOnes) {
    await bed.attempted(id, 1);
    // A live endpoint is never on this machine.
    expect(await bed.attempts(id)).toMatchObject([{ error: 'refused_address' }]);
    expect((await bed.deliveries(id)).map(({ event }) => event)).toEqual([inLive!]);
  }
  expect([live.one.arrivals, live.group.arrivals]).toEqual([[], []]);
  for (const sink of [...Object.values(sinks), ...Object.values(live)]) await sink.stop();
});
