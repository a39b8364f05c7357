// README.md over the fake of Stripe, with a browser on its pages: the chapters that sell, unchanged,
// with an account connected in test mode; then "Go live". The books of both close at the end.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeAccount, openStripeFake, type StripeFake } from '../processors/stripe/fake.ts';
import { freePort } from '../support/free-port.ts';
import { codesOf, exchangesOf, linesOf, partsOf } from './book.ts';
import { type BrowserBuyer, openBrowserBuyer } from './browser-buyer.ts';
import { type Clone, openClone, Started } from './clone.ts';
import { Reader } from './reader.ts';
import { Terminal } from './terminal.ts';

setDefaultTimeout(180_000);

const README = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8');
const [START] = exchangesOf(linesOf(partsOf(README, 'Start')[1]));
const SELLING = ['Sell', 'Sell usage', 'When a renewal fails'];

let fake: StripeFake;
let account: FakeAccount;
let clone: Clone;
let service: Started;
let terminal: Terminal;
let buyer: BrowserBuyer;
let reader: Reader;

beforeAll(async () => {
  fake = await openStripeFake();
  account = fake.newAccount();
  clone = await openClone({ STRIPE_API_URL: fake.url });
  const port = await freePort();
  service = new Started(clone, START!.command, port);
  terminal = new Terminal(clone.directory, clone.environment);
  buyer = await openBrowserBuyer(fake.url);
  const [key = ''] = /svc_test_\w+/.exec(await service.says('"listening"')) ?? [];
  const secrets = new Map([
    ['KEY=svc_test_...', `KEY=${key}`],
    ['STRIPE_KEY=sk_live_...', `STRIPE_KEY=${account.liveKey}`],
  ]);
  reader = new Reader({ clone, terminal, ports: new Map([['3000', port]]), secrets, buyer });
  const connected = await fetch(`http://127.0.0.1:${port}/organization/processor`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'stripe', secret_key: account.testKey }),
  });
  expect(await connected.json()).toMatchObject({ account: account.id, status: 'active' });
});
afterAll(async () => {
  await buyer.close();
  await terminal.close();
  await service.interrupt();
  clone.remove();
  await fake.close();
});

const succeeded = (mode: 'test' | 'live') =>
  fake
    .books(account.id, mode)
    .intents.filter(({ status }) => status === 'succeeded')
    .map(({ amount_received: amount, currency }) => `${amount} ${currency}`);

test('Start', () => reader.read(partsOf(README, 'Start').slice(2)));

test.each(SELLING)('%s', (title) => reader.read(partsOf(README, title)));

test('Stripe has the money of these chapters', () => {
  // The book; the plan of user-5 and three renewals; that of user-2, and its renewal by another card.
  const [book, ...plans] = succeeded('test');
  expect(book).toBe('2450 eur');
  expect(plans.toSorted()).toEqual([
    '1000 usd',
    '1000 usd',
    '1000 usd',
    '1000 usd',
    '1100 usd',
    '1500 usd',
  ]);
  expect(fake.books(account.id, 'test').refunds).toMatchObject([{ amount: 450, currency: 'eur' }]);
});

test('Go live', () => reader.read(partsOf(README, 'Go live')));

test('it is paid and refunded in live mode', async () => {
  expect(succeeded('live')).toEqual(['2450 eur']);
  await terminal.run(
    "KEY=$LIVE call /payments/$(KEY=$LIVE call /payments | field id)/refund '{}' | grep succeeded",
  );
  expect(fake.books(account.id, 'live').refunds).toMatchObject([{ amount: 2450 }]);
});

test('nothing of these chapters was left out, and the books close', async () => {
  const written = [...SELLING, 'Go live'].flatMap((title) =>
    partsOf(README, title).flatMap(codesOf),
  );
  expect(written.filter((one) => !reader.did.includes(one))).toEqual([]);
  expect(await terminal.run('npx bun@1.4.5 run admin audit --json')).toBe('{"findings":[]}');
});
