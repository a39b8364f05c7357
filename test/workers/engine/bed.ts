// The engine on a clock of the test's own, beside an API that runs on the real one.
//
// Holds: the engine's wall clock stands still until it is moved, so that the times of attempts are
// exact. Its waits run twenty times faster, unless a test says otherwise: a sweep every 50 ms, a
// deadline of 500 ms. An answer of the sink takes longer than 100 ms on a machine that is busy.
import type { Clock, Timers } from '../../../ledger/ports.ts';
import { clock as realClock, timers as realTimers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openLog } from '../../../src/platform/log.ts';
import { openPool } from '../../../src/platform/postgres/postgres.ts';
import { openSecrets } from '../../../src/platform/crypto/secrets.ts';
import { openWorkers } from '../../../workers/open.ts';
import { relayAll } from '../../support/relayed.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { testServices } from '../../support/services.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
import { until } from '../../support/until.ts';

const FASTER = 20;

class StillClock implements Clock {
  /** Later than any time that the database's own clock writes during the test. */
  at = Date.now() + 3_600_000;
  now(): number {
    return this.at;
  }
  monotonic(): number {
    return realClock.monotonic();
  }
}

export type Delivery = {
  readonly id: string;
  readonly event: string;
  readonly status: string;
  readonly attempts: number;
  readonly firstAt: Date | null;
  readonly nextAt: Date;
  readonly worker: string | null;
};

export type Attempt = {
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly address: string | null;
  readonly responseHead: string | null;
};

export class Bed {
  readonly clock = new StillClock();
  readonly server: TestServer;
  readonly logged: string[] = [];
  readonly #engines: (() => Promise<void>)[] = [];

  readonly #timers: Timers;

  private constructor(server: TestServer, faster: number) {
    this.server = server;
    this.#timers = {
      ...realTimers,
      after: (ms, task) => realTimers.after(ms / faster, task),
    };
  }

  static async start({
    engines = 1,
    faster = FASTER,
  }: { engines?: number; faster?: number } = {}): Promise<Bed> {
    // An engine takes all that is due in its database, on its own clock.
    const bed = new Bed(await startServer({ own: true }), faster);
    for (let engine = 0; engine < engines; engine += 1) await bed.addEngine();
    return bed;
  }

  /** Returns its close. */
  async addEngine(options: { redisUrl?: string } = {}): Promise<() => Promise<void>> {
    const sql = openPool(this.server.databaseUrl, { max: 4, applicationName: 'engine of a test' });
    const workers = await openWorkers({
      sql,
      clock: this.clock,
      timers: this.#timers,
      ids,
      redisUrl: options.redisUrl ?? testServices().redisUrl,
      log: openLog('info', (line) => this.logged.push(line)),
      secrets: openSecrets(TEST_SECRETS_KEY),
      resolve: () => Promise.reject(new Error('no names')),
      allowLoopback: true,
      random: () => 0,
      onAttempt: () => undefined,
    });
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await workers.close();
      await sql.end();
    };
    const closeOnce = (): Promise<void> => (closed ??= close());
    this.#engines.push(closeOnce);
    return closeOnce;
  }

  async stop(): Promise<void> {
    for (const close of this.#engines) await close();
    await this.server.stop();
  }

  pass(ms: number): void {
    this.clock.at += ms;
  }

  async endpoint(url: string, body: object = {}, key?: string): Promise<Endpoint> {
    const reply = await this.server.call('POST', '/webhook-endpoints', {
      body: { url, event_types: ['customer.created'], ...body },
      ...(key !== undefined && { key }),
    });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.json as Endpoint;
  }

  /** One `customer.created` each, fanned out to its endpoints. Their ids. */
  async events(count: number, key = this.server.organisation.testKey): Promise<string[]> {
    const made: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const customer = await this.server.call('POST', '/customers', { key, body: {} });
      const [row] = await this.server
        .sql`select id from events where object_id = ${customer.json.id}`;
      made.push(row!['id'] as string);
    }
    await relayAll(this.server.sql);
    return made;
  }

  async deliveries(endpointId: string): Promise<Delivery[]> {
    const rows = await this.server.sql<Delivery[]>`
      select id, event_id as event, status, attempts, first_at as "firstAt", next_at as "nextAt", worker
      from deliveries where endpoint_id = ${endpointId} order by id`;
    return [...rows];
  }

  /** All deliveries of the endpoint, in order. */
  async attempts(endpointId: string): Promise<Attempt[]> {
    const rows = await this.server.sql<Attempt[]>`
      select a.at, a.status_code as "statusCode", a.error, host(a.address) as address, a.response_head as "responseHead"
      from delivery_attempts a join deliveries d on d.id = a.delivery_id
      where d.endpoint_id = ${endpointId} order by a.at, d.id`;
    return [...rows];
  }

  async health(endpointId: string) {
    const [row] = await this.server.sql`
      select status, disabled_reason as reason, failures, exhausted, failing_since as "failingSince", paused_until as "pausedUntil"
      from webhook_endpoints where id = ${endpointId}`;
    return row!;
  }

  /** Until nothing is in hand, and this many attempts are logged. */
  attempted(endpointId: string, count: number): Promise<void> {
    return until(`${count} attempts`, async () => {
      const [row] = await this.server.sql`
        select count(*) filter (where d.worker is not null)::int as flying,
          (select count(*) from delivery_attempts a where a.delivery_id in
            (select id from deliveries where endpoint_id = ${endpointId}))::int as made
        from deliveries d where d.endpoint_id = ${endpointId}`;
      return row!['flying'] === 0 && row!['made'] >= count;
    });
  }

  all(endpointId: string, status: string): Promise<void> {
    return until(`all ${status}`, async () =>
      (await this.deliveries(endpointId)).every((delivery) => delivery.status === status),
    );
  }

  /** Waits for several sweeps, which would have found anything due. */
  async sweeps(count = 4): Promise<void> {
    const { sql } = this.server;
    for (let sweep = 0; sweep < count; sweep += 1) {
      const [before] = await sql`select max(seen_at) as at from delivery_workers`;
      await until('a sweep', async () => {
        const [now] = await sql`select max(seen_at) as at from delivery_workers`;
        return (now!['at'] as Date) > (before!['at'] as Date);
      });
    }
  }
}

export type Endpoint = { readonly id: string; readonly secret: string };
