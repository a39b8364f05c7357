// Compares what callers were answered with the database and with what the service says.
import { audit } from '../../src/database/audit.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { keyedIds } from '../../src/http/wire/usage.ts';
import type { Book } from './book.ts';
import { call } from './call.ts';
import type { Tenant } from './tenant.ts';

type Place = { readonly url: string; readonly databaseUrl: string; readonly tenant: Tenant };

const SHOWN = 5;

/** What is wrong, one line each. Every call must have been answered before. */
export async function violations({ url, databaseUrl, tenant }: Place, book: Book) {
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'chaos verdict' });
  try {
    const findings = await audit(sql);
    return [
      ...book.faults.slice(0, SHOWN),
      ...(await wrongEvents(sql, tenant, book)).slice(0, SHOWN),
      ...(await wrongTotals(sql, book)),
      ...(await wrongBalances(url, tenant, book)),
      ...findings.map(({ check, detail }) => `${check}: ${detail}`),
    ];
  } finally {
    await sql.end();
  }
}

/** The same check on the events alone, for when no service runs. */
export async function eventViolations(
  { databaseUrl, tenant }: Omit<Place, 'url'>,
  book: Book,
): Promise<string[]> {
  const sql = openPool(databaseUrl, { max: 1, applicationName: 'chaos verdict' });
  try {
    return await wrongEvents(sql, tenant, book);
  } finally {
    await sql.end();
  }
}

/**
 * Each acknowledged event is stored exactly once, with the answered effect, and no other event is
 * stored.
 */
async function wrongEvents(sql: Sql, tenant: Tenant, book: Book): Promise<string[]> {
  const made = { ids, hasFormerKeys: false };
  const scope = { organisationId: tenant.organisationId, mode: 'test' } as const;
  const rows = await sql<{ id: string; refused: boolean; value: bigint }[]>`
    select id, kind = 'refused' as refused, value from transfers where value is not null`;
  const stored = new Map(rows.map((row) => [row.id, row]));
  const wrong: string[] = [];
  if (stored.size !== rows.length) wrong.push('an event is stored twice');
  for (const event of book.events.values()) {
    const key = { body: event.key, header: null, operation: 'track' };
    const { keyId } = keyedIds(made, scope, { customerId: event.customer, key });
    const row = stored.get(keyId ?? '');
    stored.delete(keyId ?? '');
    if (row === undefined) wrong.push(`${event.key} was acknowledged and is lost`);
    else if (row.refused === event.counts) wrong.push(`${event.key} was answered otherwise`);
    else if (Number(row.value) !== event.value) wrong.push(`${event.key} has another value`);
  }
  for (const [id, event] of book.unkeyed) {
    if (Number(stored.get(id)?.value) !== event.value)
      wrong.push(`${id} was acknowledged and is lost`);
    stored.delete(id);
  }
  return [...wrong, ...(await wrongUntold(sql, [...stored.keys()], book))];
}

/**
 * Events that are stored but were never acknowledged: each must be one call without a key, stored
 * once.
 */
async function wrongUntold(sql: Sql, untold: readonly string[], book: Book): Promise<string[]> {
  const rows = await sql<{ id: string; customer: string; meter: string; value: bigint }[]>`
    select t.id, a.customer_id as customer, m.slug as meter, t.value
    from transfers t join accounts a on a.id = t.debit and a.kind = 'meter' join meters m on m.id = a.meter_id
    where t.id = any(${untold}::uuid[]) and t.kind <> 'refused'`;
  const asked = new Set(
    rows
      .filter((row) => book.find(row.id, { ...row, value: Number(row.value) }))
      .map(({ id }) => id),
  );
  return untold
    .filter((id) => !asked.has(id))
    .map((id) => `${id} is stored, and no caller was told`);
}

async function wrongTotals(sql: Sql, book: Book): Promise<string[]> {
  const rows = await sql<{ customer_id: string; slug: string; consumed: string }[]>`
    select a.customer_id, m.slug, sum(b.debits_posted) as consumed
    from accounts a join balances b on b.slot = a.slot and b.id = a.id join meters m on m.id = a.meter_id where a.kind = 'meter' group by 1, 2`;
  const stored = new Map(
    rows.map((row) => [`${row.customer_id} ${row.slug}`, Number(row.consumed)]),
  );
  return compare('the database', stored, book);
}

/** What the service answers from memory, for every customer. */
export async function wrongBalances(url: string, tenant: Tenant, book: Book): Promise<string[]> {
  const told = new Map<string, number>();
  const wrong: string[] = [];
  for (const customer of tenant.customers) {
    const { json } = await call({ url, key: tenant.key }, `/customers/${customer}/balances`);
    const rows = json.data as { feature_key: string; consumed: number; limit: number }[];
    for (const row of rows) {
      const name = `${customer} ${row.feature_key}`;
      told.set(name, row.consumed);
      const ceiling = book.ceiling({ customer, meter: row.feature_key });
      if (ceiling !== null && row.limit !== ceiling) {
        wrong.push(`the service has the limit ${row.limit} of ${name}, ${ceiling} was granted`);
      }
    }
  }
  return [...wrong, ...compare(`the service at ${url}`, told, book)];
}

function compare(who: string, found: ReadonlyMap<string, number>, book: Book): string[] {
  const wrong: string[] = [];
  const expected = book.totals();
  for (const name of new Set([...expected.keys(), ...found.keys()])) {
    const [is, should] = [found.get(name) ?? 0, expected.get(name) ?? 0];
    if (is !== should) wrong.push(`${who} has ${is} of ${name}, callers were told ${should}`);
    const [customer = '', meter = ''] = name.split(' ');
    if (is > (book.ceiling({ customer, meter }) ?? Infinity))
      wrong.push(`${name} is over its grant`);
  }
  return wrong;
}
