// What a pool pays for is a function of totals: the same events in any order, late or not, leave
// the same in each period of the pool and of its members.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { CreditWorld, SLUGS, type Slug } from './credit-world.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR } from './world.ts';

const MEMBERS = ['chat', 'images', 'tokens'] as const;

type Event = { readonly slug: Slug; readonly value: number; readonly ago: number };

const own = fc.constantFrom('nothing', 'top-up', 'plan', 'unlimited');
const events = fc.array(
  fc.record({
    slug: fc.constantFrom(...MEMBERS, 'credits'),
    value: fc.integer({ min: -5, max: 12 }),
    ago: fc.integer({ min: 0, max: 5 * DAY }),
  }),
  { minLength: 2, maxLength: 8 },
);
const stories = events.chain((sent) =>
  fc.record({
    has: fc.record({ credits: own, chat: own, images: own, tokens: own }),
    before: events,
    sent: fc.constant(sent),
    other: fc.shuffledSubarray(sent, { minLength: sent.length, maxLength: sent.length }),
  }),
);

function give(world: CreditWorld, slug: Slug, what: string): void {
  if (what === 'top-up') world.grant(slug, 6);
  if (what === 'unlimited') world.grant(slug, null);
  if (what === 'plan') world.plan(slug, 4, { resetInterval: 'day' });
}

function send(world: CreditWorld, { slug, value, ago }: Event): void {
  expect(world.use(slug, value, { eventAt: world.now - ago })).toStartWith('recorded');
}

function totals(world: CreditWorld) {
  return SLUGS.map((slug) => {
    const { current, others } = world.seen(slug);
    return [...others, current]
      .filter(({ aggregate }) => aggregate !== 0n)
      .map(({ start, aggregate }) => ({ slug, start, aggregate }));
  });
}

test(seeded('credits are the same for any order of the same events'), () => {
  const property = fc.property(stories, ({ has, before, sent, other }) => {
    const [one, another] = [sent, other].map((order) => {
      const world = new CreditWorld();
      for (const [slug, what] of Object.entries(has)) give(world, slug as Slug, what);
      for (const event of before) {
        world.now += HOUR * 5;
        send(world, { ...event, ago: 0 });
      }
      world.now += 2 * DAY;
      for (const event of order) send(world, event);
      return totals(world);
    });
    expect(one).toEqual(another);
  });
  holds(property, 500);
});
