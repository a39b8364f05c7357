// Compares what callers were told of what customers have prepaid with what the service says of it.
import Big from 'big.js';
import { must } from '../../ledger/kernel/assert.ts';
import { audit } from '../../src/database/audit.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { ask, type Seller } from '../support/shop.ts';
import { until } from '../support/until.ts';
import type { Hold, PrepaidBook } from './prepaid-book.ts';
import { MEMBERS, POOL, type Prepaid } from './prepaid-customers.ts';
import { NONE, expectPaid, past, rowsOf, shown } from './prepaid-reckoning.ts';

const SHOWN = 5;
const PAGE = 100;

/** What the alarms are to let go of is free. */
export async function expired(sql: Sql, book: PrepaidBook): Promise<void> {
  const open = book.holds.filter(({ status, isShort }) => status === 'open' && !isShort).length;
  await until(`${open} holds are open`, async () => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from reservations where status = 'open' and member_account_id is null`;
    return row?.open === open;
  });
}

/** What is wrong, one line each. Every call is answered, and what expires has expired. */
export async function wrongPrepaid(
  { sql, seller }: { readonly sql: Sql; readonly seller: Seller },
  book: PrepaidBook,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const customer of book.customers) {
    wrong.push(
      ...(await wrongBalances(seller, book, customer)),
      ...(await wrongEvents(seller, book, customer)),
      ...(await wrongChecks(seller, book, customer)),
    );
  }
  const holds = (await Promise.all(book.holds.map((hold) => wrongHold(seller, hold)))).flat();
  const findings = (await audit(sql)).map(({ check, detail }) => `${check}: ${detail}`);
  return [...wrong, ...holds.slice(0, SHOWN), ...(await untold(sql, book)), ...findings];
}

async function wrongBalances(seller: Seller, book: PrepaidBook, customer: Prepaid) {
  const { data } = await ask(seller, 'GET', `/customers/${customer.id}/balances`);
  return book.expected(customer).flatMap((expected) => {
    const { feature } = expected;
    const found = must(
      rowsOf(data).find((row) => row.feature === feature),
      'a row',
    );
    const [is, should] = [shown(found), shown(expected)];
    return is === should ? [] : [`${customer.id} has ${is}, not ${should}`];
  });
}

/** Each event once. */
async function wrongEvents(seller: Seller, book: PrepaidBook, customer: Prepaid) {
  const wrong: string[] = [];
  for (const { name: feature } of MEMBERS) {
    const found: Big[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = new URLSearchParams({ feature_key: feature, customer_id: customer.id });
      query.set('limit', String(PAGE));
      if (cursor !== '') query.set('cursor', cursor);
      const page = await ask(seller, 'GET', `/usage/events?${query.toString()}`);
      found.push(...page.data.map(({ value }: { value: number }) => Big(value)));
      cursor = page.next_cursor;
    }
    const [is, should] = [found, book.events(customer, feature)].map((values) =>
      values
        .toSorted((a, b) => a.cmp(b))
        .map(String)
        .join(' '),
    );
    if (is !== should) wrong.push(`${customer.id} has ${feature} events ${is}, not ${should}`);
  }
  return wrong;
}

/**
 * Its own units and its credits pay for so much, and for no more. Where it has no grant of its own
 * and the pool has a debt, 0 is too much.
 */
async function wrongChecks(seller: Seller, book: PrepaidBook, customer: Prepaid) {
  const wrong: string[] = [];
  const rows = book.expected(customer);
  const left = rows.map(({ balance }) => balance);
  const rest = must(left.at(-1), POOL);
  const credits = past(rest, NONE);
  for (const [index, { name: feature, decimals }] of MEMBERS.entries()) {
    const cost = must(customer.costs.get(feature), 'a cost');
    const paid = Big(credits.div(cost).toFixed(decimals, Big.roundDown));
    const most = must(left[index], feature).plus(paid);
    const one = Big(10).pow(-decimals);
    const isOwn = must(customer.granted.get(feature), feature).gt(0);
    for (const value of [most, most.plus(one)]) {
      const allowed = value.eq(most) && (isOwn || rest.gte(0));
      const body = { feature_key: feature, customer_id: customer.id, value: value.toFixed() };
      const answer = await ask(seller, 'POST', '/check', body);
      if (answer.allowed !== allowed)
        wrong.push(`a check of ${value.toFixed()} ${feature} is ${answer.allowed}`);
      expectPaid(customer, { feature, value }, answer);
    }
  }
  return wrong;
}

async function wrongHold(seller: Seller, hold: Hold): Promise<string[]> {
  const { id, isShort, amount, committed, late } = hold;
  const is = await ask(seller, 'GET', `/reservations/${id}`);
  const status = hold.status === 'open' && isShort ? 'expired' : hold.status;
  const said = [is.status, is.amount, is.committed, is.late].join(' ');
  const should = [status, amount, committed, late].join(' ');
  return said === should ? [] : [`hold ${id} is ${said}, not ${should}`];
}

async function untold(sql: Sql, { holds }: PrepaidBook): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from reservations where member_account_id is null and id <> all(${holds.map(({ id }) => id)}::uuid[])`;
  return rows.map(({ id }) => `${id} is held, and no caller was told`);
}
