// Lists: a page of rows, with the filters of the address.
import { type Tollhouse, TollhouseError } from '../../client/index.ts';
import type { Fault, Place } from '../parts/place.ts';
import { isUuid } from '../../records/uuid.ts';

const PAGE_ROWS = 50;
/** As many as the API gives at once. */
export const PAGE_ROWS_MAX = 200;

export type Rows<T> = { readonly data: readonly T[]; readonly hasMore: boolean };

/** The place of the page in its list. */
export function pageOf(query: URLSearchParams): { limit: number; after?: string } {
  const after = query.get('after');
  return { limit: PAGE_ROWS, ...(after !== null && after !== '' && { after }) };
}

/** The first rows of a list, however few a page of it has. */
export async function firstOf<T>(list: AsyncIterable<T>, max: number): Promise<readonly T[]> {
  const rows: T[] = [];
  for await (const row of list) {
    if (rows.push(row) === max) break;
  }
  return rows;
}

/**
 * The row with an id, of what the API reads by no id. @throws as the API does where there is none
 */
export async function rowOf<T extends { readonly id: string }>(
  rows: AsyncIterable<T> | Iterable<T>,
  id: string | undefined,
  what: string,
): Promise<T> {
  for await (const row of rows) {
    if (row.id === id) return row;
  }
  throw new TollhouseError(`no such ${what}`, { type: 'not_found', status: 404 });
}

/** A filter of the address; undefined where it is empty. */
export function filterOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)?.trim() ?? '';
  return text === '' ? undefined : text;
}

/** The same of some values; undefined where it is none of them. */
export function choiceOf<T extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = query.get(name);
  return values.find((value) => value === text);
}

/** By one of the two ids. */
type Named = { readonly customerId: string } | { readonly externalCustomerId: string };

/** By our id, an e-mail address or the merchant's own id. null: nobody has the address. */
export async function customerNamed(api: Tollhouse, text: string): Promise<Named | null> {
  if (isUuid(text)) return { customerId: text };
  if (!text.includes('@')) return { externalCustomerId: text };
  const { data } = await api.customers.list({ email: text, limit: 1 });
  const [customer] = data;
  return customer === undefined ? null : { customerId: customer.id };
}

/** Whose rows the filter `customer` asks for: everybody's where it is empty. */
export async function customerFilter(
  api: Tollhouse,
  asked: string | undefined,
): Promise<Partial<Named> | null> {
  return asked === undefined ? {} : customerNamed(api, asked);
}

/** A list as it was asked for. Where the API refuses the filters, none, and the page says why. */
export async function searched<T>(
  place: Place,
  read: () => Promise<Rows<T> | null>,
): Promise<{ readonly place: Place; readonly rows: Rows<T> }> {
  try {
    return { place, rows: (await read()) ?? { data: [], hasMore: false } };
  } catch (error) {
    return { place: { ...place, fault: faultOf(error) }, rows: { data: [], hasMore: false } };
  }
}

/** With the one row first that the search names outright. `last`: behind which the list goes on. */
export function ledBy<T extends { readonly id: string }>(
  { data, hasMore }: Rows<T>,
  named: T | null,
): Rows<T> & { readonly last: string | undefined } {
  const others = data.filter(({ id }) => id !== named?.id);
  const last = data.at(-1)?.id;
  return { data: named === null ? data : [named, ...others], hasMore, last };
}

/** What was wrong with the question. @throws what else went wrong */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof TollhouseError) || error.status !== 400) throw error;
  const { message, requestId } = error;
  const issues = error.issues.map(({ path, message: text }) => ({
    field: path.join('.'),
    message: text,
  }));
  return { message, issues, requestId };
}
