// One node in this process whose journal writes through the gate, and a customer to record usage
// of.
import { openLog } from '../../../src/platform/log.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import { openService } from '../../../src/service.ts';
import { freshDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import { Book } from '../book.ts';
import { call, statusOf } from '../call.ts';
import { type Gate, startGate } from '../gate.ts';
import { OPEN_METER, type Tenant, createTenant } from '../tenant.ts';
import { type Usage, counts, sendUsage } from '../usage.ts';
import { eventViolations, violations } from '../verdict.ts';
import { testServices } from '../../support/services.ts';
import { TEST_SECRETS_KEY, TEST_SETTINGS } from '../../support/settings.ts';

export type GatedNode = {
  readonly url: string;
  readonly gate: Gate;
  readonly sql: Sql;
  readonly tenant: Tenant;
  readonly book: Book;
  readonly logged: readonly string[];
  /**
   * Tracks 1 under this key. Gives the status of the answer, 0 for none, and enters the answer in
   * the book.
   */
  track(key: string): Promise<number>;
  /** The status of a /check that is answered from memory. */
  check(): Promise<number>;
  ready(): Promise<void>;
  /** Retries every unanswered call until it is answered, then compares everything. */
  violations(keys: readonly string[]): Promise<string[]>;
  /** Compares the database with the answers so far. */
  lost(): Promise<string[]>;
};

const LEASE_MS = 1000;

/** Runs `task` with a node on a database of its own. */
export async function withGatedNode(
  task: (node: GatedNode) => Promise<string[]>,
): Promise<string[]> {
  const database = await freshDatabase();
  const gate = await startGate(database.url);
  const logged: string[] = [];
  const service = await openService({
    databaseUrl: database.url,
    journalUrl: gate.url,
    redisUrl: testServices().redisUrl,
    settings: TEST_SETTINGS,
    secretsKey: TEST_SECRETS_KEY,
    deliver: false,
    leaseMs: LEASE_MS,
    actorsMax: 1000,
    log: openLog('info', (line) => logged.push(line)),
  });
  const { app } = service;
  app.listen({ port: 0, hostname: '127.0.0.1' });
  const url = `http://127.0.0.1:${app.server!.port}`;
  const sql = openPool(database.url, { max: 2, applicationName: 'chaos scenario' });
  try {
    const tenant = await createTenant(url, { databaseUrl: database.url, customers: 1 });
    return await task(nodeOf({ url, gate, sql, tenant, logged, databaseUrl: database.url }));
  } finally {
    gate.open();
    await app.server!.stop(true);
    await service.close();
    await gate.stop();
    await sql.end();
    await database.drop();
  }
}

function nodeOf(parts: {
  url: string;
  gate: Gate;
  sql: Sql;
  tenant: Tenant;
  logged: readonly string[];
  databaseUrl: string;
}): GatedNode {
  const { url, tenant, databaseUrl } = parts;
  const book = new Book(tenant);
  const customer = tenant.customers[0]!;
  const sender = { url, key: tenant.key };
  const usageOf = (key: string): Usage => ({
    kind: 'track',
    events: [{ key, customer, meter: OPEN_METER, value: 1 }],
  });

  async function track(key: string): Promise<number> {
    const usage = usageOf(key);
    try {
      const answer = await sendUsage(url, tenant.key, usage);
      const countsNow = counts(usage, answer);
      if (countsNow !== null) book.enter(usage, countsNow);
      return answer.status;
    } catch {
      return 0;
    }
  }

  return {
    ...parts,
    book,
    track,
    check: () => statusOf(sender, '/check', { feature_key: OPEN_METER, customer_id: customer }),
    ready: () =>
      until('the node is ready', async () => (await call(sender, '/ready')).status === 200),
    lost: () => eventViolations({ databaseUrl, tenant }, book),
    async violations(keys) {
      for (const key of keys) {
        if (book.events.has(key)) continue;
        await until(`${key} is answered`, async () => (await track(key)) === 200);
      }
      return violations({ url, databaseUrl, tenant }, book);
    },
  };
}

/** The one line that is wrong where `found` is not `expected`. */
export function differs(what: string, found: unknown, expected: unknown): string[] {
  return Bun.deepEquals(found, expected)
    ? []
    : [`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`];
}
