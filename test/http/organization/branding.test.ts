// Branding over HTTP: colour, support, and the logo with each refusal; whose it is, and who is
// told.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { audit } from '../../../src/database/audit.ts';
import { clock } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { createOrganisation, type FirstKeys } from '../../../src/accounts/onboarding.ts';
import { misfitsOf } from '../../support/catalogue.ts';
import { ANIMATED_PNG, jpeg, png, pngOfBytes, webp } from '../../support/images.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
/** A new organisation for each test. */
let mine: FirstKeys;
beforeAll(async () => {
  server = await startServer();
});
beforeEach(async () => {
  const setting = { sql: server.sql, ids, now: clock.now() };
  mine = (await createOrganisation(setting, { name: 'Mine', groupId: null })) as FirstKeys;
});
afterAll(async () => {
  expect(await misfitsOf(server.sql)).toEqual([]);
  expect(await audit(server.sql)).toEqual([]);
  await server.stop();
});

const LOGO = png(120, 40);
let logos = 0;
/** That no other test has: the same bytes have one address for all. */
const ownLogo = () => png(7, 7, { color: [(logos += 1), 0, 7] });
const base64 = (bytes: Buffer) => bytes.toString('base64');

const read = async (key = mine.testKey) =>
  (await server.call('GET', '/organization', { key })).json.branding;
const patch = (branding: object, key = mine.testKey) =>
  server.call('PATCH', '/organization', { body: { branding }, key });
const put = (bytes: Buffer, key = mine.testKey) =>
  server.call('PUT', '/organization/logo', { body: { data: base64(bytes) }, key });
const remove = (key = mine.testKey) => server.call('DELETE', '/organization/logo', { key });
/** The image at an address, at this server. */
const logoOf = async (key = mine.testKey) => (await read(key)).logo_url;
const show = (url: string, headers = {}) =>
  fetch(`${server.url}${new URL(url).pathname}`, { headers });

async function told(key = mine.testKey): Promise<string[][]> {
  const path = `/events?type=organization.config_changed&object_id=${mine.id}&limit=200`;
  const { json } = await server.call('GET', path, { key });
  const data = json.data.map((event: { data: { key: string; changes: string[] } }) => event.data);
  return data
    .map((each: { key: string; changes: string[] }) => [each.key, ...each.changes])
    .toReversed();
}

test("a brand's colour and support contact are set, kept in lower case, and cleared one by one", async () => {
  const branding = {
    color: '#AbCdEf',
    support_email: 'help@acme.example',
    support_url: 'https://acme.example/help?from=invoice',
  };
  const { json } = await patch(branding);
  expect(json.branding).toEqual({ ...branding, color: '#abcdef', logo_url: null });
  await patch({ color: null });
  expect(await read()).toEqual({ ...branding, color: null, logo_url: null });
  await patch({ support_email: null, support_url: null });
  expect(await read()).toEqual({
    color: null,
    logo_url: null,
    support_email: null,
    support_url: null,
  });
  expect(await told()).toEqual([
    ['branding', 'color', 'supportEmail', 'supportUrl'],
    ['branding', 'color'],
    ['branding', 'supportEmail', 'supportUrl'],
  ]);
});

// prettier-ignore
const TAKEN: [string, Buffer, string][] = [
  ['a PNG',                  LOGO,                                                  'image/png'],
  ['a PNG of one pixel',     png(1, 1),                                             'image/png'],
  ['a PNG of 1024 pixels',   png(1024, 1024),                                       'image/png'],
  ['a PNG of 65,536 bytes',  pngOfBytes(65_536),                                    'image/png'],
  ['a JPEG',                 jpeg(120, 40),                                         'image/jpeg'],
  ['a lossy WebP',           webp('VP8 ', { width: 120, height: 40 }),              'image/webp'],
  ['a lossless WebP',        webp('VP8L', { width: 120, height: 40 }),              'image/webp'],
];
test.each(TAKEN)(
  'PUT of the logo %s is taken, and served to everybody as it is',
  async (_what, bytes, type) => {
    const reply = await put(bytes);
    expect([reply.status, reply.text]).toEqual([200, reply.text]);
    const { url } = reply.json;
    expect(url).toEndWith(
      `/logos/${createHash('sha256').update(bytes).digest('hex').slice(0, 40)}`,
    );
    expect(reply.json.type).toBe(type);
    expect((await server.call('GET', '/organization/logo', { key: mine.testKey })).json).toEqual(
      reply.json,
    );
    expect(await logoOf()).toBe(url);
    const image = await show(url);
    expect(image.status).toBe(200);
    expect(Buffer.from(await image.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(image.headers.has('set-cookie')).toBe(false);
    const etag = image.headers.get('etag')!;
    const again = await show(url, { 'if-none-match': `"x", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await show(url, { 'if-none-match': '"x"' })).status).toBe(200);
  },
);

const TOO_LARGE = pngOfBytes(65_537);

// prettier-ignore
const REFUSED: [what: string, body: unknown, at: string, says: string][] = [
  ['nothing',                    { data: '' },                                    'data', 'base64'],
  ['no base64',                  { data: 'AAA*' },                                'data', 'base64'],
  ['base64 without its end',     { data: base64(png(4, 5)).replace(/=+$/, '') + 'A' }, 'data', 'base64'],
  ['base64 of a URL',            { data: '_-__' },                                'data', 'base64'],
  ['a data URL',                 { data: `data:image/png;base64,${base64(LOGO)}` }, 'data', 'base64'],
  ['one byte too many',          { data: base64(TOO_LARGE) },                     'data', '65536'],
  ['far too many',               { data: 'A'.repeat(900_000) },                   'data', '65536'],
  ['SVG',                        { data: base64(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')) }, 'data', 'PNG, JPEG or WebP'],
  ['HTML',                       { data: base64(Buffer.from('<!doctype html><script>alert(1)</script>')) }, 'data', 'PNG, JPEG or WebP'],
  ['a PNG with HTML behind it',  { data: base64(Buffer.concat([LOGO, Buffer.from('<script>')])) }, 'data', 'PNG, JPEG or WebP'],
  ['half a PNG',                 { data: base64(LOGO.subarray(0, 60)) },          'data', 'PNG, JPEG or WebP'],
  ['a PNG by another name',      { data: base64(Buffer.concat([Buffer.from('GIF89a'), LOGO])) }, 'data', 'PNG, JPEG or WebP'],
  ['a PNG that moves',           { data: base64(ANIMATED_PNG) },                  'data', 'still'],
  ['a WebP that moves',          { data: base64(webp('VP8X', { width: 9, height: 9, flags: 2 })) }, 'data', 'still'],
  ['1025 pixels',                { data: base64(png(1025, 1)) },                  'data', '1024'],
  ['1025 pixels up',             { data: base64(png(1, 1025)) },                  'data', '1024'],
  ['4,294,967,295 pixels',       { data: base64(png(4_294_967_295, 4_294_967_295)) }, 'data', '1024'],
  ['no pixels',                  { data: base64(png(0, 4)) },                     'data', '1024'],
  ['a JPEG of 65,535 pixels',    { data: base64(jpeg(65_535, 65_535)) },          'data', '1024'],
  ['a WebP of 16,384 pixels',    { data: base64(webp('VP8L', { width: 16_384, height: 9 })) }, 'data', '1024'],
  ['a list of bytes',            { data: [137, 80] },                             'data', ''],
  ['a type beside it',           { data: base64(LOGO), type: 'image/svg+xml' },   'type', ''],
  ['no image',                   {},                                              'data', ''],
];
test.each(REFUSED)(
  'PUT of the logo %s is refused, and nothing changes',
  async (_what, body, at, says) => {
    await put(png(9, 9));
    const before = await read();
    const reply = await server.call('PUT', '/organization/logo', { body, key: mine.testKey });
    expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
    const [issue] = reply.json.error.issues;
    expect(issue.path.join('.')).toBe(at);
    expect(issue.message).toContain(says);
    expect(await read()).toEqual(before);
    expect((await show(before.logo_url)).status).toBe(200);
  },
);

test('PUT of a logo of more than 1 MiB, or that is no JSON, is refused', async () => {
  const call = (raw: string, type: string) =>
    server.call('PUT', '/organization/logo', {
      raw,
      key: mine.testKey,
      headers: { 'content-type': type },
    });
  expect((await call(`{"data":"${'A'.repeat(1024 * 1024)}"}`, 'application/json')).status).toBe(
    413,
  );
  expect((await call('x', 'image/png')).status).toBe(415);
});

test('a new logo has a new address, and older mails show the logo before', async () => {
  const [first, second] = [png(8, 8), png(8, 8, { color: [1, 2, 3] })];
  const before = (await put(first)).json.url;
  const after = (await put(second)).json.url;
  expect(after).not.toBe(before);
  const old = await show(before);
  expect([old.status, Buffer.from(await old.arrayBuffer()).equals(first)]).toEqual([200, true]);
  expect([await logoOf(), (await show(after)).status]).toEqual([after, 200]);
  await put(second);
  expect(await told()).toEqual([
    ['branding', 'logo'],
    ['branding', 'logo'],
  ]);
});

test('the last ten logos are kept, the current one among them; DELETE removes all', async () => {
  const images = Array.from({ length: 12 }, ownLogo);
  const urls: string[] = [];
  for (const logo of images) urls.push((await put(logo)).json.url);
  // The third is the present one again.
  await put(images[2]!);
  const shown = async () => Promise.all(urls.map(async (url) => (await show(url)).status));
  expect(await shown()).toEqual([404, 404, ...Array.from({ length: 10 }, () => 200)]);
  await put(ownLogo());
  expect(await shown()).toEqual([404, 404, 200, 404, ...Array.from({ length: 8 }, () => 200)]);
  // Another organization's are its own.
  await put(images[5]!, server.other.testKey);
  await remove();
  expect((await shown()).filter((status) => status === 200)).toHaveLength(1);
  await remove(server.other.testKey);
  expect(await shown()).toEqual(urls.map(() => 404));
});

test('a deleted logo is 404, and can be deleted once', async () => {
  const { url } = (await put(ownLogo())).json;
  expect((await remove()).status).toBe(204);
  expect([await logoOf(), (await show(url)).status]).toEqual([null, 404]);
  const again = await remove();
  expect([again.status, again.json.error.type]).toEqual([404, 'not_found']);
  const none = await server.call('GET', '/organization/logo', { key: mine.testKey });
  expect(none.status).toBe(404);
  expect(await told()).toHaveLength(2);
});

test('each organisation has its own logos in each mode, and the same image twice is two', async () => {
  const logo = ownLogo();
  await put(logo);
  const url = (await put(logo, server.other.testKey)).json.url;
  expect((await read()).logo_url).toBe(url);
  expect(await read(mine.liveKey)).toEqual({
    color: null,
    logo_url: null,
    support_email: null,
    support_url: null,
  });
  await remove();
  expect([(await read()).logo_url, (await read(server.other.testKey)).logo_url]).toEqual([
    null,
    url,
  ]);
  expect((await show(url)).status).toBe(200);
  await remove(server.other.testKey);
  expect((await show(url)).status).toBe(404);
});

// prettier-ignore
test.each([
  ['x'], ['0'.repeat(40)], ['A'.repeat(40)], ['%00'.repeat(4)], ['..%2f..%2fetc'], [`${'0'.repeat(40)}.svg`],
])('GET of the logo %s is 404', async (hash) => {
  const reply = await fetch(`${server.url}/logos/${hash}`);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json']);
});

test('HEAD of a logo has the same headers and no image', async () => {
  const url = new URL((await put(LOGO)).json.url).pathname;
  const reply = await fetch(server.url + url, { method: 'HEAD' });
  expect([reply.status, reply.headers.get('content-type'), await reply.text()]).toEqual([
    200,
    'image/png',
    '',
  ]);
});

test('of logos PUT at once the last is the current one, and the settings name it', async () => {
  const all = Array.from({ length: 12 }, (_, at) => png(6, 6, { color: [at, at, at] }));
  const replies = await Promise.all(all.map((logo) => put(logo)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  const { logo_url: url } = await read();
  expect((await show(url)).status).toBe(200);
  const rows = await server.sql`select hash from logos where organisation_id = ${mine.id}`;
  expect(rows).toHaveLength(10);
  expect(rows.map(({ hash }) => hash)).toContain(url.split('/').at(-1));
});

test('the audit log of a logo has its addresses and no bytes', async () => {
  const bytes = pngOfBytes(2000);
  const url = (await put(bytes)).json.url;
  const { json, text } = await server.call('GET', '/audit-log?operation=putLogo', {
    key: mine.testKey,
  });
  expect(json.data).toHaveLength(1);
  expect(json.data[0]).toMatchObject({ object: { type: 'logo' }, before: null, after: { url } });
  expect(text).not.toContain(base64(bytes).slice(0, 40));
  expect(server.logged.join('')).not.toContain(base64(bytes).slice(0, 40));
});

test('a group has no logo, and neither a key with the scope read nor a stranger puts one', async () => {
  const call = { body: { data: base64(LOGO) } };
  const by = async (key: string | null) =>
    (await server.call('PUT', '/organization/logo', { ...call, key })).status;
  const { json } = await server.call('POST', '/api-keys', {
    body: { name: 'Reads', scopes: ['read'] },
  });
  expect([await by(server.group.testKey), await by(json.key), await by(null)]).toEqual([
    403, 403, 401,
  ]);
});
