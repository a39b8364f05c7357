// The logo by a form: what is taken and what is refused, whatever a browser says of it; who may;
// and what the preview shows.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ANIMATED_PNG, jpeg, png, pngOfBytes, webp } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { faultIn, type Member, memberOf } from './member.ts';

const LOGO = '/settings/branding/logo';
const KIB = 1024;

let server: TestServer;
let member: Member;
beforeAll(async () => {
  server = await startServer();
  member = await memberOf(server);
});
afterAll(() => server.stop());

const named = async () => {
  const reply = await server.call('GET', '/organization/logo');
  return reply.status === 404 ? null : reply.json;
};
const fileOf = (bytes: Uint8Array | string, name = 'logo.png', type = 'image/png') =>
  new File([bytes], name, { type });
const issueIn = (page: string) =>
  /id="f-data-error">\s*<span class="away">Error: <\/span>([^<]*)/.exec(page)?.[1]?.trim();

/** A body as it is sent, with its type. */
async function sendRaw(
  body: string | FormData | ReadableStream,
  type: string | null,
  path = LOGO,
  more: object = {},
) {
  return fetch(server.url + member.base + path, {
    method: 'POST',
    redirect: 'manual',
    body,
    headers: {
      ...(type !== null && { 'content-type': type }),
      'sec-fetch-site': 'same-origin',
      cookie: `__Host-tollhouse=${member.tab.cookie}`,
      ...more,
    },
  });
}

test('a logo is uploaded, shown, replaced and removed in the dashboard, and logged with its member', async () => {
  expect(await member.read('/settings/branding')).toContain('No logo.');
  expect(await member.read(LOGO)).toContain('enctype="multipart/form-data"');
  for (const [bytes, type] of [
    [png(40, 20), 'image/png'],
    [jpeg(40, 20), 'image/jpeg'],
    [webp('VP8L', { width: 40, height: 20 }), 'image/webp'],
    [pngOfBytes(64 * KIB), 'image/png'],
  ] as const) {
    // What the browser says of it is not looked at.
    const reply = await member.upload(LOGO, fileOf(bytes, 'x', 'text/html'));
    expect([reply.status, reply.headers.get('location')]).toEqual([
      303,
      `${member.base}/settings/branding?done=changed`,
    ]);
    const { url, ...rest } = await named();
    expect(rest.type).toBe(type);
    const image = await fetch(server.url + new URL(url).pathname);
    expect(Buffer.from(await image.arrayBuffer()).equals(bytes)).toBe(true);
    const page = await member.get('/settings/branding');
    expect(page.text.split(`<img class="logo" src="${url}"`)).toHaveLength(3);
    expect(page.headers.get('content-security-policy')).toContain(`img-src data: ${url};`);
  }
  const { json } = await server.call('GET', '/audit-log?operation=putLogo');
  expect(json.data).toHaveLength(4);
  const { url } = await named();
  expect(json.data[0]).toMatchObject({
    actor: { kind: 'user' },
    object: { type: 'logo' },
    after: { url },
  });
  const path = `${LOGO}/remove`;
  await member.act(path);
  expect(await named()).toBeNull();
  // Neither the question nor what an older page of it sends.
  expect((await member.get(path)).status).toBe(404);
  await member.read('/settings/branding');
  expect((await member.tab.post(member.base + path)).status).toBe(404);
  const removals = (await server.call('GET', '/audit-log?operation=deleteLogo')).json.data;
  expect(removals).toHaveLength(1);
  expect(removals[0]).toMatchObject({ actor: { kind: 'user' } });
});

const NO_IMAGE = 'must be a whole PNG, JPEG or WebP';
const HOSTILE_NAME = `"><script>alert(1)</script>../../etc/passwd\r\nX-Evil: 1`;

// prettier-ignore
const REFUSED: readonly (readonly [what: string, file: File, says: string])[] = [
  ['SVG',                    fileOf('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'a.svg', 'image/svg+xml'), NO_IMAGE],
  ['HTML that says it is PNG', fileOf('<!doctype html><script>alert(1)</script>', HOSTILE_NAME), NO_IMAGE],
  ['a PNG with HTML behind', fileOf(Buffer.concat([png(4, 4), Buffer.from('<script>')])), NO_IMAGE],
  ['half a PNG',             fileOf(png(40, 40).subarray(0, 60)), NO_IMAGE],
  ['a PNG that moves',       fileOf(ANIMATED_PNG), 'must stand still'],
  ['too many pixels',        fileOf(png(1025, 1)), 'must have 1 to 1024 pixels a side'],
  ['an empty file',          fileOf(''), 'is required: choose a file'],
];
test.each(REFUSED)(
  'the dashboard refuses the logo %s in a sentence, and nothing changes',
  async (_what, file, says) => {
    await member.upload(LOGO, fileOf(png(9, 9)));
    const before = await named();
    const reply = await member.upload(LOGO, file);
    expect([reply.status, issueIn(reply.text)]).toEqual([400, says]);
    expect(reply.text).not.toContain('alert(1)');
    expect(reply.text).not.toContain('passwd');
    expect(reply.headers.has('x-evil')).toBe(false);
    expect(await named()).toEqual(before);
  },
);

test.each([64 * KIB + 1, 79 * KIB, 90 * KIB, 4 * KIB * KIB])(
  'a logo of %d bytes is too large',
  async (bytes) => {
    const before = await named();
    const reply = await member.upload(LOGO, fileOf(pngOfBytes(bytes)));
    expect([reply.status, faultIn(reply.text), issueIn(reply.text)]).toEqual([
      413,
      'This file is too large.',
      'must have at most 64 KiB: choose a smaller file',
    ]);
    expect(await named()).toEqual(before);
  },
);

/** Longer than anybody may send; counts what was taken of it. */
function endless() {
  let taken = 0;
  const chunk = new Uint8Array(16 * KIB);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken += chunk.length;
      if (taken > 512 * KIB * KIB) controller.close();
      else controller.enqueue(chunk);
    },
  });
  return { body, taken: () => taken };
}

test('an upload of a logo without a Content-Length is read up to a bound', async () => {
  const long = new Blob([new Uint8Array(KIB * KIB)]).stream();
  const reply = await sendRaw(long, 'multipart/form-data; boundary=x');
  expect([reply.status, await reply.text()]).toEqual([
    413,
    expect.stringContaining('This file is too large.'),
  ]);
  // Whoever goes on sending may find the connection closed.
  const { body, taken } = endless();
  const status = await sendRaw(body, 'multipart/form-data; boundary=x').then(
    (answer) => answer.status,
    () => 413,
  );
  expect(status).toBe(413);
  expect(taken()).toBeLessThan(256 * KIB * KIB);
});

const part = (name: string, text: string, more = '') =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${text}\r\n`;

// prettier-ignore
const BROKEN: readonly (readonly [what: string, body: string, type: string])[] = [
  ['no boundary',           `${part('_token', 'x')}--x--\r\n`,    'multipart/form-data'],
  ['another boundary',      `${part('_token', 'x')}--x--\r\n`,    'multipart/form-data; boundary=other'],
  ['no part at all',        'nothing',                            'multipart/form-data; boundary=x'],
  ['a NUL in a field',      `${part('_token', 'a\0b')}--x--\r\n`, 'multipart/form-data; boundary=x'],
  ['a boundary of 70 KiB',  'x',                                  `multipart/form-data; boundary=${'b'.repeat(8000)}`],
];
test.each(BROKEN)('an upload of a logo is refused: %s', async (_what, body, type) => {
  const before = await named();
  const reply = await sendRaw(body, type);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([
    400,
    'text/html; charset=utf-8',
  ]);
  expect(await reply.text()).toContain('This form cannot be read');
  expect(await named()).toEqual(before);
});

test('an upload of many parts, or two files of one name, is one logo at most', async () => {
  const form = new FormData();
  const page = await member.read(LOGO);
  const token = /name="_token" value="([\w-]+)"/.exec(page)?.[1] ?? '';
  for (let at = 0; at < 400; at += 1) form.append(`f${at}`, 'x');
  form.append('_token', token);
  form.append('other', fileOf(png(3, 3)));
  form.append('data', fileOf('<script>'));
  form.append('data', fileOf(png(5, 6)));
  expect((await member.tab.upload(member.base + LOGO, form)).status).toBe(303);
  expect(await named()).toMatchObject({ width: 5, height: 6 });
});

test('an upload without the form token of its session is refused', async () => {
  const before = await named();
  const other = await memberOf(server);
  const foreign = /name="_token" value="([\w-]+)"/.exec(await other.read(LOGO))?.[1] ?? '';
  for (const token of [null, '', 'x', foreign]) {
    const form = new FormData();
    if (token !== null) form.append('_token', token);
    form.append('data', fileOf(png(2, 2)));
    const reply = await member.tab.upload(member.base + LOGO, form);
    expect([token, reply.status, reply.text.includes('This form cannot be sent')]).toEqual([
      token,
      403,
      true,
    ]);
  }
  const cross = await sendRaw(new FormData(), null, LOGO, { 'sec-fetch-site': 'cross-site' });
  expect(cross.status).toBe(403);
  expect(await named()).toEqual(before);
});

test("no other page takes an upload, and a stranger's is not read", async () => {
  const form = new FormData();
  form.append('data', fileOf(png(2, 2)));
  expect((await sendRaw(form, null, '/settings/branding')).status).toBe(415);
  expect((await sendRaw(form, null, '/settings')).status).toBe(415);
  const { body, taken } = endless();
  const stranger = { cookie: '' };
  const reply = await sendRaw(body, 'multipart/form-data; boundary=x', LOGO, stranger);
  expect([reply.status, reply.headers.get('location')]).toEqual([303, '/dashboard/sign-in']);
  expect(taken()).toBeLessThan(8 * KIB * KIB);
});

test('an upload by a role that changes no settings is refused, however large', async () => {
  const support = await memberOf(server, { role: 'support' });
  expect((await support.get(LOGO)).status).toBe(403);
  const token = /name="_token" value="([\w-]+)"/.exec(await support.read('/settings'))?.[1] ?? '';
  const before = await named();
  for (const bytes of [png(2, 2), pngOfBytes(KIB * KIB)]) {
    const form = new FormData();
    form.append('_token', token);
    form.append('data', fileOf(bytes));
    const reply = await support.tab.upload(support.base + LOGO, form);
    expect([reply.status, reply.text.includes('Your role does not allow this')]).toEqual([
      403,
      true,
    ]);
  }
  expect(await named()).toEqual(before);
});

test('a logo uploaded in the dashboard is of one mode', async () => {
  await member.upload(LOGO, fileOf(png(9, 9)));
  const live = await memberOf(server, { mode: 'live' });
  expect(await live.read('/settings/branding')).toContain('No logo.');
});

test('the branding preview has the saved settings, or the valid colour of its address', async () => {
  await member.act('/settings/branding', {
    'branding.color': '#5B2A86',
    'branding.support_email': 'help@acme.example',
    'branding.support_url': 'https://acme.example/help',
  });
  const saved = await member.get('/settings/branding');
  expect(saved.text).toContain('#brand-preview{--fill:#5b2a86');
  expect(saved.text).toContain('href="mailto:help@acme.example"');
  expect(saved.text).toContain('href="https://acme.example/help"');
  const policy = saved.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/style-src 'sha256-[^' ]+' 'sha256-[^' ]+';/);
  const asked = async (color: string) =>
    (await member.get(`/settings/branding?color=${encodeURIComponent(color)}`)).text;
  expect(await asked('#00aa00')).toContain('#brand-preview{--fill:#00aa00');
  // The form has what is saved.
  expect(await asked('#00aa00')).toContain('value="#5b2a86"');
  for (const color of [
    '',
    'red',
    '#fff}*{display:none}',
    '#12345',
    '"><script>alert(1)</script>',
  ]) {
    const page = await asked(color);
    expect([color, page.includes('#brand-preview{'), page.includes('alert(1)')]).toEqual([
      color,
      false,
      false,
    ]);
  }
});
