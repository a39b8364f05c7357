// README.md with Stripe: the chapters that sell, unchanged, with an account connected in test mode
// and a browser on its pages; then "Go live". The books of both sides agree at the end. Over the
// fake of Stripe, or over Stripe itself with STRIPE_TEST_KEY (side.ts).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { codesOf, exchangesOf, linesOf, partsOf } from './book.ts';
import { type BrowserBuyer, openBrowserBuyer } from './browser-buyer.ts';
import { type Clone, openClone, Started } from './clone.ts';
import { Reader } from './reader.ts';
import { openSide, type Side } from './side.ts';
import { Terminal } from './terminal.ts';

setDefaultTimeout(180_000);

const page = (path: string) => readFileSync(join(import.meta.dir, '../..', path), 'utf8');
const README = page('README.md');
const API = page('src/API.md');
const [START] = exchangesOf(linesOf(partsOf(README, 'Start')[1]));
/** Stripe declines 4000000000000341 at once, and live mode is for money. */
const OF_FAKE = [
  [API, 'When a renewal fails'],
  [README, 'Go live'],
] as const;
const CHAPTERS = [[README, 'Sell'], [README, 'Sell usage'], ...OF_FAKE] as const;

const side: Side = await openSide();
const read = side.isFake ? CHAPTERS : CHAPTERS.slice(0, -OF_FAKE.length);
const begun = Math.floor(Date.now() / 1000);
let clone: Clone;
let service: Started;
let terminal: Terminal;
let buyer: BrowserBuyer;
let reader: Reader;

beforeAll(async () => {
  clone = await openClone(side.environment);
  const port = await freePort();
  service = new Started(clone, START!.command, port);
  terminal = new Terminal(clone.directory, clone.environment);
  buyer = await openBrowserBuyer(side);
  const [key = ''] = /svc_test_\w+/.exec(await service.says('"listening"')) ?? [];
  const secrets = new Map([
    ['KEY=svc_test_...', `KEY=${key}`],
    ['STRIPE_KEY=sk_live_...', `STRIPE_KEY=${side.liveKey}`],
  ]);
  const { directory } = clone;
  reader = new Reader({ directory, terminal, ports: new Map([['3000', port]]), secrets, buyer });
  const connected = await fetch(`http://127.0.0.1:${port}/organization/processor`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'stripe', secret_key: side.testKey }),
  });
  // Stripe itself cannot send webhooks to this machine.
  const status = side.isFake ? 'active' : 'webhook_secret_required';
  expect(await connected.json()).toMatchObject({ mode: 'test', status });
});
afterAll(async () => {
  await buyer.close();
  await terminal.close();
  await service.interrupt();
  clone.remove();
  await side.close();
});

/** What the account has taken and given back since this test began, in the smallest coin. */
async function movedAt(key: string): Promise<{ taken: string[]; refunded: number[] }> {
  const since = { created: { gte: begun }, limit: 100 };
  const [intents, refunds] = await Promise.all([
    side.ask(key).paymentIntents.list(since),
    side.ask(key).refunds.list(since),
  ]);
  return {
    taken: intents.data
      .filter(({ status }) => status === 'succeeded')
      .map(({ amount_received: amount, currency }) => `${amount} ${currency}`)
      .toSorted(),
    refunded: refunds.data.map(({ amount }) => amount),
  };
}

test('README with Stripe: Start', () => reader.read(partsOf(README, 'Start').slice(2)));

test.each(read.map(([from, title]) => [title, from] as const))(
  'README with Stripe: %s',
  (title, from) => reader.read(partsOf(from, title)),
);

test("Stripe has the money of the README's chapters", async () => {
  // The plan of user-5 and two renewals with what was used, and the book.
  const sold = ['1000 usd', '1100 usd', '1500 usd', '2450 eur'];
  // One more renewal of that plan; the plan of user-2, and its renewal by another card.
  const later = ['1000 usd', '1000 usd', '1000 usd'];
  expect(await movedAt(side.testKey)).toEqual({
    taken: side.isFake ? [...later, ...sold] : sold,
    refunded: [450],
  });
});

test.if(side.isFake)("a live payment of the README's chapters is refunded", async () => {
  const payment = '$(KEY=$LIVE call /payments | field id)';
  await terminal.run(`KEY=$LIVE call /payments/${payment}/refund '{}' | grep succeeded`);
  const moved = { taken: ['2450 eur'], refunded: [2450] };
  expect(await movedAt(side.liveKey!)).toEqual(moved);
});

test("no block of the README's chapters was left out, and the books balance", async () => {
  const written = read.flatMap(([from, title]) => partsOf(from, title).flatMap(codesOf));
  expect(written.filter((one) => !reader.did.includes(one))).toEqual([]);
  const admin = (words: string) => terminal.run(`npx bun@1.4.5 run admin ${words} --json`);
  expect(JSON.parse(await admin('audit'))).toEqual({ findings: [] });
  expect(JSON.parse(await admin('reconcile'))).toMatchObject({ differences: [] });
});
