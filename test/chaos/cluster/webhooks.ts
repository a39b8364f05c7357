// A receiver of the events of some organisations: every committed event must arrive, at least once.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { ask, type Seller } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { Sink } from '../../workers/engine/sink.ts';

/** Without the types that come with each usage event: there is one row for each. */
const TYPES = [
  'payment.succeeded',
  'payment.failed',
  'payment.refunded',
  'payment.refund_failed',
  'subscription.created',
  'invoice.created',
  'entitlement.granted',
];
/** Longer than a killed worker keeps its jobs. */
const ARRIVED_MS_MAX = 90_000;

export class Receiver {
  readonly #sink = new Sink();
  readonly #endpoints: string[] = [];

  async subscribe(seller: Seller): Promise<void> {
    const body = { url: this.#sink.url, event_types: TYPES };
    const { id } = await ask(seller, 'POST', '/webhook-endpoints', body);
    this.#endpoints.push(id as string);
  }

  get arrivals(): number {
    return this.#sink.arrivals.length;
  }

  /**
   * Events of these types that were written since the endpoint was registered and did not arrive,
   * one line each.
   */
  async missing(sql: Sql): Promise<string[]> {
    const rows = await sql<{ id: string; type: string }[]>`
      select e.id, e.type from events e join webhook_endpoints w using (organisation_id, mode)
      where w.id = any(${this.#endpoints}::uuid[]) and e.type = any(${TYPES}) and e.at > w.created_at`;
    const missing = (): typeof rows => {
      const arrived = new Set(this.#sink.ids);
      return rows.filter(({ id }) => !arrived.has(id)) as typeof rows;
    };
    try {
      await until('all events arrive', () => missing().length === 0, ARRIVED_MS_MAX);
      return [];
    } catch {
      return missing().map(({ id, type }) => `${type} ${id} was never received`);
    }
  }

  stop(): Promise<void> {
    return this.#sink.stop();
  }
}
