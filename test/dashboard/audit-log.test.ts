// The page of the audit log, and that what a member does in the dashboard is in it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { rowsOf as rowsOfAll } from '../http/audit-log/reading.ts';
import { faultIn, type Member, memberOf } from './member.ts';
import { HOSTILE } from './samples.ts';

setDefaultTimeout(30_000);

let server: TestServer;
let member: Member;
beforeAll(async () => {
  server = await startServer();
  member = await memberOf(server);
});
afterAll(() => server.stop());

const post = (path: string, body: object) => server.call('POST', path, { body });

const rowsOf = async (operation: string) =>
  (await rowsOfAll(server.sql, operation)).filter(
    (row) => row['organisation_id'] === server.organisation.id,
  );

/** The rows of its table. */
const countIn = (page: string) => (page.match(/<tr>/g) ?? []).length - 1;

test('an action in the dashboard is in the audit log, in the name of the member', async () => {
  await member.act('/webhooks/new', { url: 'https://hooks.example/of-a-member' });
  const [row] = await rowsOf('createWebhookEndpoint');
  const [session] = await server.sql`
    select s.id, s.user_id from sessions s join organisation_members m using (user_id)
    where m.organisation_id = ${server.organisation.id}`;
  expect(row).toMatchObject({
    organisation_id: server.organisation.id,
    mode: 'test',
    actor_kind: 'user',
    actor_id: session!['user_id'],
    session_id: session!['id'],
    address: '127.0.0.1',
    object_type: 'webhook_endpoint',
    after: { url: 'https://hooks.example/of-a-member', secret: '[left out]' },
  });
  const page = await member.read('/audit-log?operation=createWebhookEndpoint');
  expect(countIn(page)).toBe(1);
  for (const text of [row!['actor_label'], row!.object_id, 'from 127.0.0.1']) {
    expect(page).toContain(String(text));
  }
});

test('a dashboard form that is sent twice is in the audit log once', async () => {
  const before = (await rowsOf('createWebhookEndpoint')).length;
  const page = await member.read('/webhooks/new');
  const key = /name="_key" value="([^"]+)"/.exec(page)![1]!;
  const fields = { url: 'https://hooks.example/twice', _key: key };
  for (let n = 0; n < 2; n += 1) await member.tab.post(`${member.base}/webhooks/new`, fields);
  expect((await rowsOf('createWebhookEndpoint')).length).toBe(before + 1);
});

test('the audit log page shows each change before and after, as text', async () => {
  const { json } = await post('/products', { name: 'Before' });
  await server.call('PATCH', `/products/${json.id}`, { body: { name: HOSTILE } });
  const page = await member.read(`/audit-log?object_id=${json.id}`);
  expect(countIn(page)).toBe(2);
  expect(page).toContain('<del>Before</del>');
  expect(page).not.toContain('<script>alert');
  expect(page).toMatch(/<ins\s*>&quot;&gt;&lt;script&gt;/);
});

test('the audit log page, its pages and its download use the same filters', async () => {
  for (let n = 0; n < 60; n += 1) await post('/discounts', { code: `page${n}`, percent_off: 5 });
  const first = await member.read('/audit-log?operation=createDiscount&actor_kind=key');
  expect(countIn(first)).toBe(50);
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first) ?? [];
  const second = await member.read(`/audit-log${next.replaceAll('&amp;', '&')}`);
  expect(countIn(second)).toBe(10);
  const [, csv = ''] = /href="[^"]*(\/audit-log\.csv[^"]*)"/.exec(second) ?? [];
  expect(csv).not.toContain('after');
  const download = await member.get(csv.replaceAll('&amp;', '&'));
  expect([download.status, download.headers.get('content-type')]).toEqual([
    200,
    'text/csv; charset=utf-8',
  ]);
  expect(download.text.trim().split('\r\n')).toHaveLength(61);
  expect(await member.read('/audit-log?actor_kind=command_line')).toContain('No entries match');
});

test('the audit log page says which filter is invalid, and nothing breaks', async () => {
  const page = await member.read('/audit-log?actor=nobody');
  expect(faultIn(page)).toContain('actor');
  const times = await member.read('/audit-log?from=yesterday&to=2026-13-45T00:00');
  expect(faultIn(times)).toContain('from');
});

test.each(['support', 'read_only'] as const)(
  'the audit log page is 404 for the role %s',
  async (role) => {
    const other = await memberOf(server, { role });
    expect(await other.read('/customers')).not.toContain('Audit log');
    for (const path of ['/audit-log', '/audit-log.csv']) {
      expect((await other.get(path)).status).toBe(403);
    }
  },
);

test('the audit log page of another organisation is 404', async () => {
  const path = `/dashboard/${server.other.id}/test/audit-log`;
  expect((await member.tab.get(path)).status).toBe(404);
});
