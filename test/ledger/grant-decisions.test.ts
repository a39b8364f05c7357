import { expect, test } from 'bun:test';
import { GRANTS_LIVE_MAX, QUANTITY_BOUND } from '../../ledger/limits.ts';
import { DAY, HOUR, T0, World, granted } from './world.ts';

type Given = Parameters<World['grant']>[0];

// prettier-ignore
const REFUSALS: [string, Given[], Given, string][] = [
  // what held asked outcome
  ['a first',                                 [],                                                           {},                                             'granted'],
  ['a second',                                [{}],                                                         {},                                             'granted'],
  ['an allowance beside top-ups',             [{}],                                                         { every: 'day' },                               'granted'],
  ['a second allowance',                      [{ every: 'day' }],                                           { every: 'month' },                             'granted'],
  ['the greatest',                            [],                                                           { amount: QUANTITY_BOUND - 1n },                'granted'],
  ['one over the greatest total',             [{ amount: QUANTITY_BOUND - 1n }],                            { amount: 1n },                                 'out_of_range'],
  ['one over it with what is promised',       [{ amount: QUANTITY_BOUND - 1n, effectiveAt: T0 + DAY }],     { amount: 1n },                                 'out_of_range'],
  ['one of the future over it',               [{ amount: QUANTITY_BOUND - 1n }],                            { amount: 1n, effectiveAt: T0 + DAY },          'out_of_range'],
  ['unlimited beside the greatest',           [{ amount: QUANTITY_BOUND - 1n }],                            { amount: null },                               'granted'],
  ['one whose rollover would go over it',     [],                                                           { amount: QUANTITY_BOUND - 1n, every: 'day', rollover: { max: QUANTITY_BOUND - 1n, expiresAfterPeriods: 1 } }, 'out_of_range'],
];

test.each(REFUSALS)('a grant is refused: %s', (_what, held, asked, outcome) => {
  const world = new World();
  for (const fields of held) granted(world.grant(fields));
  const before = [world.state, world.transfers.length, world.events.length];
  expect(world.grant(asked).kind).toBe(outcome as 'granted');
  // A refusal leaves no trace.
  if (outcome !== 'granted') {
    expect([world.state, world.transfers.length, world.events.length]).toEqual(before);
  }
});

test(`${GRANTS_LIVE_MAX} grants may be live, scheduled ones too, and one that ends makes room`, () => {
  const world = new World();
  const first = granted(world.grant({ amount: 1n }));
  for (let i = 1; i < GRANTS_LIVE_MAX; i += 1) {
    world.grant({ amount: 1n, ...(i % 2 === 0 && { effectiveAt: T0 + DAY }) });
  }
  expect(world.grant().kind).toBe('too_many_grants');
  world.void(first);
  expect(world.grant().kind).toBe('granted');
});

test('a grant pays what was used beyond the limit before it', () => {
  const world = new World();
  world.use(15n);
  world.grant();
  expect([world.numbers, world.parts]).toEqual([[10n, 15n, -5n], [0n]]);
  world.grant();
  expect([world.numbers, world.parts]).toEqual([
    [20n, 15n, 5n],
    [0n, 5n],
  ]);
});

test('the grant that expires first burns first, whatever came first', () => {
  const world = new World();
  world.grant({ amount: 10n });
  world.grant({ amount: 10n, expiresAt: T0 + DAY });
  world.grant({ amount: 10n, priority: 1 });
  world.use(13n);
  expect(world.parts).toEqual([0n, 7n, 10n]);
});

test('a better grant does not pay for usage before it: consumption is dealt out at each change', () => {
  const world = new World();
  world.grant({ amount: 10n });
  world.use(4n);
  world.grant({ amount: 10n, priority: 1 });
  expect(world.parts).toEqual([10n, 6n]);
});

test('voiding a grant takes back what is left; what was used stays used', () => {
  const world = new World();
  const id = granted(world.grant());
  world.use(4n);
  expect([world.void(id), world.numbers, world.parts]).toEqual(['voided', [4n, 4n, 0n], []]);
  expect(world.grants.get(id)).toMatchObject({ used: 4n, ended: { at: T0, how: 'voided' } });
  expect(world.check(1n)).toBe('denied not_entitled');
});

// prettier-ignore
const NOT_LIVE: [string, (world: World, id: string) => void][] = [
  ['voided before',   (world, id) => { world.void(id); }],
  ['expired',         (world) => { world.tickAt(T0 + DAY); }],
];

test.each(NOT_LIVE)('voiding a grant that was %s changes nothing', (_what, end) => {
  const world = new World();
  const id = granted(world.grant({ expiresAt: T0 + DAY }));
  end(world, id);
  const { length } = world.transfers;
  expect([world.void(id), world.transfers.length]).toEqual(['not_live', length]);
});

test('voiding a grant that has expired, before its alarm, writes that it has expired', () => {
  const world = new World();
  const id = granted(world.grant({ expiresAt: T0 + DAY }));
  world.now = T0 + DAY;
  expect(world.void(id)).toBe('not_live');
  expect(world.grants.get(id)?.ended).toEqual({ at: T0 + DAY, how: 'expired' });
});

test('voiding an unknown grant changes nothing', () => {
  expect(new World().void('nothing')).toBe('not_live');
});

test('voiding a grant of the future: it never starts', () => {
  const world = new World();
  const id = granted(world.grant({ effectiveAt: T0 + DAY }));
  expect(world.void(id)).toBe('voided');
  world.now = T0 + 2 * DAY;
  expect([world.numbers, world.transfers]).toEqual([[0n, 0n, 0n], []]);
});

test('voiding an allowance ends its cycle, and top-ups go on without an end', () => {
  const world = new World();
  const id = granted(world.grant({ every: 'day' }));
  world.grant({ amount: 5n });
  world.use(12n);
  world.now += HOUR;
  world.void(id);
  expect([world.numbers, world.state.current.end]).toEqual([[3n, 0n, 3n], null]);
  world.now += 50 * DAY;
  expect(world.numbers).toEqual([3n, 0n, 3n]);
});

test('a new allowance may begin after the old one was voided', () => {
  const world = new World();
  const id = granted(world.grant({ every: 'day' }));
  world.now += HOUR;
  world.void(id);
  world.now += HOUR;
  expect(world.grant({ every: 'month', amount: 3n }).kind).toBe('granted');
  expect([world.numbers, world.state.current.start]).toEqual([[3n, 0n, 3n], T0 + 2 * HOUR]);
});

test('usage that an unlimited grant paid stays paid when it ends: a grant after it is whole', () => {
  const world = new World();
  const id = granted(world.grant({ amount: null }));
  world.use(1000n);
  world.void(id);
  world.grant({ amount: 10n });
  expect([world.check(10n), world.numbers[2], world.parts]).toEqual(['allowed ok', 10n, [10n]]);
});

test('a correction of usage that an expired grant paid gives nothing back to use', () => {
  const world = new World();
  world.grant({ amount: 10n, expiresAt: T0 + DAY });
  world.use(10n);
  world.now = T0 + DAY;
  world.grant({ amount: 5n });
  world.use(-10n);
  expect([world.numbers[2], world.parts]).toEqual([5n, [5n]]);
});

// prettier-ignore
const CHECKS: [string, (world: World) => void, bigint, string][] = [
  // what given asked answer
  ['nothing was ever granted',            () => undefined,                                               1n,    'denied not_entitled'],
  ['nothing was ever granted, 0 asked',   () => undefined,                                               0n,    'denied not_entitled'],
  ['only a grant of the future',          (w) => { w.grant({ effectiveAt: T0 + DAY }); },                1n,    'denied not_entitled'],
  ['all has run out of time',             (w) => { w.grant({ expiresAt: T0 + 1 }); w.now += 1; },        1n,    'denied expired'],
  ['it was voided',                       (w) => { w.void(granted(w.grant())); },                        1n,    'denied not_entitled'],
  ['enough',                              (w) => { w.grant(); },                                         10n,   'allowed ok'],
  ['one too few',                         (w) => { w.grant(); },                                         11n,   'denied insufficient_balance'],
  ['used up, 0 asked',                    (w) => { w.grant(); w.use(10n); },                             0n,    'allowed ok'],
  ['overdrawn, 0 asked',                  (w) => { w.grant(); w.use(11n); },                             0n,    'denied insufficient_balance'],
  ['overage is allowed',                  (w) => { w.grant({ overageAllowed: true }); w.use(10n); },     1n,    'allowed overage_allowed'],
  ['overage is allowed, enough',          (w) => { w.grant({ overageAllowed: true }); },                 1n,    'allowed ok'],
  ['unlimited',                           (w) => { w.grant({ amount: null }); w.use(99n); },             10n,   'allowed unlimited'],
  ['unlimited beside a limit',            (w) => { w.grant(); w.grant({ amount: null }); },              99n,   'allowed unlimited'],
];

test.each(CHECKS)('a check of grants: %s', (_what, give, asked, answer) => {
  const world = new World();
  give(world);
  expect(world.check(asked)).toBe(answer);
});
