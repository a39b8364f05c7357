// Subscribers to plans that sell usage beyond their allowances, over HTTP.
import { expect } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { Club, type Json, type Plan } from '../http/subscriptions/subscribing.ts';
import { type Fields, made } from '../payments/shop.ts';

/** A meter of each aggregation, and what usage of it costs. */
const FEATURES: readonly (readonly [meter: Fields, price: Fields])[] = [
  [
    { aggregation: 'sum', scale: 3 },
    { model: 'per_unit', unit_amount: '0.0125' },
  ],
  [
    { aggregation: 'count' },
    {
      model: 'graduated',
      tiers: [
        { up_to: 2, unit_amount: '1' },
        { up_to: null, unit_amount: '0.5', flat_amount: '3.00' },
      ],
    },
  ],
  [{ aggregation: 'max' }, { model: 'package', package_size: 10, package_amount: '2.00' }],
  [
    { aggregation: 'last' },
    {
      model: 'volume',
      tiers: [
        { up_to: 5, unit_amount: '0.9' },
        { up_to: null, unit_amount: '0.7' },
      ],
    },
  ],
  [
    { aggregation: 'unique', unique_property: 'user' },
    { model: 'per_unit', unit_amount: '0.333', minimum_amount: '1.00', maximum_amount: '9.00' },
  ],
];

export class Sales {
  readonly club: Club;
  readonly features: readonly string[];

  private constructor(club: Club, features: readonly string[]) {
    this.club = club;
    this.features = features;
  }

  static async open(): Promise<Sales> {
    const club = await Club.open({ own: true });
    const features = await Promise.all(
      FEATURES.map(async ([meter]) => {
        const slug = `f-${ids.next()}`;
        made(await club.post('/meters', { slug, ...meter }));
        return slug;
      }),
    );
    return new Sales(club, features);
  }

  /** Sells every feature beyond `limit`. */
  async plan(limit: number, reset: Fields = {}): Promise<Plan> {
    const { club, features } = this;
    const plan = await club.plan();
    for (const [index, feature_key] of features.entries()) {
      const given = { feature_key, limit, ...reset };
      made(await club.post(`/products/${plan.productId}/entitlements`, given));
      const price = { feature_key, currency: 'USD', ...FEATURES[index]?.[1] };
      made(await club.post(`/products/${plan.productId}/usage-prices`, price));
    }
    return plan;
  }

  /** Of each feature that may be reserved: as much is held, and that is what it comes to. */
  async commit({ customer_id }: Json, amount: number, value: number): Promise<void> {
    for (const feature_key of this.features.slice(0, 2)) {
      const body = { feature_key, customer_id, amount };
      const { id } = made(await this.club.post('/reservations', body));
      expect((await this.club.post(`/reservations/${id}/commit`, { value })).status).toBe(200);
    }
  }

  /** Of each feature, at `at` or now: the values one after the other, by a user each. */
  async use({ customer_id }: Json, values: readonly number[], at?: number): Promise<void> {
    const timestamp = at === undefined ? {} : { timestamp: new Date(at).toISOString() };
    const events = this.features.flatMap((name) =>
      values.map((value) => ({
        name,
        customer_id,
        value,
        metadata: { user: `user ${value}` },
        ...timestamp,
      })),
    );
    const { status, json } = await this.club.post('/events/ingest', { events });
    expect([status, json.inserted]).toEqual([200, events.length]);
  }
}
