// What the pages are asked about: the organisation, made over the API, then filled by SQL.
import { createOrganisation, type FirstKeys } from '../../../src/accounts/onboarding.ts';
import { clock } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import { type Book, makeBook, PLAIN, type Seller } from '../../dashboard/book.ts';
import type { Closers } from '../../support/closers.ts';
import { ask, buy, sell, sessionOf } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { startService, type Stores } from '../bed/service.ts';
import { fill } from './fill.ts';
import type { Sizes } from './filling.ts';

export type World = {
  readonly organisation: FirstKeys;
  readonly book: Book;
  readonly sql: Sql;
};

/** Of the first customer, over the API: as many as it may have at a time. */
const GRANTS = 400;
const SUBSCRIPTIONS = 90;

export async function makeWorld(
  stores: Stores,
  closers: Closers,
  options: { readonly sizes: Sizes; readonly say: (line: string) => void },
): Promise<World> {
  const { sizes, say } = options;
  say('dashboard: one of each thing, over the API');
  const child = await startService(stores);
  // One connection: what fills it is of a session.
  const sql = openPool(stores.databaseUrl, { max: 1, applicationName: 'bench' });
  closers.push(() => sql.end());
  const url = `http://127.0.0.1:${child.port}`;
  const organisation = await newOrganisation(sql, 'Acme');
  const neighbour = await newOrganisation(sql, 'Neighbour');
  const book = await makeBook(await sellerOf(url, sql, organisation), PLAIN);
  await makeMore(url, sql, organisation, book);
  await child.stop();
  const originals = originalsOf(organisation.id, book);
  await fill(sql, { originals, neighbourId: neighbour.id, sizes, now: clock.now(), say });
  return { organisation, book, sql };
}

async function newOrganisation(sql: Sql, name: string): Promise<FirstKeys> {
  const setting = { sql, ids, now: clock.now() };
  const made = await createOrganisation(setting, { name, groupId: null });
  if (typeof made === 'string') throw new Error(made);
  return made;
}

async function sellerOf(url: string, sql: Sql, organisation: FirstKeys): Promise<Seller> {
  const at = { url, key: organisation.testKey };
  const product_id = await sell(at, { USD: '100' });
  const read = (path: string) => ask(at, 'GET', path);
  return {
    read,
    async checkout(fields = {}) {
      return sessionOf(await ask(at, 'POST', '/checkouts', { product_id, ...fields }));
    },
    async buy({ checkout = {}, means = 'good' } = {}) {
      return read(`/payments/${await buy(at, { means: [means], product_id, ...checkout })}`);
    },
    server: {
      sql,
      organisation,
      async call(method, path, { key, body } = {}) {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${key ?? at.key}`,
            'content-type': 'application/json',
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        const { status, headers } = response;
        return { status, headers, text, json: text === '' ? undefined : JSON.parse(text) };
      },
    },
  };
}

/** Of the customer of the book: what memory holds of it, a denial, and endpoints. */
async function makeMore(
  url: string,
  sql: Sql,
  { testKey: key }: FirstKeys,
  book: Book,
): Promise<void> {
  const at = { url, key };
  const [customer, product] = ['/customers/:id', '/products/:id'].map((path) => idIn(book, path));
  await ask(at, 'POST', '/check', {
    feature_key: 'api-calls',
    customer_id: customer,
    value: 1_000_000,
  });
  for (let n = 0; n < GRANTS; n += 1) {
    const grant = { feature_key: 'api-calls', amount: 1 + n };
    await ask(at, 'POST', `/customers/${customer}/grants`, grant);
  }
  for (let n = 0; n < SUBSCRIPTIONS; n += 1) {
    const plan = { customer_id: customer, product_id: product, trial_days: 20 };
    await ask(at, 'POST', '/subscriptions', plan);
  }
  for (const name of ['a', 'b', 'c']) {
    await ask(at, 'POST', '/webhook-endpoints', { url: `https://hooks.example/${name}` });
  }
  await until('a denial is kept', async () => (await sql`select from denials`).length > 0);
}

function originalsOf(organisationId: string, book: Book) {
  return {
    organisationId,
    customer: idIn(book, '/customers/:id'),
    meter: idIn(book, '/meters/:id'),
    product: idIn(book, '/products/:id'),
    payment: idIn(book, '/payments/:id'),
    subscription: idIn(book, '/subscriptions/:id'),
    grant: idIn(book, '/customers/:id/grants/:grant/void'),
    delivery: idIn(book, '/deliveries/:id'),
    discount: idIn(book, '/discounts/:id/delete'),
  };
}

/** Of the last part of the path that is one. */
function idIn(book: Book, path: string): string {
  const named = path.split('/').findLastIndex((part) => part.startsWith(':'));
  const id = book.addressOf(path).split('/')[named];
  if (id === undefined) throw new Error(`${path} names nothing`);
  return id;
}
