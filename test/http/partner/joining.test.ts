// An organisation joins a group and leaves it: who gets which events from then on, and that the
// audit agrees.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { runAdmin } from '../../support/admin.ts';
import { relayAll } from '../../support/relayed.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { anEvent, deliveriesOf, URL_OF_NOBODY } from '../webhook-endpoints/owed.ts';

let server: TestServer;
let endpoint: string;
beforeAll(async () => {
  server = await startServer({ own: true });
  await inGroup('none');
  const { json } = await server.call('POST', '/partner/webhook-endpoints', {
    key: server.group.testKey,
    body: { url: URL_OF_NOBODY, event_types: ['customer.created', 'usage.recorded'] },
  });
  endpoint = json.id;
});
afterAll(() => server.stop());

const update = (...args: string[]) =>
  runAdmin(['org', 'update', ...args, '--json'], server.databaseUrl);

async function inGroup(group: string): Promise<void> {
  const { id } = server.organisation;
  const { exitCode, stdout, stderr } = await update(id, '--group', group);
  expect([exitCode, stderr]).toEqual([0, '']);
  const group_id = group === 'none' ? null : group;
  expect(JSON.parse(stdout)).toEqual({ organization_id: id, group_id });
}

const owed = async () => (await deliveriesOf(server, endpoint)).map(({ event }) => event);

async function use(): Promise<string[]> {
  await server.call('POST', '/track', {
    body: { feature_key: 'calls', external_customer_id: 'user-1', value: 1 },
  });
  await relayAll(server.sql);
  const rows = await server.sql<{ id: string }[]>`
    select id from events where type = 'usage.recorded' order by id`;
  return rows.map(({ id }) => id);
}

/** Moves all that has happened one hour into the past. */
async function anHourLater(): Promise<void> {
  await server.sql`update events set at = at - interval '1 hour'`;
  await server.sql`update event_fanouts set written_at = written_at - interval '1 hour'`;
  await server.sql`update organisations set group_since = group_since - interval '1 hour'`;
  await server.sql`update webhook_endpoints set updated_at = updated_at - interval '2 hours'`;
}

test('a group hears events of an organisation that joined it, usage too, until it leaves', async () => {
  await server.call('POST', '/meters', { body: { slug: 'calls' } });
  await server.call('POST', '/customers', { body: { external_customer_id: 'user-1' } });
  const before = await anEvent(server);
  expect(await use()).toEqual([]);
  await anHourLater();
  await inGroup(server.group.id);
  const within = await anEvent(server);
  const usage = await use();
  expect(usage).toHaveLength(1);
  expect(new Set(await owed())).toEqual(new Set([within, ...usage]));
  expect(await owed()).not.toContain(before);
  expect(await audit(server.sql)).toEqual([]);
  await inGroup('none');
  const after = await anEvent(server);
  expect(await use()).toEqual(usage);
  expect(await owed()).not.toContain(after);
  expect(await audit(server.sql)).toEqual([]);
  await anHourLater();
  expect(await audit(server.sql)).toEqual([]);
});

test('joining the group that an organisation is in changes nothing', async () => {
  await inGroup(server.group.id);
  const since = () => server.sql`select group_since from organisations order by id`;
  const joined = [...(await since())];
  await inGroup(server.group.id);
  expect([...(await since())]).toEqual(joined);
});

test('joining a group is refused for an unknown group or organisation', async () => {
  const unknown = '01976c2e-5f00-7a10-8000-000000000001';
  const { id } = server.organisation;
  const refused = async (...args: string[]) => {
    const { exitCode, stderr } = await update(...args);
    return [exitCode, stderr.split('\n')[0]];
  };
  expect(await refused(unknown, '--group', server.group.id)).toEqual([
    1,
    `there is no organisation ${unknown}`,
  ]);
  expect(await refused(id, '--group', unknown)).toEqual([1, `there is no group ${unknown}`]);
  expect(await refused(id)).toEqual([2, '--group must be an id']);
  expect(await refused('--group', 'none')).toEqual([2, 'org update needs one ORG_ID']);
});
