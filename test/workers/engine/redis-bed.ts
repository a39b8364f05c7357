// An engine on a Redis of its own, which a test empties, kills or freezes: what is owed arrives all
// the same.
import { expect } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { until } from '../../support/until.ts';
import { Bed, type Endpoint } from './bed.ts';
import { OwnRedis } from './own-redis.ts';
import { Sink } from './sink.ts';

const ENDPOINTS = 20;
/** BullMQ's keys for a ticket, and for the queue. */
export const KEYS_MAX = 4 * ENDPOINTS + 20;

export class RedisBed {
  readonly redis: OwnRedis;
  readonly bed: Bed;
  readonly sink: Sink;
  /** Of the engine. */
  readonly close: () => Promise<void>;
  readonly #endpoints: readonly Endpoint[];

  private constructor(
    parts: Pick<RedisBed, 'redis' | 'bed' | 'sink' | 'close'>,
    endpoints: readonly Endpoint[],
  ) {
    this.redis = parts.redis;
    this.bed = parts.bed;
    this.sink = parts.sink;
    this.close = parts.close;
    this.#endpoints = endpoints;
  }

  static async open(): Promise<RedisBed> {
    const redis = await OwnRedis.start();
    const bed = await Bed.start({ engines: 0, faster: 1 });
    const close = await bed.addEngine({ redisUrl: redis.url });
    const sink = new Sink();
    const endpoints = await Promise.all(
      Array.from({ length: ENDPOINTS }, (_, index) => bed.endpoint(`${sink.url}/${index}`)),
    );
    return new RedisBed({ redis, bed, sink, close }, endpoints);
  }

  async end(): Promise<void> {
    expect(await audit(this.bed.server.sql)).toEqual([]);
    await this.bed.stop();
    await this.sink.stop();
    await this.redis.stop();
  }

  allArrived(events: readonly string[]): Promise<void> {
    return until('all arrived', () => this.sink.arrivals.length >= this.#owed(events).length);
  }

  async allDelivered(events: readonly string[]): Promise<void> {
    await this.allArrived(events);
    for (const { id } of this.#endpoints) await this.bed.all(id, 'delivered');
    expect(this.sink.ids.toSorted()).toEqual(this.#owed(events));
  }

  #owed(events: readonly string[]): string[] {
    return this.#endpoints.flatMap(() => events).toSorted();
  }
}
