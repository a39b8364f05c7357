// All the traffic on a cluster, and what must hold at its end.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import type { Random } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import type { Book } from '../book.ts';
import { call } from '../call.ts';
import { startLoad } from '../load.ts';
import { CAPPED_METER, createTenant, type Tenant } from '../tenant.ts';
import { violations, wrongBalances } from '../verdict.ts';
import type { Balancer } from './balancer.ts';
import { Money } from './money.ts';
import { Probes } from './probes.ts';
import { Reader } from './reader.ts';
import { Tally } from './tally.ts';
import { Receiver } from './webhooks.ts';

const CUSTOMERS = 24;
/** So little that calls meet the ceiling all the time. */
const GRANTED = 50;
const CALLERS = 12;
const READERS = 4;
const REST_MS = 40;
const WITHIN_MS = 2000;
const BATCHED = 5;
const GRANT_REST_MS = 300;
/** A customer has at most a thousand live grants of a feature. */
const GRANTS_MAX = CUSTOMERS * 900;
const SHOWN = 10;
/** A caller who retries is answered within this time, once nothing is disturbed any more. */
const ENDS_MS_MAX = 120_000;
/** And within this time every outbox task is done. */
const DONE_MS_MAX = 60_000;

export type TrafficOptions = {
  readonly databaseUrl: string;
  readonly balancer: Balancer;
  readonly random: Random;
};

type Audience = TrafficOptions & {
  readonly tenant: Tenant;
  readonly tally: Tally;
  readonly book: Book;
};

export type Traffic = {
  readonly tenant: Tenant;
  readonly tally: Tally;
  readonly reader: Reader;
  readonly probes: Probes;
  /** The outcome, one line each. */
  lines(): string[];
  /** Lets everything end, and compares. Returns what is wrong, one line each. */
  end(sql: Sql, urls: readonly string[]): Promise<string[]>;
  /** Stops without a comparison. */
  abandon(): Promise<void>;
};

/** Starts at once. */
export async function openTraffic(options: TrafficOptions): Promise<Traffic> {
  const { databaseUrl, balancer, random } = options;
  const tally = new Tally();
  const receiver = new Receiver();
  const url = await balancer.target();
  const tenant = await createTenant(url, { databaseUrl, customers: CUSTOMERS, granted: GRANTED });
  await receiver.subscribe({ url, key: tenant.key });
  const money = await Money.open({ databaseUrl, random, target: balancer.target, tally }, (key) =>
    receiver.subscribe({ url, key }),
  );
  const load = startLoad({
    tenant,
    random,
    callers: CALLERS,
    target: balancer.target,
    withinMs: WITHIN_MS,
    restMs: REST_MS,
    unkeyed: true,
    onAnswer: (kind, status) => tally.count(kind, status),
  });
  const { book } = load;
  const audience = { ...options, tenant, tally, book };
  const reader = new Reader(book, tenant, tally);
  const probes = new Probes({ ...audience, reader });
  const stopping = new AbortController();
  const running = [
    ...Array.from({ length: READERS }, () => keepReading(audience, reader, stopping.signal)),
    keepGranting(audience, stopping.signal),
  ];
  return {
    tenant,
    tally,
    reader,
    probes,
    lines: () => [...money.lines(), `webhooks   ${receiver.arrivals} received`],
    async end(sql, urls) {
      stopping.abort();
      const all = Promise.all([load.stop(), probes.stop(), money.stop(), ...running]);
      const wrong = await ends(all);
      if (wrong.length > 0) return [...wrong, ...reader.faults.slice(0, SHOWN)];
      await until('nothing is owed any more', () => isDone(sql), DONE_MS_MAX);
      const [first = ''] = urls;
      wrong.push(...reader.faults.slice(0, SHOWN), ...probes.faults.slice(0, SHOWN));
      wrong.push(...(await violations({ url: first, databaseUrl, tenant }, book)));
      for (const one of urls.slice(1)) wrong.push(...(await wrongBalances(one, tenant, book)));
      wrong.push(...(await money.violations(sql)), ...(await receiver.missing(sql)));
      return wrong;
    },
    abandon: () => receiver.stop(),
  };
}

async function keepReading(
  { balancer, random, tenant }: Audience,
  reader: Reader,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const customer = random.pick(tenant.customers);
    const url = balancer.any();
    const kind = random.pick(['check', 'check', 'batch', 'balances'] as const);
    if (kind === 'check') await reader.check(url, customer);
    if (kind === 'balances') await reader.balances(url, customer);
    if (kind === 'batch') {
      await reader.batch(
        url,
        Array.from({ length: BATCHED }, () => random.pick(tenant.customers)),
      );
    }
    await Bun.sleep(REST_MS);
  }
}

async function keepGranting(
  { balancer, random, tenant, tally, book }: Audience,
  stopping: AbortSignal,
): Promise<void> {
  for (let grant = 0; grant < GRANTS_MAX && !stopping.aborted; grant += 1) {
    const customer = random.pick(tenant.customers);
    const amount = random.integer(1, 100);
    const body = { feature_key: CAPPED_METER, amount, idempotency_key: `grant-${grant}` };
    book.beginGrant(customer, amount);
    for (;;) {
      book.beginGrant(customer, amount);
      const sender = { url: await balancer.target(), key: tenant.key };
      const path = `/customers/${customer}/grants`;
      const answer = await call(sender, path, body, WITHIN_MS).catch(() => null);
      const status = answer?.status ?? 0;
      tally.count('grant', status);
      if (status === 201) break;
      if (status !== 0 && status !== 503) {
        book.faults.push(`grant: ${status} ${JSON.stringify(answer?.json)}`);
      }
      book.missGrant(customer, amount);
      await Bun.sleep(REST_MS);
    }
    book.enterGrant(customer, amount);
    await Bun.sleep(GRANT_REST_MS);
  }
}

/** What did not hold. */
async function ends(all: Promise<unknown>): Promise<string[]> {
  const late = Bun.sleep(ENDS_MS_MAX).then(() => ['some callers are never answered']);
  return Promise.race([all.then((): string[] => []), late]);
}

/** No outbox task is open, and nothing waits for an answer. */
async function isDone(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ left: number }[]>`
    select (select count(*) from followups)::int
      + (select count(*) from refunds where ask_at is not null)::int
      + (select count(*) from payments where status in ('processing', 'requires_action'))::int as left`;
  return row?.left === 0;
}
