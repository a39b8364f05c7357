// Concurrent actions: time, the merchant, the customer in the portal, and a bank that answers late.
// The result is one possible history.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../../support/means.ts';
import { type Random, withSeed } from '../../support/random.ts';
import type { Reply } from '../../support/server.ts';
import { settleAtStripe } from '../../support/settling.ts';
import { until } from '../../support/until.ts';
import { FAILS_LATER, GOOD, type Portal, portalOf } from '../portal/customer.ts';
import { expectPossible } from './history.ts';
import { Club, DAY_MS, type Plan } from './subscribing.ts';

setDefaultTimeout(120_000);

/** More of them when searching for a fault. */
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 4);
const EACH = 4;
const AT_ONCE = 5;
const MEANS: readonly Means[] = ['good', 'renewalFails', 'answerLost', 'iban'];
const APART_MS_MAX = 60;

type Member = { readonly id: string; readonly portal: Portal };

let club: Club;
let plan: Plan;
let dearer: string;
beforeAll(async () => {
  club = await Club.open();
  plan = await club.plan();
  dearer = await club.price(plan, { amount: '50.00', interval: 'week' });
});
afterAll(() => club.close());

async function member(means: Means): Promise<Member> {
  const session = await club.checkout(plan);
  const { id, subscription_id } = await club.pay(session, means);
  if (means === 'answerLost' || means === 'iban') await club.advance('PT1M');
  const { customer_id } = await club.shop.paymentThatIs('succeeded', id);
  return { id: subscription_id, portal: await portalOf(club.shop.server, customer_id) };
}

const api = (action: string, body?: object) => ({
  name: action,
  run: ({ id }: Member) => club.post(`/subscriptions/${id}/${action}`, body),
});
const byPortal = (action: string, body: object = {}) => ({
  name: `portal ${action}`,
  run: ({ id, portal }: Member) => portal.post(action, { subscription_id: id, ...body }),
});

const lastInvoice = (action: string) => ({
  name: `invoice ${action}`,
  run: async ({ id }: Member) => {
    const invoice = (await club.invoices(id)).at(-1);
    return club.post(`/invoices/${invoice.id}/${action}`);
  },
});
const card = (number: string) => ({
  name: `card ${number}`,
  run: ({ portal }: Member) => portal.saveCard(number),
});

type Move = { readonly name: string; readonly run: (one: Member) => Promise<Reply> };

const moves = (): readonly Move[] => [
  api('cancel'),
  api('cancel', { mode: 'immediate' }),
  api('uncancel'),
  api('pause'),
  api('pause', { keep_invoices: true }),
  api('resume'),
  api('change', { quantity: 2 }),
  api('change', { quantity: 1 }),
  api('change', { price_id: dearer }),
  api('change', { price_id: plan.priceId }),
  byPortal('cancel'),
  byPortal('uncancel'),
  byPortal('pause'),
  byPortal('resume'),
  lastInvoice('pay'),
  lastInvoice('void'),
  lastInvoice('finalize'),
  card(GOOD),
  card(FAILS_LATER),
];

/** The expected answers of every call; never a 5xx. */
const ANSWERS = [200, 202, 303, 402, 409];

test('random actions at once on subscriptions, while time passes, leave each one consistent life', async () => {
  await withSeed(async (random) => {
    const all: string[] = [];
    const asked: string[] = [];
    let live: (readonly [Member, Means])[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      live = await stillLive(live);
      for (const means of MEANS) {
        const count = live.filter(([, its]) => its === means).length;
        for (let left = EACH - count; left > 0; left -= 1) live.push([await member(means), means]);
      }
      all.push(...live.map(([{ id }]) => id).filter((id) => !all.includes(id)));
      const advance = { advance: `P${random.integer(1, 32)}D` };
      const clocks = [club.post('/test-clock', advance), club.post('/test-clock', advance)];
      const each = live.map(([one]) => storm(random, one, asked));
      const [first, second] = await Promise.all(clocks);
      expect([200, 409]).toContain(second!.status);
      expect(first!.status === 200 || second!.status === 200).toBe(true);
      await Promise.all(each);
    }
    await club.advance('P1D');
    await untilDecided(all);
    try {
      await expectPossible(club, all);
    } catch (error) {
      console.error(asked.join('\n'));
      throw error;
    }
  });
});

/** Two or three at once, a moment after the others. */
async function storm(random: Random, one: Member, asked: string[]): Promise<void> {
  const chosen = Array.from({ length: random.integer(1, 3) }, () => random.pick(moves()));
  await Promise.all(
    chosen.map(async ({ name, run }) => {
      await Bun.sleep(random.integer(0, APART_MS_MAX));
      const { status, text } = await run(one);
      asked.push(`${one.id} ${name}: ${status}`);
      if (!ANSWERS.includes(status)) expect([name, status, text]).toEqual([name, 200, text]);
    }),
  );
}

async function stillLive<T>(all: readonly (readonly [Member, T])[]) {
  const ended = await Promise.all(
    all.map(async ([{ id }]) => (await club.subscription(id)).status === 'canceled'),
  );
  return all.filter((_one, index) => !ended[index]);
}

async function untilDecided(ids: readonly string[]): Promise<void> {
  await until('all is decided', async () => {
    await settleAtStripe(club.shop.server);
    const [row] = await club.shop.server.sql<{ open: number }[]>`
      select (select count(*) from payments where status = 'processing' and subscription_id = any(${ids}::uuid[]))::int
        + (select count(*) from followups f left join payments p on p.id = f.payment_id
            where f.subscription_id = any(${ids}::uuid[]) or p.subscription_id = any(${ids}::uuid[]))::int as open`;
    return row!.open === 0;
  });
}

type Meeting = (one: Member) => Promise<unknown>[];

const ends = (): Move => api('cancel', { mode: 'immediate' });

/** The actions that coincide with the end of a period. */
const MEETINGS: [string, Means, Meeting][] = [
  ['and its merchant ends it', 'good', (one) => [ends().run(one)]],
  [
    'and its customer ends it',
    'good',
    (one) => [byPortal('cancel', { mode: 'immediate' }).run(one)],
  ],
  ['and it is canceled for the end of the period', 'good', (one) => [api('cancel').run(one)]],
  ['and it is paused', 'good', (one) => [byPortal('pause').run(one)]],
  ['and another plan is wanted', 'good', (one) => [api('change', { quantity: 3 }).run(one)]],
  ['with a charge that fails, and it is paused', 'renewalFails', (one) => [api('pause').run(one)]],
  [
    'with a charge that fails, and there is another card',
    'renewalFails',
    (one) => [card(GOOD).run(one)],
  ],
  ['with a charge that takes time, and it is ended', 'iban', (one) => [ends().run(one)]],
  ['with an answer that gets lost, and it is ended', 'answerLost', (one) => [ends().run(one)]],
  [
    'and two who do not know of each other act',
    'good',
    (one) => [byPortal('pause').run(one), ends().run(one), api('resume').run(one)],
  ],
];

test.each(MEETINGS)(
  "a subscription's period ends %s, at once with other actions",
  async (_what, means, meeting) => {
    await withSeed(async (random) => {
      const all: Member[] = [];
      for (let left = AT_ONCE; left > 0; left -= 1) all.push(await member(means));
      const ids = all.map(({ id }) => id);
      const { current_period_end: end } = await club.subscription(ids.at(-1)!);
      await club.advanceTo(Date.parse(end) - DAY_MS);
      const passing = club.advance('P2D');
      const met = all.map(async (one) => {
        await Bun.sleep(random.integer(0, APART_MS_MAX));
        await Promise.all(meeting(one));
      });
      await Promise.all([passing, ...met]);
      await club.advance('PT1M');
      await untilDecided(ids);
      await expectPossible(club, ids);
    });
  },
);

test('an open invoice retried while its card is replaced is charged once', async () => {
  await withSeed(async (random) => {
    const all: Member[] = [];
    for (let left = AT_ONCE; left > 0; left -= 1) all.push(await member('renewalFails'));
    const ids = all.map(({ id }) => id);
    const { current_period_end: end } = await club.subscription(ids.at(-1)!);
    await club.advanceTo(Date.parse(end) + DAY_MS / 2);
    const met = all.map(async (one) => {
      await Bun.sleep(random.integer(0, APART_MS_MAX));
      const others = [lastInvoice('pay'), lastInvoice('void'), card(GOOD)];
      await Promise.all([card(GOOD), random.pick(others)].map(({ run }) => run(one)));
    });
    await Promise.all([club.advance('P1D'), ...met]);
    await untilDecided(ids);
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
