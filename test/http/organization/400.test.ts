import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const days = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

// prettier-ignore
const BODIES: [string, unknown, string][] = [
  // what                           body                                                      at
  ['an unknown zone',               { timezone: 'Mars/Olympus' },                             'timezone'],
  ['an empty zone',                 { timezone: '' },                                         'timezone'],
  ['an offset as a zone',           { timezone: '+02:00' },                                   'timezone'],
  ['a negative offset',             { timezone: '-05:00' },                                   'timezone'],
  ['a zone with a path',            { timezone: '../etc/passwd' },                            'timezone'],
  ['a zone that looks like one',    { timezone: '\u212Aiev' },                                'timezone'],
  ['a zone with a blank',           { timezone: 'Europe/Berlin ' },                           'timezone'],
  ['a long zone',                   { timezone: 'A'.repeat(100_000) },                        'timezone'],
  ['an empty name',                 { name: '' },                                             'name'],
  ['a name of two lines',           { name: 'a\nb' },                                         'name'],
  ['a name of 256',                 { name: 'x'.repeat(256) },                                'name'],
  ['a seller as a string',          { seller: 'x' },                                          'seller'],
  ['a misspelt field of it',        { seller: { vat_id: 'x' } },                              'seller.vat_id'],
  ['an e-mail that is none',        { seller: { email: 'x' } },                               'seller.email'],
  ['a country that is none',        { seller: { country: 'DEU' } },                           'seller.country'],
  ['an empty tax id',               { seller: { tax_id: '' } },                               'seller.tax_id'],
  ['a tax id of two lines',         { seller: { tax_id: 'a\u2028b' } },                       'seller.tax_id'],
  ['a tax id as a number',          { seller: { tax_id: 7 } },                                'seller.tax_id'],
  ['21 retries',                    { dunning: { retry_days: days(21), expire_after_days: 60 } }, 'dunning.retry_days'],
  ['a retry at once',               { dunning: { retry_days: [0] } },                         'dunning.retry_days.0'],
  ['a retry before',                { dunning: { retry_days: [-1, 2] } },                     'dunning.retry_days.0'],
  ['a retry after 61 days',         { dunning: { retry_days: [1, 61], expire_after_days: 90 } }, 'dunning.retry_days.1'],
  ['a retry in half a day',         { dunning: { retry_days: [0.5] } },                       'dunning.retry_days.0'],
  ['a retry as a string',           { dunning: { retry_days: ['1'] } },                       'dunning.retry_days.0'],
  ['retries out of order',          { dunning: { retry_days: [3, 1] } },                      'dunning.retry_days'],
  ['the same retry twice',          { dunning: { retry_days: [1, 1] } },                      'dunning.retry_days'],
  ['a retry on the day of expiry',  { dunning: { retry_days: [21] } },                        'dunning.retry_days'],
  ['expiry on the last retry',      { dunning: { expire_after_days: 20 } },                   'dunning.expire_after_days'],
  ['a block after expiry',          { dunning: { block_after_days: 22 } },                    'dunning.block_after_days'],
  ['expiry before the block',       { dunning: { retry_days: [], expire_after_days: 13 } },   'dunning.expire_after_days'],
  ['a block at once',               { dunning: { block_after_days: 0 } },                     'dunning.block_after_days'],
  ['expiry after 366 days',         { dunning: { expire_after_days: 366 } },                  'dunning.expire_after_days'],
  ['a huge number',                 { dunning: { expire_after_days: 1e300 } },                'dunning.expire_after_days'],
  ['a misspelt field of dunning',   { dunning: { retries: [] } },                             'dunning.retries'],
  ['a colour with CSS behind it',   { branding: { color: 'red;}' } },                         'branding.color'],
  ['a colour by its name',          { branding: { color: 'red' } },                           'branding.color'],
  ['a short colour',                { branding: { color: '#abc' } },                          'branding.color'],
  ['a colour with an alpha',        { branding: { color: '#aabbccdd' } },                     'branding.color'],
  ['a colour and a line break',     { branding: { color: '#aabbcc\n' } },                     'branding.color'],
  ['a colour that ends the style',  { branding: { color: '#aabbcc}</style><script>' } },      'branding.color'],
  ['a colour as a number',          { branding: { color: 0xaabbcc } },                        'branding.color'],
  ['an empty colour',               { branding: { color: '' } },                              'branding.color'],
  ['support at no e-mail',          { branding: { support_email: 'help' } },                  'branding.support_email'],
  ['support at an e-mail with a header', { branding: { support_email: 'a@b.co\r\nBcc: c@d.co' } }, 'branding.support_email'],
  ['support over http',             { branding: { support_url: 'http://acme.example' } },     'branding.support_url'],
  ['support by a script',           { branding: { support_url: 'javascript:alert(1)' } },     'branding.support_url'],
  ['support at a URL with a user',  { branding: { support_url: 'https://a:b@acme.example' } }, 'branding.support_url'],
  ['support at this machine',       { branding: { support_url: 'http://localhost/' } },       'branding.support_url'],
  ['an empty URL of support',       { branding: { support_url: '' } },                        'branding.support_url'],
  ['a long URL of support',         { branding: { support_url: `https://a.example/${'x'.repeat(2048)}` } }, 'branding.support_url'],
  ['the address of a logo',         { branding: { logo_url: 'https://evil.example/x.png' } }, 'branding.logo_url'],
  ['branding as a string',          { branding: '#aabbcc' },                                  'branding'],
  ['a misspelt field',              { time_zone: 'UTC' },                                     'time_zone'],
  ['the id',                        { id: '01890000-0000-7000-8000-000000000000' },           'id'],
  ['a list',                        [],                                                       ''],
];

test.each(BODIES)(
  'PATCH /organization with %s is 400 and changes nothing',
  async (_what, body, at) => {
    const before = (await server.call('GET', '/organization')).json;
    // Valid fields beside an invalid one are not stored either.
    const sent = Array.isArray(body) ? body : { seller: { city: 'X' }, ...(body as object) };
    const reply = await server.call('PATCH', '/organization', { body: sent });
    expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
    const paths = reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'));
    expect(paths).toEqual([at]);
    expect((await server.call('GET', '/organization')).json).toEqual(before);
    const { id } = server.organisation;
    expect(await server.sql`select from events where organisation_id = ${id}`).toHaveLength(0);
  },
);

test('PATCH /organization without a body is refused', async () => {
  expect((await server.call('PATCH', '/organization')).status).toBe(400);
});

test("GET and PATCH /organization with a group's key are 403", async () => {
  const { testKey: key } = server.group;
  for (const [method, call] of [
    ['GET', { key }],
    ['PATCH', { key, body: {} }],
  ] as const) {
    const reply = await server.call(method, '/organization', call);
    expect([reply.status, reply.json.error.type]).toEqual([403, 'forbidden']);
  }
});
