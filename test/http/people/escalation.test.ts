// Nobody comes to more than its role by way of a key: what an owner decides, a key of an admin's
// making does not.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { enrolled } from './tab.ts';
import { memberOf } from '../../dashboard/member.ts';
import { startServer, type TestServer } from '../../support/server.ts';

setDefaultTimeout(30_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const KEY = /svc_live_\w+/;

test.each(['admin', 'owner'] as const)(
  'a live key of all scopes can be made by an owner alone: by an %s',
  async (role) => {
    const member = await memberOf(server, { role, mode: 'live' });
    await enrolled(member.tab);
    const isOwner = role === 'owner';
    for (const scopes of ['read', 'metering', 'all']) {
      const made = await member.send('/keys/new', { scopes });
      const isMade = isOwner || scopes !== 'all';
      expect([scopes, made.status, KEY.test(made.text)]).toEqual([
        scopes,
        isMade ? 200 : 403,
        isMade,
      ]);
    }
    // Nor does one come to the text of a key that is there.
    const key = server.organisation.liveKey;
    const { json } = await server.call('POST', '/api-keys', { key, body: { name: 'there' } });
    const rotated = await member.send(`/keys/${json.id}/rotate`, { overlap_seconds: '3600' });
    expect([rotated.status, KEY.test(rotated.text)]).toEqual([isOwner ? 200 : 403, isOwner]);
  },
);

test('an admin may make a test key of all scopes', async () => {
  const member = await memberOf(server, { role: 'admin', mode: 'test' });
  const made = await member.send('/keys/new', { scopes: 'all' });
  expect([made.status, made.text]).toEqual([200, expect.stringContaining('svc_test_')]);
});
