// No answer is above its bytes or holds the others up, in the largest state that the bounds allow.
// The operations are those of the document, the pages those of the dashboard: a new one is walked
// too.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { CHECK_BATCH_MAX, TRACK_BATCH_MAX } from '../../../ledger/limits.ts';
import { ANSWER_BYTES_MAX } from '../../../src/platform/answer-bounds.ts';
import { DASHBOARD_PAGES } from '../../../src/dashboard/pages.ts';
import type { Documented } from '../../../src/http/openapi/document.ts';
import type { TestServer } from '../../support/server.ts';
import { longestTurn } from '../../support/longest-turn.ts';
import { aMember, signedIn, type Tab } from '../people/tab.ts';
import { BIG, type Largest, makeLargest, many } from './largest.ts';

/** One stretch in which nobody else is answered; and a neighbour's check while four ask at once. */
const STRETCH_MS_MAX = 25;
const CHECK_MS_MAX = 250;
/** The machine may be busy: what is slow by itself is slow each time. */
const TRIES = 5;
const CALLERS = 4;
/** A download is sent page by page, and each page is like those before. */
const DOWNLOADED_MAX = 3 * ANSWER_BYTES_MAX;

let largest: Largest;
let server: TestServer;
let tab: Tab;
const operations: { method: string; path: string; documented: Documented }[] = [];

beforeAll(async () => {
  largest = await makeLargest();
  ({ server } = largest.shop);
  tab = await signedIn(server, await aMember(server));
  const key = server.other.testKey;
  await server.call('POST', '/meters', { key, body: { slug: 'calls' } });
  await server.call('POST', '/customers', { key, body: { external_customer_id: 'neighbour' } });
  const { paths } = (await server.call('GET', '/openapi.json')).json as {
    paths: Record<string, Record<string, Documented>>;
  };
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, documented] of Object.entries(methods)) {
      operations.push({ method: method.toUpperCase(), path, documented });
    }
  }
}, 600_000);
// Its rows are made up, so there is no audit.
afterAll(() => server.stop());

const isRead = ({ method, documented }: (typeof operations)[number]): boolean =>
  // A stream has no end, and a page that is asked for again and again has its own tests.
  method === 'GET' && documented.operationId !== 'streamEvents';

/**
 * The path with ids: each that of the newest row of the list before it. null: there is no such
 * list.
 */
async function filled(template: string): Promise<string | null> {
  let path = '';
  for (const part of template.split('/').slice(1)) {
    if (!/^[{:]/.test(part)) {
      path += `/${part}`;
      continue;
    }
    if (path === '/portal') {
      path = largest.portal;
      continue;
    }
    const list = path.replace(/^\/api(?=\/)|^\/portal\/[^/]+/, '');
    if (list === '') return null;
    const { status, json } = await server.call('GET', `${list}?limit=1`);
    const id = status === 200 ? json.data?.[0]?.id : undefined;
    if (id === undefined) return null;
    path += `/${id}`;
  }
  return path;
}

/** Reads of one small thing that no list leads to, in the order of the document. */
const UNNAMED: string[] = [
  'getAutoTopup',
  'getReservation',
  'visitBuyLink',
  'showCheckout',
  'getRefund',
  'openInvoiceLink',
  'getDelivery',
  'getPartnerWebhookEndpoint',
  'showLogo',
  'showSandboxChallenge',
];

const KNOWN: Readonly<Record<string, string>> = {
  feature_key: `${BIG}-0`,
  external_customer_id: BIG,
};

const ASKED = { feature_key: `${BIG}-0`, external_customer_id: BIG };
const BATCHES: Readonly<Record<string, object>> = {
  checkEntitlements: { checks: many(CHECK_BATCH_MAX, () => ASKED) },
  trackUsages: { tracks: many(TRACK_BATCH_MAX, () => ASKED) },
};

function exampleOf({ requestBody }: Documented): unknown {
  const { schema } = requestBody?.content['application/json'] ?? { schema: {} };
  const { examples = [{}] } = schema as { examples?: readonly unknown[] };
  return requestBody === undefined ? undefined : examples[0];
}

/** What it must be asked with, and as many rows as it gives. */
function queryOf({ parameters }: Documented): string {
  const query = new URLSearchParams();
  for (const { in: place, name, required, schema } of parameters) {
    if (place !== 'query') continue;
    const most = (schema as { maximum?: number }).maximum;
    if (name === 'limit' && most !== undefined) query.set(name, String(most));
    else if (required && KNOWN[name] !== undefined) query.set(name, KNOWN[name]);
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

type Seen = {
  readonly status: number;
  readonly isDownload: boolean;
  readonly bytes: number;
  readonly stretchMs: number;
  readonly checkMs: number;
};
type Ask = () => Promise<Pick<Seen, 'status' | 'isDownload' | 'bytes'>>;

async function fetched(path: string, headers: Record<string, string>) {
  const response = await fetch(`${server.url}${path}`, { headers });
  const { status, body } = response;
  const isDownload = response.headers.get('content-disposition')?.startsWith('attachment') === true;
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (isDownload && bytes > DOWNLOADED_MAX) break;
  }
  return { status, isDownload, bytes };
}

const asked = (path: string): Ask => {
  const headers = { authorization: `Bearer ${server.organisation.testKey}` };
  return () => fetched(path, headers);
};

const shown = (path: string): Ask => {
  const address = `/dashboard/${server.organisation.id}/test${path}`;
  // The browser that signed in.
  const headers = { 'user-agent': 'Test <b>browser</b>', cookie: `__Host-tollhouse=${tab.cookie}` };
  return () => fetched(address, headers);
};

/** The longest that a neighbour waits for a check while the task runs. */
async function longestCheck(task: () => Promise<unknown>): Promise<number> {
  const body = { feature_key: 'calls', external_customer_id: 'neighbour' };
  const over = new AbortController();
  let ms = 0;
  const ask = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const began = performance.now();
      const { status } = await server.call('POST', '/check', { key: server.other.testKey, body });
      ms = Math.max(ms, status === 200 ? performance.now() - began : Infinity);
    }
  };
  await Promise.all([ask(), task().finally(() => over.abort())]);
  return ms;
}

async function look(ask: Ask): Promise<Seen> {
  const { status, isDownload, bytes } = await ask();
  let [stretchMs, checkMs] = [Infinity, Infinity];
  for (let left = TRIES; left > 0; left -= 1) {
    if (stretchMs > STRETCH_MS_MAX) stretchMs = Math.min(stretchMs, (await longestTurn(ask)).turn);
    if (checkMs > CHECK_MS_MAX) {
      checkMs = Math.min(checkMs, await longestCheck(() => Promise.all(many(CALLERS, ask))));
    }
  }
  return { status, isDownload, bytes, stretchMs, checkMs };
}

/** What is above a bound, in words. */
function faultsOf(name: string, { status, isDownload, bytes, stretchMs, checkMs }: Seen): string[] {
  return [
    status >= 500 ? `${name} answers ${status}` : null,
    // A download is sent page by page.
    !isDownload && bytes > ANSWER_BYTES_MAX ? `${name} has ${bytes} bytes` : null,
    stretchMs > STRETCH_MS_MAX
      ? `${name} holds the others up for ${stretchMs.toFixed(0)} ms`
      : null,
    checkMs > CHECK_MS_MAX ? `${name} makes a neighbour wait ${checkMs.toFixed(0)} ms` : null,
  ].filter((fault) => fault !== null);
}

/** Each of them; what is above a bound, and a line of figures for the largest. */
async function walk(asks: ReadonlyMap<string, Ask>): Promise<string[]> {
  const seen: (Seen & { readonly name: string })[] = [];
  for (const [name, ask] of asks) seen.push({ name, ...(await look(ask)) });
  const largestFirst = seen.toSorted((a, b) => b.bytes - a.bytes).slice(0, 12);
  for (const one of largestFirst) {
    const { name, status, bytes, stretchMs, checkMs } = one;
    console.log(
      `${name}: ${status}, ${bytes} B, ${stretchMs.toFixed(1)} / ${checkMs.toFixed(0)} ms`,
    );
  }
  return seen.flatMap(({ name, ...one }) => faultsOf(name, one));
}

test('every read of the document answers within its bytes, and holds nobody up', async () => {
  const asks = new Map<string, Ask>();
  const unnamed: string[] = [];
  for (const { path: template, documented } of operations.filter(isRead)) {
    const path = await filled(template);
    if (path === null) unnamed.push(documented.operationId);
    else asks.set(documented.operationId, asked(`${path}${queryOf(documented)}`));
  }
  expect(unnamed).toEqual(UNNAMED);
  expect(await walk(asks)).toEqual([]);
}, 600_000);

test('a list goes on behind a page that its bytes have ended', async () => {
  for (const list of ['products', 'customers', 'invoices', 'meters', 'events', 'payments']) {
    const rows: { id: string }[] = [];
    for (let query = '?limit=200'; query !== '';) {
      const { json } = await server.call('GET', `/${list}${query}`);
      rows.push(...(json.data as { id: string }[]));
      expect([list, json.limit === json.data.length || !json.has_more]).toEqual([list, true]);
      query = json.has_more && rows.length < 400 ? `?limit=200&after=${rows.at(-1)?.id}` : '';
    }
    const ids = new Set(rows.map(({ id }) => id));
    expect([list, rows.length >= 200, ids.size]).toEqual([list, true, rows.length]);
  }
}, 120_000);

test('every page of the dashboard is within its bytes, and holds nobody up', async () => {
  const asks = new Map<string, Ask>();
  for (const { path: template } of DASHBOARD_PAGES) {
    const path = await filled(template);
    if (path !== null) asks.set(template, shown(path));
  }
  expect(await walk(asks)).toEqual([]);
}, 600_000);

test('every write of the document answers within its bytes', async () => {
  const faults: string[] = [];
  // A key that is rotated is not used any more.
  const isOfKeys = ({ path }: { path: string }) => path.startsWith('/api-keys');
  const writes = operations
    .filter(({ method }) => method !== 'GET' && method !== 'DELETE')
    .toSorted((a, b) => Number(isOfKeys(a)) - Number(isOfKeys(b)));
  for (const { method, path: template, documented } of writes) {
    const path = (await filled(template)) ?? template.replaceAll(/\{\w+\}/g, BIG);
    const body = BATCHES[documented.operationId] ?? exampleOf(documented);
    const { status, text } = await server.call(method, path, { body });
    const bytes = Buffer.byteLength(text);
    if (status >= 500 && status !== 503) faults.push(`${documented.operationId} is ${status}`);
    if (bytes > ANSWER_BYTES_MAX) faults.push(`${documented.operationId} has ${bytes} bytes`);
  }
  expect(faults).toEqual([]);
}, 600_000);
