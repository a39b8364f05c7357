// Credits: a pool pays for what its members use beyond their own limits. What each is granted,
// used, held and told, in any order and over the ends of periods. Costs: a chat 2 credits, an image
// 5, a token 0.5.
import { describe, expect, test } from 'bun:test';
import type { Alert } from '../../ledger/metering/alert.ts';
import { quantityOf } from '../../ledger/metering/spans.ts';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import {
  after,
  change,
  hold,
  plan,
  type Step,
  topUp,
  use,
  wait,
  withdraw,
} from './credit-steps.ts';
import { CreditWorld, type Numbers, type Slug } from './credit-world.ts';
import { DAY, HOUR, T0 } from './world.ts';

const SLUGS_OF_CREDITS = ['chat', 'images', 'tokens', 'credits'] as const;

describe('usage of a member of a credit pool', () => {
  // prettier-ignore
  const USED: [string, Step[], Partial<Record<Slug, Numbers>>][] = [
    ['is paid by the pool',               [topUp('credits', 100), use('chat', 3)],                                              { chat: [0, 3, 0, 0],    credits: [100, 6, 0, 94] }],
    ['is its own first',                  [topUp('credits', 100), topUp('chat', 2), use('chat', 3)],                            { chat: [2, 3, 0, 0],    credits: [100, 2, 0, 98] }],
    ['within its own costs nothing',      [topUp('credits', 100), topUp('chat', 5), use('chat', 3)],                            { chat: [5, 3, 0, 2],    credits: [100, 0, 0, 100] }],
    ['of several adds up',                [topUp('credits', 100), use('chat', 3), use('images', 1), use('tokens', 1.5)],        { chat: [0, 3, 0, 0],    images: [0, 1, 0, 0], tokens: [0, 1.5, 0, 0], credits: [100, 11.75, 0, 88.25] }],
    ['with the smallest fraction',        [topUp('credits', 1), use('tokens', 0.001)],                                          { tokens: [0, 0.001, 0, 0], credits: [1, 0.0005, 0, 0.9995] }],
    ['directly on the pool',              [topUp('credits', 100), use('chat', 3), use('credits', 4)],                           { chat: [0, 3, 0, 0],    credits: [100, 10, 0, 90] }],
    ['beyond both is debt of the pool',   [topUp('credits', 5), use('chat', 3)],                                                { chat: [0, 3, 0, 0],    credits: [5, 6, 0, -1] }],
    ['without any credits is debt',       [use('chat', 3)],                                                                     { chat: [0, 3, 0, -3],   credits: [0, 0, 0, 0] }],
    ['before the pool is its debt',       [use('chat', 3), topUp('credits', 100)],                                              { chat: [0, 3, 0, 0],    credits: [100, 6, 0, 94] }],
    ['before a plan is of before it',     [use('chat', 3), wait(1), plan('credits', 100)],                                      { chat: [0, 0, 0, 0],    credits: [100, 0, 0, 100] }],
    ['and corrected goes back',           [topUp('credits', 100), topUp('chat', 2), use('chat', 5), use('chat', -2)],           { chat: [2, 3, 0, 0],    credits: [100, 2, 0, 98] }],
    ['and corrected below its own',       [topUp('credits', 100), topUp('chat', 2), use('chat', 5), use('chat', -4)],           { chat: [2, 1, 0, 1],    credits: [100, 0, 0, 100] }],
    ['and corrected below zero',          [topUp('credits', 100), use('chat', 2), use('chat', -4), use('chat', 3)],             { chat: [0, 1, 0, 0],    credits: [100, 2, 0, 98] }],
    ['corrected and more granted',        [topUp('credits', 9), use('chat', 4), topUp('credits', 9), use('chat', -4)],          { chat: [0, 0, 0, 0],    credits: [18, 0, 0, 18] }],
    ['a top-up of its own gives back',    [topUp('credits', 100), use('chat', 5), topUp('chat', 3)],                            { chat: [3, 5, 0, 0],    credits: [100, 4, 0, 96] }],
    ['of an unlimited own costs nothing', [topUp('credits', 100), topUp('chat', null), use('chat', 5)],                         { chat: [null, 5, 0, null], credits: [100, 0, 0, 100] }],
    ['of an unlimited pool is counted',   [topUp('credits', null), use('chat', 5)],                                             { chat: [0, 5, 0, 0],    credits: [null, 10, 0, null] }],
    ['in a new period is anew',           [plan('credits', 20), use('chat', 3), wait(DAY), use('chat', 1)],                     { chat: [0, 1, 0, 0],    credits: [20, 2, 0, 18] }],
    ['in a new period of both',           [plan('credits', 20), plan('chat', 2), use('chat', 3), wait(DAY), use('chat', 3)],    { chat: [2, 3, 0, 0],    credits: [20, 2, 0, 18] }],
    ['seen at the end of a period',       [plan('credits', 20), use('chat', 3), wait(DAY)],                                     { chat: [0, 0, 0, 0],    credits: [20, 0, 0, 20] }],
    ['when the plan of the pool ends',    [plan('credits', 20), use('chat', 3), wait(HOUR), withdraw('credits')],               { chat: [0, 0, 0, 0],    credits: [0, 0, 0, 0] }],
    ['when its own plan ends',            [plan('credits', 20), plan('chat', 2), use('chat', 3), wait(HOUR), withdraw('chat'), use('chat', 1)], { chat: [0, 1, 0, 0], credits: [20, 4, 0, 16] }],
    ['while its own plan has nothing',    [plan('credits', 20), plan('chat', 2), use('chat', 1), change('chat'), use('chat', 3)], { chat: [1, 4, 0, 0], credits: [20, 6, 0, 14] }],
    ['after its own plan had nothing',    [plan('credits', 20), plan('chat', 2), use('chat', 1), change('chat'), use('chat', 3), change('chat', 2)], { chat: [2, 4, 0, 0], credits: [20, 4, 0, 16] }],
    ['after the pool had nothing',        [plan('credits', 20), use('chat', 4), change('credits'), use('chat', 3), change('credits', 20)], { chat: [0, 7, 0, 0], credits: [20, 14, 0, 6] }],
    ['after its own plan was larger',     [plan('credits', 20), plan('chat', 2), use('chat', 5), change('chat', 10), change('chat', 2)], { chat: [2, 5, 0, 0], credits: [20, 6, 0, 14] }],
    ['when its own plan begins',          [plan('credits', 20), use('chat', 3), wait(HOUR), plan('chat', 2), use('chat', 3)],   { chat: [2, 3, 0, 0],    credits: [20, 8, 0, 12] }],
    ['its own rest moves with the pool',  [plan('credits', 20), topUp('chat', 5), use('chat', 2), wait(DAY), use('chat', 4)],   { chat: [3, 4, 0, 0],    credits: [20, 2, 0, 18] }],
  ];

  test.each(USED)('%s', (_what, steps, expected) => {
    const world = after(...steps);
    for (const [slug, numbers] of Object.entries(expected)) {
      expect([slug, ...world.numbers(slug as Slug)]).toEqual([slug, ...numbers]);
    }
  });

  // prettier-ignore
  const LATE: [string, Step[], Step[]][] = [
    ['of an earlier period',         [plan('credits', 20)],                                [use('chat', 3, DAY), use('chat', 1), use('chat', -2, DAY + HOUR)]],
    ['with something of its own',    [plan('credits', 20), topUp('chat', 2), use('chat', 3)], [use('chat', 3, DAY), use('images', 1, DAY), use('chat', -3, DAY)]],
    ['with a plan of its own',       [plan('credits', 20), plan('chat', 2)],               [use('chat', 3, DAY), use('chat', 4), use('chat', -2, DAY), use('tokens', 2, DAY)]],
    ['before anything was granted',  [wait(HOUR), plan('credits', 20)],                    [use('chat', 3, 2 * DAY), use('chat', 1), use('chat', 2, 2 * DAY)]],
    ['in one endless period',        [topUp('credits', 20)],                               [use('chat', 3, 2 * DAY), use('chat', 1), use('chat', -4, DAY), use('credits', 2, DAY)]],
  ];

  test.each(LATE)('is late, in any order: %s', (_what, before, late) => {
    const ends = [late, late.toReversed()].map((order) => {
      const world = after(...before, wait(DAY + 2 * HOUR), ...order);
      return (['chat', 'images', 'tokens', 'credits'] as const).map((slug) =>
        // One that was opened for nothing is as none.
        world.periods(slug).filter((numbers) => numbers.some((units) => units !== 0)),
      );
    });
    expect(ends[0]).toEqual(ends[1]);
  });

  test('that is late counts in the period of both that it was in', () => {
    const world = after(plan('credits', 20), topUp('chat', 2), use('chat', 3), wait(DAY + HOUR));
    use('chat', 1)(world);
    use('chat', 2, DAY)(world);
    expect([world.periods('chat'), world.periods('credits')]).toEqual([
      [
        [2, 5, 0],
        [0, 1, 0],
      ],
      [
        [20, 6, 0],
        [20, 2, 0],
      ],
    ]);
  });

  test('that is corrected after the grants that paid for it expired gives nothing back', () => {
    const world = new CreditWorld();
    world.grant('credits', 10, { expiresAt: T0 + HOUR });
    for (const step of [topUp('credits', 20), use('chat', 4), wait(HOUR)]) step(world);
    expect(world.numbers('credits')).toEqual([28, 8, 0, 20]);
    use('chat', -4)(world);
    expect(world.numbers('credits')).toEqual([20, 0, 0, 20]);
  });

  test("now is paid by the pool's current period, although the member's own began before", () => {
    const world = after(plan('credits', 20), wait(DAY / 2), plan('chat', 1), wait(DAY / 2 + HOUR));
    use('chat', 3)(world);
    expect(world.numbers('credits')).toEqual([20, 4, 0, 16]);
  });

  test("from before the member had a plan is paid by the pool's period of then", () => {
    const world = after(plan('credits', 20), wait(HOUR), plan('chat', null), wait(HOUR));
    use('chat', 3, 1.5 * HOUR)(world);
    expect(world.periods('credits')).toEqual([[20, 6, 0]]);
    expect(world.period('chat', T0)?.consumed).toBe(3n);
  });

  test('leaves the other members of the pool alone', () => {
    const world = new CreditWorld({ credits: { chat: '2' }, minutes: { calls: '3' } });
    world.grant('credits', 10);
    world.grant('minutes', 10);
    world.use('calls', 2);
    world.use('chat', 1);
    expect([world.numbers('credits'), world.numbers('minutes')]).toEqual([
      [10, 2, 0, 8],
      [10, 6, 0, 4],
    ]);
  });

  test("and the pool's draw are one decision, and the pool has what was drawn for whom", () => {
    const world = after(topUp('credits', 100), topUp('chat', 2), use('chat', 3), use('chat', -1));
    const account = world.state('chat').current.accountId;
    const drawn = world.written.transfers.filter(({ drawnFor }) => drawnFor === account);
    expect(drawn.map(({ kind, amount, usage }) => [kind, amount, usage?.events])).toEqual([
      ['single', world.units('credits', 2), 0n],
      ['reverse', world.units('credits', 2), 0n],
    ]);
  });
});

describe('the credit cost of a member', () => {
  test("is what the list said when the pool's period began", () => {
    const world = after(plan('credits', 100), use('chat', 1));
    world.now += HOUR;
    world.patch('credits', { chat: '7', images: '1' });
    for (const slug of ['chat', 'images'] as const) use(slug, 1)(world);
    expect(world.numbers('credits')[1]).toBe(2 + 2 + 5);
    world.now += DAY;
    for (const slug of ['chat', 'images'] as const) use(slug, 1)(world);
    use('chat', 1, DAY)(world);
    expect(world.periods('credits').map(([, consumed]) => consumed)).toEqual([11, 8]);
  });

  test('counts from a period that begins once the list is there', () => {
    const world = after(plan('credits', 100), wait(DAY));
    world.patch('credits', { chat: '7' });
    use('chat', 1)(world);
    expect(world.numbers('credits')[1]).toBe(7);
  });

  test("is that of the pool's period, where the member's period begins later", () => {
    const world = after(plan('credits', 100), wait(HOUR));
    world.patch('credits', { chat: '7' });
    for (const step of [wait(HOUR), plan('chat', 1), use('chat', 2)]) step(world);
    expect(world.numbers('credits')[1]).toBe(2);
  });

  test('stays for an endless period, for members that are added later too', () => {
    const world = after(topUp('credits', 100), use('chat', 1), wait(DAY));
    world.patch('credits', { chat: '7', images: '1' });
    for (const slug of ['chat', 'images'] as const) use(slug, 1)(world);
    expect(world.numbers('credits')[1]).toBe(2 + 2 + 5);
  });

  test('of a pool that is granted later is what the list says then', () => {
    const world = after(use('chat', 1), wait(HOUR));
    world.patch('credits', { chat: '7' });
    world.now += HOUR;
    world.grant('credits', 100);
    world.now += HOUR;
    world.patch('credits', { chat: '9' });
    use('chat', 1)(world);
    expect(world.numbers('credits')[1]).toBe(14);
  });

  test('ends with the period for a member that is dropped from the list', () => {
    const world = after(plan('credits', 100), use('chat', 1), wait(HOUR));
    world.patch('credits', { images: '5' });
    use('chat', 1)(world);
    expect([world.numbers('credits')[1], world.check('chat', 1)]).toEqual([
      4,
      'allowed ok by 2 credits',
    ]);
    world.now += DAY;
    expect(world.check('chat', 1)).toBe('denied not_entitled');
    use('chat', 1)(world);
    use('chat', 1, DAY)(world);
    expect(world.periods('credits').map(([, consumed]) => consumed)).toEqual([6, 0]);
    expect(world.numbers('chat')).toEqual([0, 1, 0, -1]);
  });

  test('begins with the next period for a member that is added to the list', () => {
    const world = new CreditWorld({ credits: { images: '5' } });
    world.plan('credits', 100, { resetInterval: 'day' });
    world.now += HOUR;
    world.patch('credits', { images: '5', chat: '2' });
    use('chat', 3)(world);
    expect([world.check('chat', 1), world.numbers('credits')[1]]).toEqual([
      'denied not_entitled',
      0,
    ]);
    world.now += DAY;
    use('chat', 1)(world);
    expect([world.check('chat', 1), world.numbers('credits')[1]]).toEqual([
      'allowed ok by 2 credits',
      2,
    ]);
  });
});

describe('a check of a member of a credit pool', () => {
  const suspend =
    (slug: Slug): Step =>
    (world) =>
      expect(world.suspendPlan(slug, 'paused')).toBe('done');
  const overage =
    (slug: Slug, limit: number): Step =>
    (world) =>
      world.plan(slug, limit, { overageAllowed: true });
  const boolean =
    (slug: Slug): Step =>
    (world) =>
      world.plan(slug, null, { boolean: true });
  const expire =
    (slug: Slug): Step =>
    (world) => {
      world.grant(slug, 10, { expiresAt: world.now + HOUR });
      world.now += HOUR;
    };

  // prettier-ignore
  const CHECKS: [string, Step[], number, string][] = [
    ['by its own',                             [topUp('credits', 9), topUp('chat', 5)],                         5, 'allowed ok by 5 chat'],
    ['by the pool',                            [topUp('credits', 9)],                                           4, 'allowed ok by 8 credits'],
    ['by both',                                [topUp('credits', 9), topUp('chat', 5)],                         7, 'allowed ok by 5 chat and 4 credits'],
    ['to the last credit',                     [topUp('credits', 4), topUp('chat', 5)],                         7, 'allowed ok by 5 chat and 4 credits'],
    ['not beyond both',                        [topUp('credits', 3), topUp('chat', 5)],                         7, 'denied insufficient_balance'],
    ['nothing, of both',                       [topUp('credits', 3), topUp('chat', 5)],                         0, 'allowed ok'],
    ['nothing, of the pool',                   [topUp('credits', 3)],                                           0, 'allowed ok'],
    ['nothing, of a pool in debt',             [topUp('credits', 3), use('chat', 2)],                           0, 'denied insufficient_balance'],
    ['nothing, of its own, the pool in debt',  [topUp('credits', 3), topUp('chat', 1), use('chat', 3)],         0, 'allowed ok'],
    ['nothing of anything',                    [],                                                              0, 'denied not_entitled'],
    ['without any grant',                      [],                                                              1, 'denied not_entitled'],
    ['without a pool',                         [topUp('chat', 5)],                                              6, 'denied insufficient_balance'],
    ['of its own, without a pool',             [topUp('chat', 5)],                                              5, 'allowed ok by 5 chat'],
    ['after its own has expired',              [expire('chat')],                                                1, 'denied expired'],
    ['after the pool has expired',             [expire('credits')],                                             1, 'denied expired'],
    ['after the pool has expired, its own',    [expire('credits'), topUp('chat', 5)],                           5, 'allowed ok by 5 chat'],
    ['after the pool has expired, too many',   [expire('credits'), topUp('chat', 5)],                           6, 'denied insufficient_balance'],
    ['after its own has expired, by the pool', [expire('chat'), topUp('credits', 5)],                           2, 'allowed ok by 4 credits'],
    ['of an unlimited own',                    [topUp('credits', 1), topUp('chat', null)],                      9, 'allowed unlimited by 9 chat'],
    ['of an unlimited pool',                   [topUp('credits', null), topUp('chat', 2)],                      9, 'allowed unlimited by 2 chat and 14 credits'],
    ['of a boolean pool',                      [boolean('credits')],                                            9, 'allowed unlimited by 18 credits'],
    ['past the limit of the pool',             [overage('credits', 4)],                                         9, 'allowed overage_allowed by 18 credits'],
    ['past its own limit, by the pool',        [topUp('credits', 20), overage('chat', 4)],                      9, 'allowed ok by 4 chat and 10 credits'],
    ['past its own limit, with a debt',        [topUp('credits', 1), overage('chat', 4)],                       9, 'allowed overage_allowed by 4 chat and 10 credits'],
    ['with its own suspended, the pool waits', [topUp('credits', 20), plan('chat', 4), suspend('chat')],        1, 'denied subscription_paused'],
    ['with its own suspended and used up',     [topUp('credits', 20), plan('chat', 4), use('chat', 4), suspend('chat')], 1, 'allowed ok by 2 credits'],
    ['with the pool suspended',                [plan('credits', 20), suspend('credits')],                       1, 'denied subscription_paused'],
    ['with the pool suspended, its own',       [plan('credits', 20), suspend('credits'), topUp('chat', 4)],     4, 'allowed ok by 4 chat'],
    ['with the pool suspended, too many',      [plan('credits', 20), suspend('credits'), topUp('chat', 4)],     5, 'denied subscription_paused'],
    ['with what is held of its own taken off', [topUp('credits', 20), topUp('chat', 4), hold('chat', 3)],       2, 'allowed ok by 1 chat and 2 credits'],
    ['with what is held of the pool, too',     [topUp('credits', 20), hold('chat', 7), hold('images', 1, 'b')], 1, 'denied insufficient_balance'],
  ];

  test.each(CHECKS)('%s', (_what, steps, value, expected) => {
    const world = after(...steps);
    expect(world.check('chat', value)).toBe(expected);
    const before = SLUGS_OF_CREDITS.map((slug) => world.numbers(slug));
    const paid = expected.replace(/^\S+ \S+/, '');
    if (value > 0) {
      const consumed = world.use('chat', value, { admission: 'consume' });
      expect(consumed.replace(/^(\S+) \S+/, '$1')).toBe(
        `${expected.startsWith('allowed') ? 'recorded' : 'refused'}${paid}`,
      );
    }
    if (expected.startsWith('denied')) {
      expect(SLUGS_OF_CREDITS.map((slug) => world.numbers(slug))).toEqual(before);
      const reason = expected.replace('denied ', '');
      if (value > 0) expect(world.reserve('chat', value, 'r')).toBe(`denied ${reason}`);
    }
  });

  const REJECTS: [string, Step[], number, string][] = [
    ['by its own', [topUp('credits', 9), topUp('chat', 5)], 5, 'recorded ok by 5 chat'],
    ['by both', [topUp('credits', 4), topUp('chat', 5)], 7, 'recorded ok by 5 chat and 4 credits'],
    ['not beyond both', [topUp('credits', 3), topUp('chat', 5)], 7, 'refused insufficient_balance'],
    ['past the limit of the pool', [overage('credits', 4)], 9, 'recorded ok by 18 credits'],
    [
      'with the pool suspended',
      [plan('credits', 20), suspend('credits')],
      1,
      'refused subscription_paused',
    ],
    [
      'with its own suspended',
      [topUp('credits', 20), plan('chat', 4), suspend('chat')],
      1,
      'refused subscription_paused',
    ],
    [
      'a correction of debt',
      [topUp('credits', 3), use('chat', 9)],
      -1,
      'recorded ok by -2 credits',
    ],
  ];

  test.each(REJECTS)('with overage rejected: %s', (_what, steps, value, expected) => {
    expect(after(...steps).use('chat', value, { admission: 'reject' })).toBe(expected);
  });

  test('that is late and rejects overage asks the credits of its own period', () => {
    const world = after(plan('credits', 10), use('chat', 4), wait(DAY + HOUR), use('chat', 5));
    const late = { admission: 'reject', eventAt: world.now - DAY } as const;
    expect(world.use('chat', 2, late)).toBe('refused insufficient_balance');
    expect(world.use('chat', 1, late)).toBe('recorded ok by 2 credits');
    expect(world.use('chat', 1, { admission: 'reject' })).toBe('refused insufficient_balance');
  });

  test('past the limit of a pool that is sold is allowed as far as the spend cap goes', () => {
    const world = after(overage('credits', 4));
    // Twelve credits beyond the limit.
    world.cap('credits', (_before, { current: { consumed, granted } }) => {
      return consumed - granted <= world.units('credits', 12);
    });
    use('chat', 1)(world);
    expect(world.check('chat', 7)).toBe('allowed overage_allowed by 14 credits');
    expect(world.check('chat', 8)).toBe('denied spend_cap');
    hold('chat', 2)(world);
    expect(world.check('chat', 6)).toBe('denied spend_cap');
    expect(world.use('chat', 6, { admission: 'reject' })).toBe('refused spend_cap');
    expect(world.use('chat', 6, { admission: 'consume' })).toBe('refused spend_cap');
    expect(world.use('chat', 5, { admission: 'reject' })).toBe('recorded ok by 10 credits');
  });
});

describe('the events of a credit pool', () => {
  const alert = (type: Alert['type'], threshold: bigint): Alert => ({
    id: `${type} ${threshold}`,
    type,
    threshold,
  });

  test("say that it is exhausted by its members' usage, once until a grant", () => {
    const world = after(topUp('credits', 10), use('chat', 4));
    expect(world.told('credits')).toEqual(['granted']);
    use('chat', 1)(world);
    use('chat', 1)(world);
    expect(world.told('credits')).toEqual(['granted', 'exhausted']);
    topUp('credits', 10)(world);
    use('chat', 9)(world);
    expect(world.told('credits')).toEqual(['granted', 'exhausted', 'granted', 'exhausted']);
    expect(world.told('chat')).toEqual([]);
  });

  test('say that a member is exhausted when its own grants are used up', () => {
    const world = after(topUp('credits', 10), topUp('chat', 2), use('chat', 3));
    expect([world.told('chat'), world.told('credits')]).toEqual([
      ['granted', 'exhausted'],
      ['granted'],
    ]);
  });

  test('are alerts of the pool and of the member, with the usage', () => {
    const world = new CreditWorld();
    world.alerts.set('credits', [alert('remaining', world.units('credits', 4))]);
    world.alerts.set('chat', [alert('usage', 3n), alert('remaining', 0n)]);
    for (const step of [topUp('credits', 10), topUp('chat', 1), use('chat', 2)]) step(world);
    expect([world.told('chat'), world.told('credits')]).toEqual([
      ['granted', 'exhausted', 'alert.triggered'],
      ['granted'],
    ]);
    hold('chat', 2)(world);
    expect(world.told('credits')).toEqual(['granted', 'alert.triggered']);
    use('chat', 1)(world);
    expect(world.told('chat')).toEqual([
      'granted',
      'exhausted',
      'alert.triggered',
      'alert.triggered',
    ]);
    topUp('credits', 90)(world);
    expect(world.told('credits')).toEqual([
      'granted',
      'alert.triggered',
      'granted',
      'alert.recovered',
    ]);
  });

  test('are none for a quiet decision, of the pool neither', () => {
    const world = new CreditWorld();
    world.alerts.set('credits', [alert('usage', 1n)]);
    world.alerts.set('chat', [alert('usage', 1n)]);
    topUp('credits', 10)(world);
    world.mayFire = false;
    use('chat', 2)(world);
    expect([world.told('chat'), world.told('credits')]).toEqual([[], ['granted']]);
    world.mayFire = true;
    use('chat', 1)(world);
    expect([world.told('chat'), world.told('credits')]).toEqual([
      ['alert.triggered'],
      ['granted', 'alert.triggered'],
    ]);
  });
});

describe('a credit pool that is sold', () => {
  const PRICE: UsagePrice = {
    id: 'price',
    currency: 'USD',
    minimum: null,
    maximum: null,
    model: 'per_unit',
    unitAmount: 1n,
  };
  const sell =
    (limit: number): Step =>
    (world) =>
      world.plan('credits', limit, { resetInterval: 'day', price: PRICE });

  const spans = (world: CreditWorld): (readonly [string, number])[] => {
    const state = world.seen('credits');
    return state.spans.map((span) => [
      span.price.id,
      world.number('credits', quantityOf(state, span)),
    ]);
  };

  test("bills its members' usage beyond it, late draws with their own period", () => {
    const world = after(sell(10), use('chat', 8));
    expect(spans(world)).toEqual([['price', 6]]);
    world.now += DAY + HOUR;
    use('chat', 6)(world);
    use('chat', 2, DAY)(world);
    expect(spans(world)).toEqual([
      ['price', 10],
      ['price', 2],
    ]);
    use('chat', -6, DAY)(world);
    expect(spans(world)).toEqual([
      ['price', 0],
      ['price', 2],
    ]);
  });

  test('closes its span with what was drawn when its price changes', () => {
    const world = after(sell(10), use('chat', 8), wait(HOUR));
    const cycle = { anchor: T0, zone: 'UTC' };
    const dearer = { ...PRICE, id: 'dearer' };
    world.replacePlan('credits', 10, { resetInterval: 'day', cycle, price: dearer });
    use('chat', 1)(world);
    expect(spans(world)).toEqual([
      ['price', 6],
      ['dearer', 2],
    ]);
  });
});

describe('a draw out of the range of a credit pool', () => {
  // prettier-ignore
  const FAR: [string, (world: CreditWorld) => string][] = [
    ['usage',                    (world) => world.use('chat', 600_000)],
    ['usage of an earlier time', (world) => world.use('chat', 600_000, { eventAt: world.now - 1 })],
    ['a hold',                   (world) => world.reserve('chat', 600_000, 'b')],
    ['a commit',                 (world) => world.commit('chat', 'a', 600_000)],
    ['an extension',             (world) => world.extend('chat', 'a', 600_000)],
  ];

  test.each(FAR)('by %s is refused and changes nothing', (_what, step) => {
    const world = after(topUp('credits', null), hold('chat', 1), wait(1));
    const before = [world.state('chat'), world.state('credits')];
    expect(step(world)).toBe('out_of_range');
    expect([world.state('chat'), world.state('credits')]).toEqual(before);
    expect(world.use('chat', 400_000)).toBe('recorded ok by 800000 credits');
  });

  test('of usage before the pool was granted is none when it is granted', () => {
    const world = after(use('chat', 600_000), topUp('credits', 5));
    expect([world.numbers('credits'), world.numbers('chat')[3]]).toEqual([[5, 0, 0, 5], -600_000]);
    use('chat', -599_999)(world);
    expect([world.numbers('credits'), world.numbers('chat')[3]]).toEqual([[5, 2, 0, 3], 0]);
  });
});
