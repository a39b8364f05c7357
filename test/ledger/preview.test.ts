// What a command bills and does is what its preview said, in every history; and a preview changes
// nothing, as those histories come to what they come to without.
import { expect, setDefaultTimeout, test } from 'bun:test';
import type { BillingReason, Subscription } from '../../ledger/subscriptions/subscription.ts';
import fc from 'fast-check';
import { holdsLater, seeded } from './property.ts';
import { lived, stories, type Way } from './sold-story.ts';
import type { Done } from './sold-world.ts';

setDefaultTimeout(120_000);

/** Invoices that time alone does not make. */
const BY_HAND: readonly BillingReason[] = ['subscription_update', 'subscription_resume', 'usage'];

/** Without the number of its events, and what is charged: the answer to that has come since. */
function standing({ sequence: _sequence, eventAt: _at, open: _open, ...rest }: Subscription) {
  return rest;
}

function expectForetold({ preview, kind, made, subscription, isDeclined }: Done): void {
  if (preview.kind !== 'previewed') return expect(kind).toBe(preview.kind);
  expect(kind).toBe('done');
  const { invoice, total, amountDue } = preview;
  const byHand = made.filter(({ reason }) => BY_HAND.includes(reason));
  expect(byHand).toEqual(invoice === null ? [] : [invoice]);
  expect(amountDue).toBe(total);
  // What is declined does not begin; what has begun is in dunning.
  if (isDeclined && made.length > 0) return;
  expect(standing(subscription)).toEqual(standing(preview.subscription));
}

// prettier-ignore
const WAYS: readonly (readonly [string, Pick<Way, 'rings' | 'forgets'>])[] = [
  ['in time',                { rings: true,  forgets: false }],
  ['where more was due',     { rings: false, forgets: true }],
];

test.each(WAYS)(
  seeded('a command on a subscription does what was previewed, %s'),
  async (_how, way) => {
    const seen = new Set<string>();
    const property = fc.asyncProperty(stories, async (story) => {
      const { world } = await lived(story, { isLate: true, isTogether: false, ...way });
      for (const done of world.done) {
        expectForetold(done);
        const { preview, command } = done;
        const isBilled = preview.kind === 'previewed' && preview.invoice !== null;
        seen.add(`${command.kind} ${isBilled ? 'billed' : preview.kind}`);
      }
    });
    await holdsLater(property, 60);
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'cancel billed',
        'cancel previewed',
        'change billed',
        'change previewed',
      ]),
    );
  },
);
