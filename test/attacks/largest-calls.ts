// The calls that cost the edge most: strings that make patterns backtrack, and the largest legal
// bodies.
import {
  CHECK_BATCH_MAX,
  INGEST_EVENTS_MAX,
  PRICES_PER_PRODUCT_MAX,
  TRACK_BATCH_MAX,
} from '../../ledger/limits.ts';
import { must } from '../../ledger/kernel/assert.ts';
import type { Sender } from '../chaos/call.ts';
import type { Tenant } from './stand.ts';

const METERS = 10;
const CUSTOMERS = 100;

export type LargeCall = {
  readonly what: string;
  readonly path: string;
  /** Of the answer. */
  readonly status: number;
  readonly text: string;
};

const who = (n: number) => ({ external_customer_id: `attacker-${n % CUSTOMERS}` });
const pairs = (count: number, value: (n: number) => string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`key-${n}`.padEnd(40, 'k'), value(n)]),
  );
/** Different ones: equal ones could be merged. */
const text = (length: number) => (n: number) => `${n} `.padEnd(length, 'lorem ipsum "dolor" ');
const emoji = (length: number) => () => '😀'.repeat(length);
const many = <T>(count: number, one: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => one(n));

const CURRENCIES =
  'AED AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS INR MXN NOK NZD PLN RON SEK SGD THB TRY USD ZAR'.split(
    ' ',
  );
const price = (n: number) => ({
  amount: '1',
  currency: CURRENCIES[n % CURRENCIES.length],
  type: 'recurring',
  interval: 'month',
  interval_count: 1 + Math.floor(n / CURRENCIES.length),
});

const track = { feature_key: 'large-0', ...who(0) };

const ingest = (pairsOfEach: number, length: number, name: string) => ({
  events: many(INGEST_EVENTS_MAX, (n) => ({
    name,
    ...who(n),
    value: 1.25,
    metadata: pairs(pairsOfEach, text(length)),
  })),
});

// prettier-ignore
const CALLS: readonly [what: string, path: string, status: number, body: unknown][] = [
  ['50 metadata values of 501 emoji',       '/track',         400, { ...track, metadata: pairs(50, emoji(501)) }],
  ['a note of 680 characters, emoji among', '/track',         400, { ...track, metadata: { note: `${'x'.repeat(600)}${emoji(40)()}${'x'.repeat(40)}` } }],
  ['an unknown field of 256 KiB',           '/track',         400, { ...track, [emoji(1 << 16)()]: emoji(1 << 16)() }],
  ['all the metadata that is allowed',      '/track',         200, { ...track, metadata: pairs(50, emoji(500)) }],
  ['500 events of 2 KB, 1 meter',           '/events/ingest', 200, ingest(4, 450, 'one')],
  ['500 events of 2 KB, 10 meters',         '/events/ingest', 200, ingest(4, 450, 'ten')],
  ['500 events of 36 short pairs',          '/events/ingest', 200, ingest(36, 8, 'ten')],
  ['more metadata than may be written',     '/events/ingest', 413, ingest(40, 30, 'ten')],
  ['a body of 12 MB',                       '/events/ingest', 413, ingest(50, 450, 'ten')],
  ['500 usages of 3.5 KB',                  '/track/batch',   200, { tracks: many(TRACK_BATCH_MAX, (n) => ({ ...track, ...who(n), metadata: pairs(7, text(440)) })) }],
  ['500 usages of 60 faults',               '/track/batch',   200, { tracks: many(TRACK_BATCH_MAX, () => Object.fromEntries(many(60, (n) => [`unknown-${n}`, n]))) }],
  ['500 usages of nobody, on no meter',     '/track/batch',   200, { tracks: many(TRACK_BATCH_MAX, (n) => ({ feature_key: `no-meter-${n}`, external_customer_id: `nobody-${n}` })) }],
  ['a full batch of checks',                '/check/batch',   200, { checks: many(CHECK_BATCH_MAX, (n) => ({ feature_key: `large-${n % METERS}`, ...who(n) })) }],
  ['a full batch of checks that consume',   '/check/batch',   200, { checks: many(CHECK_BATCH_MAX, (n) => ({ feature_key: 'granted', consume: true, ...who(n) })) }],
  ['a full batch of checks that reserve',   '/check/batch',   200, { checks: many(CHECK_BATCH_MAX, (n) => ({ feature_key: 'granted', reserve: true, ...who(n) })) }],
  ['a product with all the prices it may have', '/products',  201, { name: 'Large', metadata: pairs(50, text(500)), prices: many(PRICES_PER_PRODUCT_MAX, price) }],
];

export const LARGEST_CALLS: readonly LargeCall[] = CALLS.map(([what, path, status, body]) => {
  return { what, path, status, text: JSON.stringify(body) };
});

export function largeCall(what: string): LargeCall {
  return must(
    LARGEST_CALLS.find((one) => one.what === what),
    what,
  );
}

export async function prepareLargestCalls({ make }: Pick<Tenant, 'make'>): Promise<void> {
  for (let n = 0; n < METERS; n += 1) {
    await make('/meters', { slug: `large-${n}`, event_name: 'ten' });
  }
  await make('/meters', { slug: 'one' });
  await make('/meters', { slug: 'granted' });
  for (let n = 0; n < CUSTOMERS; n += 1) {
    await make('/customers', who(n));
    const { external_customer_id: id } = who(n);
    await make(`/customers/${id}/grants`, { feature_key: 'granted', unlimited: true });
  }
}

/** Returns the status. */
export async function sendAsItIs({ url, key }: Sender, large: LargeCall): Promise<number> {
  const response = await fetch(`${url}${large.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: large.text,
  });
  await response.arrayBuffer();
  return response.status;
}
