// The end of a subscription's period, and its open invoice, at once with other actions. The result
// is one possible history.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../../support/means.ts';
import { withSeed } from '../../support/random.ts';
import { GOOD } from '../portal/customer.ts';
import { expectPossible } from './history.ts';
import { aMoment, type Member, type Move, Racing } from './racing.ts';
import { type Club, DAY_MS } from './subscribing.ts';

setDefaultTimeout(120_000);

const AT_ONCE = 5;

let racing: Racing;
let club: Club;
beforeAll(async () => {
  racing = await Racing.open();
  ({ club } = racing);
});
afterAll(() => racing.close());

type Meeting = (one: Member) => Promise<unknown>[];

const ends = (): Move => racing.api('cancel', { mode: 'immediate' });

/** The actions that coincide with the end of a period. */
const MEETINGS: [string, Means, Meeting][] = [
  ['and its merchant ends it', 'good', (one) => [ends().run(one)]],
  [
    'and its customer ends it',
    'good',
    (one) => [racing.byPortal('cancel', { mode: 'immediate' }).run(one)],
  ],
  [
    'and it is canceled for the end of the period',
    'good',
    (one) => [racing.api('cancel').run(one)],
  ],
  ['and it is paused', 'good', (one) => [racing.byPortal('pause').run(one)]],
  ['and another plan is wanted', 'good', (one) => [racing.api('change', { quantity: 3 }).run(one)]],
  [
    'with a charge that fails, and it is paused',
    'renewalFails',
    (one) => [racing.api('pause').run(one)],
  ],
  [
    'with a charge that fails, and there is another card',
    'renewalFails',
    (one) => [racing.card(GOOD).run(one)],
  ],
  ['with a charge that takes time, and it is ended', 'iban', (one) => [ends().run(one)]],
  ['with an answer that gets lost, and it is ended', 'answerLost', (one) => [ends().run(one)]],
  [
    'and two who do not know of each other act',
    'good',
    (one) => [racing.byPortal('pause').run(one), ends().run(one), racing.api('resume').run(one)],
  ],
];

test.each(MEETINGS)(
  "a subscription's period ends %s, at once with other actions",
  async (_what, means, meeting) => {
    await withSeed(async (random) => {
      const all = await racing.members(AT_ONCE, means);
      const ids = all.map(({ id }) => id);
      const { current_period_end: end } = await club.subscription(ids.at(-1)!);
      await club.advanceTo(Date.parse(end) - DAY_MS);
      const passing = club.advance('P2D');
      const met = all.map(async (one) => {
        await aMoment(random);
        await Promise.all(meeting(one));
      });
      await Promise.all([passing, ...met]);
      await club.advance('PT1M');
      await racing.untilDecided(ids);
      await expectPossible(club, ids);
    });
  },
);

test('an open invoice retried while its card is replaced is charged once', async () => {
  await withSeed(async (random) => {
    const all = await racing.members(AT_ONCE, 'renewalFails');
    const ids = all.map(({ id }) => id);
    const { current_period_end: end } = await club.subscription(ids.at(-1)!);
    await club.advanceTo(Date.parse(end) + DAY_MS / 2);
    const met = all.map(async (one) => {
      await aMoment(random);
      const others = [racing.lastInvoice('pay'), racing.lastInvoice('void'), racing.card(GOOD)];
      await Promise.all([racing.card(GOOD), random.pick(others)].map(({ run }) => run(one)));
    });
    await Promise.all([club.advance('P1D'), ...met]);
    await racing.untilDecided(ids);
    await expectPossible(club, ids);
    for (const id of ids) {
      const [, renewal] = await club.invoices(id);
      expect(['paid', 'void']).toContain(renewal.status);
      expect(await club.subscription(id)).toMatchObject({
        overdue_state: 'clear',
        status: 'active',
      });
    }
  });
});
