// Order, batches, repetition and lateness of events do not change what sold usage comes to over all
// invoices, and nor does what a node remembers.
import { expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { ids } from '../../src/platform/ids.ts';
import { holdsLater, seeded } from './property.ts';
import { lived, previewed, stories, type Story, type Way } from './sold-story.ts';
import type { Offer } from './sold-world.ts';
import { DEARER, MONTHLY, YEARLY } from './subscription-world.ts';
import { DAY, T0 } from './world.ts';

setDefaultTimeout(120_000);

const AT_ONCE: Way = { isLate: false, isTogether: false, forgets: false, rings: true };

const WAYS: readonly (readonly [string, Way])[] = [
  ['at once', AT_ONCE],
  ['late, and some of it twice', { ...AT_ONCE, isLate: true }],
  ['late and together', { ...AT_ONCE, isLate: true, isTogether: true, forgets: true }],
  ['late, and all alarms too', { ...AT_ONCE, isLate: true, rings: false }],
];

test.each(WAYS)(
  seeded('sold usage that comes %s is billed for what it comes to'),
  async (_how, way) => {
    const property = fc.asyncProperty(stories, async (story) => {
      // When a trial ends and when a charge fails depends on when somebody looks.
      const isTimed = story.trialDays > 0 || story.acts.some(({ kind }) => DECLINED.test(kind));
      fc.pre(way.rings || !isTimed);
      const { billed, expected } = await lived(story, way);
      expect(billed).toBe(expected);
    });
    await holdsLater(property, 60);
  },
);

test(seeded('the next invoice of sold usage is what was previewed, to the cent'), async () => {
  let compared = 0;
  const property = fc.asyncProperty(stories, async (story) => {
    const seen = await previewed(story, { ...AT_ONCE, isLate: true });
    if (seen === null) return;
    compared += 1;
    expect(seen.made).toEqual([...seen.preview]);
  });
  await holdsLater(property, 60);
  expect(compared).toBeGreaterThan(0);
});

const DECLINED = /decline|failed/;

/** A dollar for each unit, and for each span at least. */
const offer = (plan: Offer['plan'], reset: Offer['reset']): Offer => ({
  plan,
  limit: 0n,
  reset,
  price: {
    id: ids.derive('price', plan.priceId),
    currency: 'USD',
    minimum: 100n,
    maximum: null,
    model: 'per_unit',
    unitAmount: 10n ** 12n,
  },
});

test('an adjustment on an invoice that is never paid is on the last one', async () => {
  const event = { id: ids.next(), at: T0 + 30 * DAY, value: 7n, member: 0n };
  const story: Story = {
    aggregation: 'sum',
    carry: false,
    trialDays: 0,
    offers: [
      offer(YEARLY, 'month'),
      offer({ ...YEARLY, priceId: 'more', unitAmount: 90_000n }, 'month'),
    ],
    acts: [
      { kind: 'change', at: T0 + 40 * DAY },
      { kind: 'decline', at: T0 + 300 * DAY },
    ],
    // After the change, so it is adjusted a year later: when no event can come any more.
    events: [{ ...event, delay: 20 * DAY, isTwice: false }],
    end: T0 + 430 * DAY,
  };
  const { billed, expected, world } = await lived(story, { ...AT_ONCE, isLate: true });
  expect(world.subscription.endedAt).toBeLessThan(story.end);
  expect(billed).toBe(expected);
});

test("a cancellation that is decided late bills the meter's period that it cuts", async () => {
  const declined = T0 + 28 * DAY + 1;
  const story: Story = {
    aggregation: 'sum',
    carry: false,
    trialDays: 0,
    offers: [offer(MONTHLY, 'day'), offer(DEARER, 'day')],
    acts: [
      { kind: 'failed_change', at: declined },
      { kind: 'cancel', at: declined + 22 * DAY },
    ],
    events: [],
    end: T0 + 100 * DAY,
  };
  const { billed, expected, world } = await lived(story, { ...AT_ONCE, rings: false });
  expect(world.subscription.endedAt).toBe(declined + 21 * DAY);
  expect(billed).toBe(expected);
  // Of the last day a millisecond.
  expect(billed).toBe(49_00n);
  const sold = world.db.spans.values().filter(({ span }) => span.billedAs !== null);
  expect(Math.max(...sold.map(({ span }) => span.end ?? Infinity))).toBe(declined + 21 * DAY);
});
