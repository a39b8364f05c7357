// Every route of the app requires authentication before it looks at anything else. An open route
// has to be named here.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Described, hasKey } from '../../src/http/openapi/document.ts';
import { ids } from '../../src/platform/ids.ts';
import { insertKey } from '../../src/records/api-keys.ts';
import { changesBothModes } from '../http/edge/operations.ts';
import { startServer, type Call, type TestServer } from '../support/server.ts';

/** Nothing to protect, or the address is the credential. */
const OPEN = new Set([
  'GET /health',
  'GET /ready',
  // Open to this machine only, or with a token of its own: test/http/metrics.test.ts
  'GET /metrics',
  'GET /openapi.json',
  'GET /docs',
  'POST /buy-links/:product_id/checkout',
  // For buyers: test/http/buy-links/page.test.ts
  'GET /buy-links/:product_id',
  'POST /buy-links/:product_id',
  'GET /pay/:token',
  'POST /pay/:token',
  // With the customer's token: test/http/portal
  'GET /portal/:token',
  ...['cancel', 'uncancel', 'unschedule', 'pause', 'resume', 'payment-method'].flatMap((what) => [
    `GET /portal/:token/${what}`,
    `POST /portal/:token/${what}`,
  ]),
  'GET /portal/:token/invoices/:id',
  'GET /portal/:token/invoices/:id/usage.csv',
  'POST /portal/:token/auto-topups/:feature_key',
  // With the invoice's token: test/mail/links.test.ts
  'GET /api/invoices/links/open/:token',
  // A script for merchants' pages.
  'GET /embed.js',
  // Images for pages and mails: test/http/organization/branding.test.ts
  'GET /logos/:hash',
  // Signed: test/processors/stripe/webhooks-taken.test.ts
  'POST /processors/stripe/:organization_id/:mode',
  'GET /sandbox/challenges/:key',
  'POST /sandbox/challenges/:key',
  // Leads a browser to the dashboard: test/http/people/sign-in.test.ts
  'ALL /',
  // With a session: test/dashboard
  'ALL /dashboard',
  'ALL /dashboard/*',
]);

let server: TestServer;
let revoked: string;
let expired: string;

beforeAll(async () => {
  server = await startServer();
  const owner = { kind: 'organisation', organisationId: server.organisation.id } as const;
  const make = (expiresAt: number | null) =>
    server.sql.begin((sql) =>
      insertKey(sql, { id: ids.next(), owner, mode: 'test', expiresAt, now: Date.now() }),
    );
  revoked = await make(null);
  await server.sql`update api_keys set revoked_at = now() where id = (select max(id::text)::uuid from api_keys)`;
  expired = await make(Date.now() - 1);
});
afterAll(() => server.stop());

type Route = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly access: string;
};

function routes(): Route[] {
  return server.app.routes.map(({ method, path, hooks }) => {
    const described = hooks.detail as Described | undefined;
    const access = described?.access ?? 'open';
    return {
      name: `${method} ${path}`,
      method,
      path: path.replaceAll(/:\w+/g, 'x'),
      access: hasKey(access) ? access : 'open',
    };
  });
}

const guarded = () => routes().filter(({ name }) => !OPEN.has(name));

test("the contract's routes need a key, but for those named here", () => {
  expect(guarded().length).toBeGreaterThan(8);
  const open = routes().filter(({ access }) => access === 'open');
  expect(open.map(({ name }) => name).sort()).toEqual([...OPEN].sort());
});

// prettier-ignore
const BODIES: [string, Call][] = [
  ['no body',         {}],
  ['a good body',     { body: {} }],
  ['a malformed one', { raw: '{"a":' }],
  ['plain text',      { raw: 'a', headers: { 'content-type': 'text/plain' } }],
  ['a large one',     { raw: 'x'.repeat(2_000_000) }],
];

test.each(BODIES)(
  'a route of the contract is 401 without a valid key, with %s',
  async (_what, call) => {
    const keys = [
      null,
      '',
      'nonsense',
      'svc_test_short',
      `svc_test_${'0'.repeat(43)}`,
      revoked,
      expired,
    ];
    for (const { name, method, path } of guarded()) {
      const sent = method === 'GET' ? {} : call;
      for (const key of keys) {
        const { status, json } = await server.call(method, path, { ...sent, key });
        expect([name, key, status, json.error.type]).toEqual([name, key, 401, 'unauthorized']);
      }
    }
  },
);

test.each(BODIES)(
  'a route of the contract is 403 with the wrong kind of key, with %s',
  async (_what, call) => {
    for (const { name, method, path, access } of guarded()) {
      const sent = method === 'GET' ? {} : call;
      const wrong = access === 'group' ? server.organisation : server.group;
      for (const key of [wrong.testKey, wrong.liveKey]) {
        const { status, json } = await server.call(method, path, { ...sent, key });
        expect([name, status, json.error.type]).toEqual([name, 403, 'forbidden']);
      }
    }
  },
);

test('a route of the contract takes a valid key', async () => {
  for (const { name, method, path, access } of guarded()) {
    const { testKey, liveKey } = access === 'group' ? server.group : server.organisation;
    // What both modes share is changed with a key of live mode.
    const key = changesBothModes({ method, path }) ? liveKey : testKey;
    // A stream has no end; what it refuses has.
    const query = path === '/events/stream' ? '?after=x' : '';
    const { status } = await server.call(method, path + query, { key });
    expect([name, [401, 403, 500].includes(status)]).toEqual([name, false]);
  }
});
