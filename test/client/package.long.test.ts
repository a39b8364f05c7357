// The tarball in an empty project, on every runtime and in a browser: the examples of its README
// run against the service.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../pages/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { exampleBlocks } from './examples.ts';
import { installPackage, output, type Packed, packClient } from './packed.ts';
import { installRuntimes, RUNTIMES } from './runtimes.ts';

/** With the download of the runtimes. */
const SET_UP_MS = 180_000;
const RUN_MS = 30_000;
const USE = { feature_key: 'api-calls', external_customer_id: 'user-1' };
/** What each example uses of the feature. */
const USES = [1, 1];

let server: TestServer;
let packed: Packed;
let project: string;
let commands: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  [server, packed] = await Promise.all([startServer(), packClient()]);
  project = await installPackage(packed);
  commands = await installRuntimes(packed.place);
  await server.call('POST', '/meters', { body: { slug: 'api-calls' } });
  await server.call('PUT', '/customers/user-1', { body: {} });
  const grant = { feature_key: 'api-calls', amount: 1_000_000 };
  await server.call('POST', '/customers/user-1/grants', { body: grant });
  await server.call('PUT', '/customers/user-2', { body: {} });
  const allowance = { ...grant, reset_interval: 'month' };
  await server.call('POST', '/customers/user-2/grants', { body: allowance });
}, SET_UP_MS);
afterAll(async () => {
  packed.remove();
  await server.stop();
});

async function consumed(): Promise<number> {
  return (await server.call('POST', '/check', { body: USE })).json.consumed;
}

describe.each(RUNTIMES)('the client package on %s', (name) => {
  const run = (...args: readonly string[]): Promise<string> => {
    const { testKey: TOLLHOUSE_API_KEY } = server.organisation;
    const env = { TOLLHOUSE_API_KEY, TOLLHOUSE_URL: server.url };
    return output([...commands.get(name)!, ...args], { directory: project, env });
  };

  test.each(USES.entries().toArray())(
    'example %d of the README uses %d',
    async (index, uses) => {
      const code = exampleBlocks()[index]!;
      const before = await consumed();
      const filled = code
        .replace('svc_test_...', server.organisation.testKey)
        .replace('http://localhost:3000', server.url);
      writeFileSync(join(project, 'example.mjs'), filled);
      await run('example.mjs');
      expect((await consumed()) - before).toBe(uses);
    },
    RUN_MS,
  );

  test(
    'lets the process end with an open lease',
    async () => {
      const { testKey: apiKey } = server.organisation;
      const of = JSON.stringify({ apiKey, baseUrl: server.url });
      const slice = { externalCustomerId: 'user-2', featureKey: 'api-calls', amount: 10 };
      const code = [
        `import { Tollhouse } from 'tollhouse/client';`,
        `const lease = await new Tollhouse(${of}).lease(${JSON.stringify(slice)});`,
        'console.log(lease.take());',
      ];
      writeFileSync(join(project, 'lease.mjs'), code.join('\n'));
      // Its period has a month to go.
      expect((await run('lease.mjs')).trim()).toBe('true');
    },
    RUN_MS,
  );

  test(
    'the packaged command',
    async () => {
      const command = 'node_modules/tollhouse/tollhouse.js';
      const { version } = JSON.parse(readFileSync(join(packed.directory, 'package.json'), 'utf8'));
      expect((await run(command, '--version')).trim()).toBe(version);
      const said = await run(command, 'check', 'api-calls', '--customer', 'user-1', '--json');
      expect(JSON.parse(said)).toMatchObject({ allowed: true });
    },
    RUN_MS,
  );
});

test(
  'the client in a page calls an address of its own server, which adds the key',
  async () => {
    const asked: string[] = [];
    const shop = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/client.js') {
          return new Response(Bun.file(join(packed.directory, 'browser.js')));
        }
        if (!pathname.startsWith('/tollhouse/')) {
          return new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });
        }
        asked.push(request.headers.get('authorization') ?? 'no key');
        return fetch(server.url + pathname.slice('/tollhouse'.length), {
          method: request.method,
          headers: {
            authorization: `Bearer ${server.organisation.testKey}`,
            'content-type': 'application/json',
          },
          body: await request.text(),
        });
      },
    });
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(shop.url.href);
      const said = await page.evaluate(IN_A_PAGE);
      expect(said).toEqual({ allowed: true, refused: true, isVerifier: false });
      expect(new Set(asked)).toEqual(new Set(['no key']));
    } finally {
      await browser.close();
      await shop.stop(true);
    }
  },
  RUN_MS,
);

const IN_A_PAGE = `(async () => {
  const client = await import('/client.js');
  const tollhouse = new client.Tollhouse({ apiKey: null, baseUrl: '/tollhouse' });
  const use = { externalCustomerId: 'user-1', featureKey: 'api-calls' };
  const { allowed } = await tollhouse.check(use);
  await tollhouse.close();
  let refused = false;
  try {
    new client.Tollhouse({ apiKey: 'svc_test_secret', baseUrl: '/tollhouse' });
  } catch {
    refused = true;
  }
  return { allowed, refused, isVerifier: 'verifyWebhook' in client };
})()`;
