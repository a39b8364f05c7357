// What the metering tests call and read: customers, meters and grants over HTTP, rows by SQL.
import { expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { openLog } from '../../../src/platform/log.ts';
import { openService } from '../../../src/service.ts';
import { misfitsOf } from '../../support/catalogue.ts';
import {
  type Call,
  type Reply,
  type ServerOptions,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { testServices } from '../../support/services.ts';
import { TEST_SECRETS_KEY, TEST_SETTINGS } from '../../support/settings.ts';
import { until } from '../../support/until.ts';

export type Fields = Readonly<Record<string, unknown>>;

export class Setting {
  readonly server: TestServer;

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async open(options: ServerOptions = {}): Promise<Setting> {
    return new Setting(await startServer(options));
  }

  post(path: string, body: unknown, call: Call = {}): Promise<Reply> {
    return this.server.call('POST', path, { body, ...call });
  }

  /** The id of a new customer. */
  async customer(fields: Fields = {}, call: Call = {}): Promise<string> {
    return made(await this.post('/customers', fields, call)).id as string;
  }

  /** The id of a new meter. */
  async meter(slug: string, fields: Fields = {}, call: Call = {}): Promise<string> {
    return made(await this.post('/meters', { slug, ...fields }, call)).id as string;
  }

  async grant(customer: string, feature: string, fields: Fields = {}): Promise<Fields> {
    const body = {
      feature_key: feature,
      ...(!('unlimited' in fields) && { amount: 10 }),
      ...fields,
    };
    return made(await this.post(`/customers/${customer}/grants`, body));
  }

  check(customer: string, feature: string, fields: Fields = {}, call: Call = {}): Promise<Reply> {
    return this.post('/check', { customer_id: customer, feature_key: feature, ...fields }, call);
  }

  track(customer: string, feature: string, fields: Fields = {}, call: Call = {}): Promise<Reply> {
    return this.post('/track', { customer_id: customer, feature_key: feature, ...fields }, call);
  }

  ingest(events: readonly Fields[], call: Call = {}): Promise<Reply> {
    return this.post('/events/ingest', { events }, call);
  }

  /** The balance row of one feature. */
  async balance(customer: string, feature: string): Promise<Fields | undefined> {
    const path = `/customers/${customer}/balances?feature_key=${feature}`;
    const reply = await this.server.call('GET', path);
    expect(reply.status).toBe(200);
    return (reply.json.data as Fields[])[0];
  }

  /**
   * Consumption of a feature in the period that starts at `start`; without it, of all periods in
   * order.
   */
  async consumed(customer: string, feature: string): Promise<number[]> {
    const rows = await this.server.sql<{ consumed: number }[]>`
      select (b.debits_posted / 10 ^ m.scale)::float8 as consumed
      from accounts a join balances b on b.slot = a.slot and b.id = a.id
      join meters m on m.id = a.meter_id
      where a.customer_id = ${customer} and m.slug = ${feature} order by a.period_start`;
    return rows.map((row) => row.consumed);
  }

  /** The row counts of every table that a metering request may write. */
  async rows(): Promise<Fields> {
    const [row] = await this.server.sql<Fields[]>`
      select (select count(*)::int from transfers) as transfers,
        (select count(*)::int from accounts) as accounts,
        (select count(*)::int from grants) as grants,
        (select count(*)::int from events) as events,
        (select count(*)::int from members) as members,
        (select count(*)::int from customer_meters) as states,
        (select count(*)::int from alarms) as alarms,
        (select count(*)::int from idempotency) as answers`;
    return row ?? {};
  }

  /**
   * Sends the request, which must leave every row count unchanged. No alarm of before rings
   * meanwhile.
   */
  async withoutTrace(request: () => Promise<Reply>): Promise<Reply> {
    await until('no alarm is due soon', async () => {
      const soon = new Date(Date.now() + 1000);
      return (
        (await this.server.sql`select from alarms where due_at <= ${soon} limit 1`).length === 0
      );
    });
    const before = await this.rows();
    const reply = await request();
    expect(await this.rows()).toEqual(before);
    return reply;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

/** The body of a 201. */
function made(reply: Reply): Record<string, unknown> {
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
  return reply.json as Record<string, unknown>;
}

/**
 * Last in each file: every balance is recomputed from the transfers, and every event conforms to
 * the catalogue.
 */
export function testBooksClose(setting: () => Setting): void {
  test('the books close after the tests of metering', async () => {
    expect(await audit(setting().server.sql)).toEqual([]);
    expect(await misfitsOf(setting().server.sql)).toEqual([]);
  });
}

/** Status, code and the paths of the issues. */
export function refusal({ status, json }: Reply): unknown {
  const { type, issues } = json.error as {
    type: string;
    issues?: { path: string[]; message: string }[];
  };
  return [status, type, ...(issues === undefined ? [] : [issues.map(({ path }) => path)])];
}

export const invalidAt = (...paths: string[][]): unknown => [400, 'invalid_request', paths];
export const NOT_FOUND = [404, 'not_found'];

/**
 * Starts the service again on the same database, in place of the first, which must not be called
 * any more.
 */
export async function restart(setting: Setting): Promise<{ url: string; stop(): Promise<void> }> {
  const { server } = setting;
  await server.ledger.close();
  const service = await openService({
    databaseUrl: server.databaseUrl,
    redisUrl: testServices().redisUrl,
    settings: TEST_SETTINGS,
    secretsKey: TEST_SECRETS_KEY,
    deliver: false,
    leaseMs: 5000,
    actorsMax: 10_000,
    log: openLog('debug', (line) => server.logged.push(line)),
  });
  service.app.listen({ port: 0, hostname: '127.0.0.1' });
  return {
    url: `http://127.0.0.1:${service.app.server!.port}`,
    async stop() {
      await service.app.server!.stop(true);
      await service.close();
    },
  };
}

/** POST to a restarted service. */
export async function postTo(
  url: string,
  key: string,
  request: { path: string; body: unknown; headers?: Record<string, string> },
): Promise<{
  status: number;
  headers: Headers;
  text: string;
  json: ReturnType<typeof JSON.parse>;
}> {
  const response = await fetch(`${url}${request.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...request.headers,
    },
    body: JSON.stringify(request.body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

export const times = <T>(count: number, task: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => task(index)));

/** How often each value occurs. */
export function tally(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
