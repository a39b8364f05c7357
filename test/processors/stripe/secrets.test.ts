// No key, no secret of a webhook and no card is in a log, in the database, in an answer or in a
// metric. They are planted wherever one may be sent, and Stripe's errors quote them.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Bank, type Merchant, openBank } from '../../http/organization/connected.ts';
import type { Reply } from '../../support/server.ts';
import { BUYER, sessionOf } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import type { FakeAccount } from './fake.ts';

setDefaultTimeout(60_000);

const CARD = '4242424242424242';
const TYPED = '4000056655665556';
const UNKNOWN = 'sk_test_UnknownToStripe0123456789';
const UNFIT = 'sk_live_OfTheOtherMode0123456789';
const SECRET = 'whsec_OfTheMerchant0123456789';
const FORGED = 'whsec_OfAStranger0123456789';

let bank: Bank;
let mine: Merchant;
let account: FakeAccount;
let rolled: string;
let restricted: string;
const answers: string[] = [];
beforeAll(async () => {
  bank = await openBank();
  mine = await bank.merchant();
  account = bank.fake.newAccount();
  await live();
});
afterAll(() => bank.stop());

const kept = ({ text, headers }: Reply) => {
  answers.push(text, JSON.stringify([...headers]));
};

/** A merchant's first days with Stripe. */
async function live(): Promise<void> {
  for (const key of [UNKNOWN, UNFIT, `${account.testKey}x`]) kept(await mine.connect(key));
  quoting(account.testKey);
  kept(await mine.connect(account.testKey));
  kept(await mine.connect(account.testKey));
  await sellAndRefund();
  rolled = account.rollKey('test');
  // The old key is refused now, in the middle of payments.
  await begin();
  kept(await mine.connect(rolled));
  restricted = account.restrictedKey('test', ['accounts_kyc_basic_read']);
  kept(await mine.put({ type: 'stripe', secret_key: restricted, webhook_secret: SECRET }));
  await begin();
  await webhooks();
  kept(await mine.get());
  kept(await mine.remove());
  kept(await bank.server.call('GET', '/events?limit=200', { key: mine.testKey }));
}

/** The next call of an account is refused with an error that quotes its key. */
function quoting(key: string): void {
  bank.fake.next(
    { method: 'GET', path: /^\/v1\/account$/ },
    {
      error: {
        type: 'invalid_request_error',
        message: `${key} is not good`,
        param: key,
        status: 403,
      },
    },
  );
}

async function post(path: string, body: object): Promise<Reply['json']> {
  const reply = await bank.server.call('POST', path, { key: mine.testKey, body });
  kept(reply);
  return reply.json;
}

/** A buyer who is led to Stripe, or an attempt that Stripe refuses. */
async function begin(): Promise<{ id: string; url: string | null }> {
  const prices = [{ amount: '100', currency: 'USD' }];
  const product = await post('/products', { name: 'Lamp', prices });
  const body = { product_id: product.id, customer_email: BUYER };
  const session = sessionOf(await post('/checkouts', body));
  // A program that fills our own form all the same.
  const typed = {
    payment_method: 'card',
    card_number: TYPED,
    card_expiry: '12/34',
    card_cvc: '987',
  };
  const submitted = await fetch(`${bank.server.url}/pay/${session.token}`, {
    method: 'POST',
    body: new URLSearchParams(typed),
    redirect: 'manual',
  });
  answers.push(await submitted.text());
  const { data } = (
    await bank.server.call('GET', `/payments?checkout_id=${session.id}`, { key: mine.testKey })
  ).json;
  return { id: data[0]?.id ?? '', url: submitted.headers.get('location') };
}

async function sellAndRefund(): Promise<void> {
  const { id, url } = await begin();
  if (url === null) throw new Error('the buyer is not led away');
  await bank.fake.buyer.pays(url, '4000000000000002');
  await bank.fake.buyer.pays(url, CARD);
  await until('it is paid', async () => {
    const reply = await bank.server.call('GET', `/payments/${id}`, { key: mine.testKey });
    return reply.json.status === 'succeeded';
  });
  bank.fake.next(
    { method: 'POST', path: /^\/v1\/refunds$/ },
    { error: { type: 'api_error', message: `${account.testKey} and ${CARD}`, status: 500 } },
  );
  await post(`/payments/${id}/refund`, { amount: '1.00' });
  await post(`/payments/${id}/refund`, { amount: '2.00' });
}

async function webhooks(): Promise<void> {
  const object = { id: 'pi_1', object: 'payment_intent', card: TYPED, key: account.testKey };
  const event = { id: 'evt_1', data: { object } };
  for (const secret of [SECRET, FORGED]) {
    const reply = await bank.fake.webhooks.forge(mine.hook(), { secret, event });
    answers.push(await reply.text());
  }
}

const planted = () => ({
  key: account.testKey,
  rolled,
  restricted,
  live: account.liveKey,
  UNKNOWN,
  UNFIT,
  SECRET,
  FORGED,
  CARD,
  TYPED,
});

/** Which of them are in a text, as they are or in the ways in which bytes are written. */
function found(text: string, secrets: Readonly<Record<string, string>> = planted()): string[] {
  const lower = text.toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) => {
    // Without its prefix, which may be shown.
    const own = secret.replace(/^(?:[sr]k_(?:test|live)|whsec)_/, '');
    const bytes = Buffer.from(own);
    const written = [own, bytes.toString('base64').replace(/=+$/, '').slice(0, -2)];
    const isThere =
      written.some((one) => text.includes(one)) || lower.includes(bytes.toString('hex'));
    return isThere ? [name] : [];
  });
}

/** Every row of every table, as a dump writes it. */
async function dump(): Promise<string> {
  const { sql } = bank.server;
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const rows = await Promise.all(
    tables.map(({ name }) => sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`)),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

test('a Stripe secret is only stored encrypted', async () => {
  const all = await dump();
  expect(all).toContain(BUYER);
  expect(all).toContain(account.id);
  expect(found(all)).toEqual([]);
});

test('a dump of the database with a Stripe secret in it would be noticed, as text and as bytes', async () => {
  const { sql } = bank.server;
  await sql`create table planted (text text, bytes bytea, json jsonb)`;
  for (const [text, bytes, json] of [
    [account.testKey, null, null],
    [null, Buffer.from(SECRET), null],
    [null, null, { number: TYPED }],
  ] as const) {
    await sql`insert into planted values (${text}, ${bytes}, ${json === null ? null : sql.json(json)})`;
  }
  expect(found(await dump())).toEqual(['key', 'SECRET', 'TYPED']);
  await sql`drop table planted`;
});

test('a Stripe secret is not in the log', () => {
  const log = bank.server.logged.join('\n');
  // It has what failed, and each request.
  expect(log).toContain('Stripe refused a request about an account');
  expect(log).toContain('/organization/processor');
  expect(found(log)).toEqual([]);
});

test('a Stripe secret is not in an answer', () => {
  expect(answers.length).toBeGreaterThan(15);
  expect(found(answers.join('\n'))).toEqual([]);
});

test('a Stripe secret is not in a metric', async () => {
  const { text } = await bank.server.call('GET', '/metrics', { key: null });
  expect(text).toContain('tollhouse_');
  expect(found(text)).toEqual([]);
});
