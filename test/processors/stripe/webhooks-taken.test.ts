// Which webhooks are taken, and what a stranger gets. What follows from one:
// webhooks-followed.test.ts.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { retain } from '../../../src/database/retention.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { type Bank, type Merchant, openBank } from '../../http/organization/connected.ts';
import { newNetwork } from '../../support/network.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { until } from '../../support/until.ts';
import type { FakeAccount } from './fake.ts';
import type { Forged } from './webhooks.ts';

const SECRET = 'whsec_thatTheMerchantHas';
const DAY_MS = 86_400_000;

setDefaultTimeout(60_000);

let bank: Bank;
let mine: Merchant;
let account: FakeAccount;
beforeAll(async () => {
  bank = await openBank();
});
beforeEach(async () => {
  mine = await bank.merchant();
  account = bank.fake.newAccount();
  await connect(mine, account);
});
afterAll(() => bank.stop());

/** With an endpoint of the merchant's own, so that a test can sign. */
const connect = (merchant: Merchant, { testKey }: FakeAccount, webhook_secret = SECRET) =>
  merchant.put({ type: 'stripe', secret_key: testKey, webhook_secret });

let events = 0;
const newEventId = () => `evt_${(events += 1)}`;
const about = (object: object, id = newEventId()) => ({ id, data: { object } });
const ours = (id?: string) =>
  about({ id: 'pi_1', object: 'payment_intent', metadata: { key: ids.next() } }, id);

async function send(forged: Forged, url = mine.hook()) {
  const response = await bank.fake.webhooks.forge(url, { secret: SECRET, ...forged });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}
const stored = async (): Promise<Record<string, unknown>[]> => [
  ...(await bank.server.sql`
    select event_id, about, subject, processor from processor_hints
    where organisation_id = ${mine.id} order by received_at, event_id`),
];

test('a signed webhook of Stripe is taken once, however often it comes', async () => {
  const event = ours();
  const replies = await Promise.all([1, 2, 3].map(() => send({ event })));
  expect(replies.map(({ status, text }) => [status, text])).toEqual(
    [1, 2, 3].map(() => [200, '{"received":true}']),
  );
  expect((await send({ event })).status).toBe(200);
  const { key } = (event.data.object as { metadata: { key: string } }).metadata;
  const row = {
    event_id: event.id,
    about: 'charge',
    subject: key,
    processor: `stripe:${account.id}`,
  };
  expect(await stored()).toEqual([row]);
});

test('the same Stripe event for two organisations is two', async () => {
  const other = await bank.merchant();
  await connect(other, bank.fake.newAccount());
  const event = ours('evt_of_both');
  await send({ event });
  await send({ event }, other.hook());
  const rows = await bank.server.sql`
    select organisation_id from processor_hints where event_id = 'evt_of_both'`;
  expect(new Set(rows.map((row) => row['organisation_id']))).toEqual(new Set([mine.id, other.id]));
});

const KEY = '01976c2e-5f00-7a10-8000-000000000010';
// prettier-ignore
const OBJECTS: [string, object, string | null][] = [
  // what object about
  ['a session',                { object: 'checkout.session', metadata: { key: KEY } },                   'charge'],
  ['a setup',                  { object: 'setup_intent', metadata: { key: KEY } },                       'charge'],
  ['a refund',                 { object: 'refund', metadata: { key: KEY } },                             'refund'],
  ['a refund of the dashboard', { object: 'refund', metadata: {} },                                      null],
  ["another program's intent", { object: 'payment_intent', metadata: { key: 'order 7' } },               null],
  ['an intent without any',    { object: 'payment_intent' },                                             null],
  ['metadata as text',         { object: 'payment_intent', metadata: KEY },                              null],
  ['a key as a number',        { object: 'payment_intent', metadata: { key: 7 } },                       null],
  ["a dispute of another program's", { object: 'dispute', payment_intent: 'pi_theirs', metadata: { key: KEY } }, null],
  ['a dispute of no intent',   { object: 'dispute', payment_intent: null },                              null],
  ['a customer',               { object: 'customer', metadata: { key: KEY } },                           null],
  ['a prototype',              { object: 'constructor', metadata: { key: KEY } },                        null],
];
test.each(OBJECTS)('the Stripe event %s is a hint about: %s', async (_what, object, expected) => {
  expect((await send({ event: about(object) })).status).toBe(200);
  const rows = await stored();
  expect(rows.map((row) => row['about'])).toEqual(expected === null ? [] : [expected]);
});

// prettier-ignore
const ODD: [string, string][] = [
  ['null',             'null'],
  ['a list',           '[]'],
  ['text',             '"evt_1"'],
  ['no data',          '{"id":"evt_1"}'],
  ['data of null',     '{"id":"evt_1","data":null}'],
  ['an object of null', '{"id":"evt_1","data":{"object":null}}'],
  ['no id',            `{"data":{"object":{"object":"refund","metadata":{"key":"${KEY}"}}}}`],
  ['a long id',        `{"id":"evt_${'x'.repeat(300)}","data":{"object":{"object":"refund","metadata":{"key":"${KEY}"}}}}`],
  ['an id with a NUL', `{"id":"evt_\\u0000","data":{"object":{"object":"refund","metadata":{"key":"${KEY}"}}}}`],
];
test.each(ODD)('the Stripe event %s, signed, is answered and is no hint', async (_what, body) => {
  expect((await send({ body })).status).toBe(200);
  expect(await stored()).toEqual([]);
});

// prettier-ignore
const UNSIGNED: [string, () => Forged][] = [
  ['no signature',             () => ({ signature: null })],
  ['an empty signature',       () => ({ signature: '' })],
  ['a signature of nothing',   () => ({ signature: 't=,v1=' })],
  ['a wrong one',              () => ({ signature: `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` })],
  ['one of a version before',  () => ({ signature: `t=${Math.floor(Date.now() / 1000)},v0=${'0'.repeat(64)}` })],
  ['a long one',               () => ({ signature: `t=1,${'v1=00,'.repeat(1000)}` })],
  ['another secret',           () => ({ secret: 'whsec_ofSomebody' })],
  ['the key as the secret',    () => ({ secret: account.testKey })],
  ['one of six minutes ago',   () => ({ ageMs: 6 * 60_000 })],
  ['what is no JSON',          () => ({ body: '{"id":' })],
  ['nothing as a body',        () => ({ body: '' })],
];
test.each(UNSIGNED)(
  'a Stripe webhook to %s is the 400 of an unknown organisation',
  async (_what, forge) => {
    const forged = { event: ours(), ...forge() };
    const reply = await send(forged);
    const nobody = await send(forged, `${bank.server.url}/processors/stripe/${ids.next()}/test`);
    expect([reply.status, reply.text]).toEqual([nobody.status, nobody.text]);
    expect([reply.status, JSON.parse(reply.text).error]).toEqual([
      400,
      {
        type: 'invalid_request',
        message: expect.any(String),
        issues: [{ path: ['Stripe-Signature'], message: 'is missing, wrong or too old' }],
      },
    ]);
    const named = (headers: Headers) => [...headers.keys()].toSorted();
    expect(named(reply.headers)).toEqual(named(nobody.headers));
    expect(await stored()).toEqual([]);
  },
);

// prettier-ignore
const ELSEWHERE: [string, () => string][] = [
  ['the other mode',             () => mine.hook('live')],
  ['a mode that there is not',   () => mine.hook().replace(/test$/, 'prod')],
  ['an id that is none',         () => `${bank.server.url}/processors/stripe/nobody/test`],
  ['an id with a blank',         () => `${bank.server.url}/processors/stripe/%20/test`],
  ['an id with a NUL',           () => `${bank.server.url}/processors/stripe/%00/test`],
];
test.each(ELSEWHERE)(
  'a Stripe webhook signed for one organisation is not taken in %s',
  async (_what, url) => {
    const reply = await send({ event: ours() }, url());
    expect([reply.status, reply.text]).toEqual([400, (await send({ signature: null })).text]);
    const [row] = await bank.server.sql<
      { n: number }[]
    >`select count(*)::int as n from processor_hints
    where organisation_id = ${mine.id}`;
    expect(row!.n).toBe(0);
  },
);

test("an organisation's Stripe webhook secret is refused at another's address", async () => {
  const other = await bank.merchant();
  await connect(other, bank.fake.newAccount(), 'whsec_ofTheOther');
  expect((await send({ event: ours(), secret: 'whsec_ofTheOther' })).status).toBe(400);
  expect((await send({ event: ours(), secret: 'whsec_ofTheOther' }, other.hook())).status).toBe(
    200,
  );
});

/** What Stripe would sign a body with. */
async function signatureOf(body: string): Promise<string> {
  const caught = Promise.withResolvers<string>();
  const tap = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      caught.resolve(request.headers.get('stripe-signature') ?? '');
      return new Response();
    },
  });
  await bank.fake.webhooks.forge(tap.url.href, { body, secret: SECRET });
  await tap.stop(true);
  return caught.promise;
}

test('a Stripe webhook with one byte changed is refused', async () => {
  const body = JSON.stringify(ours());
  const signature = await signatureOf(body);
  const statusOf = async (text: string) => (await send({ body: text, signature })).status;
  expect(await statusOf(body.replace('pi_1', 'pi_2'))).toBe(400);
  expect(await statusOf(`${body} `)).toBe(400);
  expect(await statusOf(body)).toBe(200);
});

test('a Stripe account that was replaced or disconnected may still send webhooks', async () => {
  await connect(mine, bank.fake.newAccount(), 'whsec_ofTheSecond');
  expect((await send({ event: ours() })).status).toBe(200);
  expect((await send({ event: ours(), secret: 'whsec_ofTheSecond' })).status).toBe(200);
  expect(new Set((await stored()).map((row) => row['processor']))).toHaveLength(2);
  await mine.remove();
  expect((await send({ event: ours() })).status).toBe(200);
});

test('a Stripe webhook that is too long is refused before it is read', async () => {
  const body = 'x'.repeat(512 * 1024 + 1);
  const reply = await send({ body });
  expect([reply.status, JSON.parse(reply.text).error.type]).toEqual([413, 'payload_too_large']);
  const chunked = await fetch(mine.hook(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': 't=1,v1=0' },
    body: new Response(body).body,
  });
  expect(chunked.status).toBe(413);
  const within = JSON.stringify({ ...ours(), note: 'x'.repeat(500 * 1024) });
  expect((await send({ body: within })).status).toBe(200);
});

test('a Stripe webhook by another media type or method is refused', async () => {
  const headers = { 'content-type': 'text/plain' };
  const plain = await fetch(mine.hook(), { method: 'POST', headers, body: '{}' });
  expect(plain.status).toBe(415);
  expect((await fetch(mine.hook())).status).toBe(405);
});

test('strangers are rate limited at the Stripe webhook by address; who has sent a signed one always passes', async () => {
  const network = newNetwork();
  const limits = { ...TEST_SETTINGS.limits, unsignedWebhooks: 3 };
  const strict = await openBank({ settings: { limits, proxyHops: 1 } });
  const merchant = await strict.merchant();
  await connect(merchant, strict.fake.newAccount());
  const call = (host: number, signature: string | null, body = '{}') =>
    fetch(merchant.hook(), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': network(host),
        ...(signature !== null && { 'stripe-signature': signature }),
      },
      body,
    });
  const body = JSON.stringify(ours());
  const signature = await signatureOf(body);
  for (let count = 0; count < 5; count += 1) {
    expect((await call(1, signature, body)).status).toBe(200);
  }
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await call(1, null)).status);
  expect(statuses).toEqual([400, 400, 400, 429, 429]);
  const limited = await call(1, null);
  expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true]);
  // Stripe has few addresses, and sends for everybody from them.
  expect((await call(1, signature, body)).status).toBe(200);
  // Of who never sent a signed one, nothing is read any more: neither looked up nor hashed.
  for (let count = 0; count < 4; count += 1) await call(2, null);
  expect((await call(2, signature, body)).status).toBe(429);
  await strict.stop();
});

test('settled Stripe webhooks are deleted by retention, and others stay', async () => {
  const { sql } = bank.server;
  const [settled, open] = [ours(), ours()];
  await send({ event: settled });
  await until('it is followed', async () => {
    const rows = await sql`
      select from processor_hints where event_id = ${settled.id} and settled_at is not null`;
    return rows.length === 1;
  });
  await sql`update processor_hints set settled_at = now() - interval '100 days' where event_id = ${settled.id}`;
  await sql`
    insert into processor_hints (organisation_id, mode, event_id, processor, about, subject, received_at, next_at)
    values (${mine.id}, 'test', ${open.id}, 'stripe:acct_1', 'charge', ${ids.next()}, now() - interval '100 days', 'infinity')`;
  const done = await retain(
    { sql, clock, timers, ids, dryRun: false },
    { keysMs: 40 * DAY_MS, eventsMs: 90 * DAY_MS, denialsMs: 30 * DAY_MS, usageMonths: null },
  );
  expect(done?.rows['processor_hints']).toBe(1);
  expect((await stored()).map((row) => row['event_id'])).toEqual([open.id]);
});
