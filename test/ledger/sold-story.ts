// Histories of a customer with sold usage, at random, and what is billed when one is lived.
import fc from 'fast-check';
import type { Aggregation } from '../../ledger/metering/meter.ts';
import { amountOfLine } from '../../ledger/subscriptions/bills.ts';
import { ids } from '../../src/platform/ids.ts';
import { prices } from './rating-cases.ts';
import { SoldModel } from './sold-model.ts';
import { type Event, type Offer, SoldWorld } from './sold-world.ts';
import { DEARER, MONTHLY, YEARLY } from './subscription-world.ts';
import { DAY, HOUR, T0 } from './world.ts';

const MINUTE = 60_000;

type Act = {
  readonly kind: 'change' | 'failed_change' | 'pause' | 'keep' | 'resume' | 'cancel' | 'decline';
  readonly at: number;
};

export type Story = {
  readonly aggregation: Aggregation;
  /** Whether a level of the last value begins each period as the one before has ended. */
  readonly carry: boolean;
  readonly offers: readonly [Offer, Offer];
  readonly trialDays: number;
  readonly acts: readonly Act[];
  readonly events: readonly (Event & { readonly delay: number; readonly isTwice: boolean })[];
  readonly end: number;
};

/** How it is lived: what must not matter. */
export type Way = {
  /** Events come as late as the story says, some of them twice; else at once. */
  readonly isLate: boolean;
  /** What comes within three days comes together. */
  readonly isTogether: boolean;
  /** Memory is lost now and then. */
  readonly forgets: boolean;
  /** Alarms ring at their times; else only at the end, and calls do what was due. */
  readonly rings: boolean;
};

/** What was billed of usage, and what it should be. */
export async function lived(story: Story, way: Way) {
  const { world, model, came } = await play(story, way);
  const { aggregation, carry, offers, end } = story;
  await world.advance(end);
  follow(world, model);
  if (model.endedAt === null) {
    await happen(world, model, { act: { kind: 'cancel', at: end }, offers });
  }
  const unique = [...new Map(came.map((event) => [event.id, event])).values()];
  return { billed: billedIn(world), expected: model.total({ aggregation, carry }, unique), world };
}

/**
 * The next invoice as it is previewed when all has happened, and as it is made; null where there is
 * none, or where it waits for something.
 */
export async function previewed(story: Story, way: Way) {
  const { world } = await play(story, way);
  const { status, open, waiting } = world.subscription;
  const isLater = status !== 'active' || open.length > 0 || waiting !== null || world.isDeclined;
  const preview = isLater ? null : await world.upcoming();
  if (preview === null) return null;
  const known = new Set(world.db.invoices.values().map(({ invoice }) => invoice.id));
  await world.advance(preview.periodEnd);
  const made = world.db.invoices.values().filter(({ invoice }) => !known.has(invoice.id));
  return { preview: preview.lines, made: made.flatMap(({ invoice }) => invoice.lines) };
}

/** What happens, but for the end. */
async function play(story: Story, way: Way) {
  const { offers, aggregation, carry, trialDays, events, acts } = story;
  const trialEnd = trialDays === 0 ? null : T0 + trialDays * DAY;
  const world = await SoldWorld.open(aggregation, T0, carry);
  await world.start(offers[0], trialEnd);
  const model = new SoldModel(offers[0], T0, trialEnd);
  const came: Event[] = [];
  const coming = Map.groupBy(
    events.flatMap((event) => {
      const { at, delay } = event;
      if (!way.isLate) return [{ at, event }];
      const grid = way.isTogether ? 3 * DAY : 1;
      const late = T0 + Math.ceil((at + delay - T0) / grid) * grid;
      return event.isTwice
        ? [
            { at: late, event },
            { at: late + HOUR, event },
          ]
        : [{ at: late, event }];
    }),
    ({ at }) => at,
  );
  const moments = new Set([...coming.keys(), ...acts.map(({ at }) => at)]);
  for (const at of [...moments].toSorted((a, b) => a - b)) {
    if (way.rings) await world.advance(at);
    else world.now = at;
    follow(world, model);
    if (way.forgets) world.forget();
    const together = (coming.get(at) ?? []).map(({ event }) => event);
    if (together.length > 0) await world.use(together);
    if (model.endedAt === null) came.push(...together);
    for (const act of acts.filter((one) => one.at === at))
      await happen(world, model, { act, offers });
  }
  return { world, model, came };
}

/** It may have ended by itself. */
function follow(world: SoldWorld, model: SoldModel): void {
  const { endedAt } = world.subscription;
  if (endedAt !== null && model.endedAt === null) model.end(endedAt);
}

type Happening = { readonly act: Act; readonly offers: Story['offers'] };

async function happen(
  world: SoldWorld,
  model: SoldModel,
  { act, offers }: Happening,
): Promise<void> {
  const { kind, at } = act;
  if (model.endedAt !== null) return;
  switch (kind) {
    case 'change':
    case 'failed_change': {
      if (model.isPaused) return;
      const offer = model.offer === offers[0] ? offers[1] : offers[0];
      const before = world.isDeclined;
      world.isDeclined ||= kind === 'failed_change';
      if (await world.change(offer)) model.change(offer, at);
      world.isDeclined = before;
      break;
    }
    case 'pause':
    case 'keep':
      if (model.isPaused) return;
      await world.do({ kind: 'pause', resumesAt: null, keepInvoices: kind === 'keep' });
      model.pause(at, kind === 'keep');
      break;
    case 'resume':
      if (!model.isPaused) return;
      await world.do({ kind: 'resume' });
      if (world.subscription.status === 'active') model.resume(at);
      break;
    case 'cancel':
      await world.do({ kind: 'cancel', mode: 'immediate' });
      break;
    case 'decline':
      world.isDeclined = true;
      break;
  }
  follow(world, model);
}

function billedIn({ db }: SoldWorld): bigint {
  let sum = 0n;
  for (const { invoice, isVoid } of db.invoices.values()) {
    if (isVoid || invoice.isDraft) continue;
    for (const line of invoice.lines) if ('usageId' in line) sum += amountOfLine(line);
  }
  return sum;
}

const hours = (most: number) => fc.integer({ min: 0, max: most * 24 - 1 }).map((n) => n * HOUR);

export const stories: fc.Arbitrary<Story> = fc
  .record({
    plans: fc.constantFrom(
      { plans: [MONTHLY, DEARER] as const, resets: ['day', 'week', 'month'] as const, days: 100 },
      {
        plans: [YEARLY, { ...YEARLY, priceId: 'more', unitAmount: 90_000n }] as const,
        resets: ['month'] as const,
        days: 430,
      },
      { plans: [MONTHLY, YEARLY] as const, resets: ['month'] as const, days: 430 },
    ),
    aggregation: fc.constantFrom<Aggregation>('sum', 'sum', 'count', 'max', 'last', 'unique'),
    trialDays: fc.constantFrom(0, 0, 7),
  })
  .chain(({ plans: { plans, resets, days }, aggregation, trialDays }) => {
    const isSigned = aggregation === 'sum' || aggregation === 'count';
    const usage = fc.record({
      at: fc.tuple(hours(days), fc.constantFrom(0, 3 * MINUTE)).map(([at, more]) => T0 + at + more),
      value: fc.bigInt({ min: isSigned ? -5n : 0n, max: 20n }),
      delay: fc.oneof(fc.constant(0), hours(30)),
      isTwice: fc.boolean(),
    });
    const act = fc.record({
      kind: fc.constantFrom<Act['kind']>(
        'change',
        'change',
        'failed_change',
        'pause',
        'keep',
        'resume',
        'resume',
        'cancel',
        'decline',
      ),
      at: hours(days).map((at) => T0 + at + 7 * MINUTE),
    });
    const offer = (plan: Offer['plan']) =>
      fc
        .record({ limit: fc.bigInt({ min: 0n, max: 30n }), price: prices(60n) })
        .map(({ limit, price }) => ({
          plan,
          limit,
          price: { ...price, id: ids.derive('price', plan.priceId), currency: 'USD' },
        }));
    const story = fc.record({
      aggregation: fc.constant(aggregation),
      carry: aggregation === 'last' ? fc.boolean() : fc.constant(false),
      trialDays: fc.constant(trialDays),
      offers: fc.tuple(offer(plans[0]), offer(plans[1]), fc.constantFrom(...resets)).map(
        ([a, b, reset]) =>
          [
            { ...a, reset },
            { ...b, reset },
          ] as const,
      ),
      acts: fc.uniqueArray(act, { maxLength: 5, selector: ({ at }) => at }),
      events: fc.array(usage, { maxLength: 25 }).map((list) =>
        list.map((event, index) => ({
          ...event,
          id: ids.derive('event', String(index)),
          member: BigInt(index),
        })),
      ),
      end: fc.constant(T0 + (days + 40) * DAY + 13 * MINUTE),
    });
    // As where only the quantity changes.
    return fc.tuple(story, fc.boolean()).map(([one, isOnePrice]): Story => {
      if (!isOnePrice) return one;
      const [first, second] = one.offers;
      return { ...one, offers: [first, { ...second, price: first.price }] };
    });
  });
