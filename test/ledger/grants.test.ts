import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type Grant,
  burn,
  burnOrder,
  isUnlimited,
  left,
  unburn,
  withGrant,
} from '../../ledger/metering/grants.ts';
import { holds, seeded } from './property.ts';

const PLAIN: Grant = {
  id: 'm',
  source: 'top_up',
  amount: 10n,
  used: 0n,
  spent: 0n,
  grown: 0n,
  cut: [],
  rests: [],
  startedAt: null,
  endedIn: 0,
  cap: null,
  effectiveAt: 0,
  expiresAt: null,
  priority: 100,
  createdAt: 50,
  overageAllowed: false,
  price: null,
  charges: false,
  recurs: null,
  renewsAt: null,
  started: true,
  suspended: null,
  boolean: false,
  productId: null,
  subscriptionId: null,
  reason: null,
  ended: null,
};

// prettier-ignore
const ORDER: [string, Partial<Grant>, Partial<Grant>][] = [
  // what decides burns first burns later
  ['the lower priority',                        { priority: 1 },                             { priority: 2 }],
  ['priority, before expiry',                   { priority: 1 },                             { priority: 2, expiresAt: 1 }],
  ['the sooner expiry',                         { expiresAt: 8 },                            { expiresAt: 9 }],
  ['any expiry, before none',                   { expiresAt: 8 },                            {}],
  ['expiry, before rollover',                   { expiresAt: 8 },                            { expiresAt: 9, source: 'rollover' }],
  ['rollover before fresh',                     { source: 'rollover', createdAt: 60 },       {}],
  ['rollover, before age',                      { source: 'rollover', createdAt: 60 },       { createdAt: 10 }],
  ['the older',                                 { createdAt: 49 },                           { source: 'manual' }],
  ['age, before the id',                        { createdAt: 49, id: 'z' },                  { id: 'a' }],
  ['the id, where nothing else does',           { id: 'a' },                                 { id: 'b' }],
];

test.each(ORDER)('of two grants the first burns first: %s', (_what, first, later) => {
  const [a, b] = [
    { ...PLAIN, ...first },
    { ...PLAIN, ...later },
  ];
  expect(Math.sign(burnOrder(a, b))).toBe(-1);
  expect(Math.sign(burnOrder(b, a))).toBe(1);
});

const someGrant = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  priority: fc.constantFrom(1, 2),
  expiresAt: fc.constantFrom(null, 8, 9),
  suspended: fc.constantFrom(null, 'paused' as const),
  ended: fc.constantFrom(null, null, { at: 1, how: 'voided' as const }),
});

test(seeded('grants that come, change and end are in burn order, each once'), () => {
  holds(
    fc.property(fc.array(someGrant, { maxLength: 30 }), (changes) => {
      let live: readonly Grant[] = [];
      const expected = new Map<string, Grant>();
      for (const change of changes) {
        const grant = { ...PLAIN, ...change };
        const before = [...live];
        const after = withGrant(live, grant);
        expect(live).toEqual(before);
        live = after;
        expected.delete(grant.id);
        if (grant.ended === null) expected.set(grant.id, grant);
        expect(live).toEqual([...expected.values()].toSorted(burnOrder));
      }
    }),
    1000,
  );
});

/** `used/amount`; a dash is unlimited, a star is not started. */
function grants(text: string): Grant[] {
  return text.split(' ').map((part, index) => {
    const started = !part.endsWith('*');
    const [used = '', amount = ''] = part.replace('*', '').split('/');
    return {
      ...PLAIN,
      id: String(index),
      used: BigInt(used),
      amount: amount === '-' ? null : BigInt(amount),
      started,
    };
  });
}

const shown = (list: readonly Grant[]): string =>
  list
    .map(({ used, amount, started }) => `${used}/${amount ?? '-'}${started ? '' : '*'}`)
    .join(' ');

// prettier-ignore
const BURNS: [string, bigint, string, bigint][] = [
  // grants             units   become              rest
  ['0/10',              4n,     '4/10',             0n],
  ['0/10 0/10',         14n,    '10/10 4/10',       0n],
  ['0/10 0/10',         25n,    '10/10 10/10',      5n],    // overage
  ['0/10* 0/10',        4n,     '0/10* 4/10',       0n],    // one of the future gives nothing
  ['0/10* 0/10',        14n,    '0/10* 10/10',      4n],
  ['10/10 0/10',        0n,     '10/10 0/10',       0n],
  ['3/10 0/- 0/10',     99n,    '3/10 99/- 0/10',   0n],    // while one is unlimited no other burns
];

test.each(BURNS)('burning %s by %p units leaves %s, and %p over', (before, units, after, rest) => {
  const dealt = burn(grants(before), units);
  expect([shown(dealt.grants), dealt.rest]).toEqual([after, rest]);
});

// prettier-ignore
const UNBURNS: [string, bigint, string, bigint][] = [
  ['10/10 4/10',        6n,     '8/10 0/10',        0n],    // the last that burned gets back first
  ['10/10 4/10',        14n,    '0/10 0/10',        0n],
  ['10/10 4/10',        20n,    '0/10 0/10',        6n],    // more than was used of them
  ['5/10 0/10*',        2n,     '3/10 0/10*',       0n],
];

test.each(UNBURNS)(
  'giving back %s %p units leaves %s, and %p over',
  (before, units, after, rest) => {
    const dealt = unburn(grants(before), units);
    expect([shown(dealt.grants), dealt.rest, dealt.lapsed]).toEqual([after, rest, 0n]);
  },
);

const amount = fc.bigInt({ min: 0n, max: 1000n });
const grantLists = fc.array(
  fc.record({ amount: fc.option(amount, { freq: 8 }), used: amount, started: fc.boolean() }),
  { maxLength: 8 },
);
const listOf = (specs: readonly { amount: bigint | null; used: bigint; started: boolean }[]) =>
  specs.map((spec, index): Grant => {
    const used = spec.started ? spec.used : 0n;
    const most = spec.amount !== null && used > spec.amount ? spec.amount : used;
    return { ...PLAIN, ...spec, id: String(index), used: most };
  });
const usedOf = (list: readonly Grant[]): bigint => list.reduce((sum, { used }) => sum + used, 0n);

test(
  seeded('burned parts and the rest add up, and no grant goes below zero or over its amount'),
  () => {
    holds(
      fc.property(grantLists, fc.bigInt({ min: -3000n, max: 3000n }), (specs, units) => {
        const before = listOf(specs);
        const dealt = units < 0n ? unburn(before, -units) : burn(before, units);
        const after = dealt.grants;
        const rest = units < 0n ? -dealt.rest : dealt.rest;
        expect(usedOf(after) - usedOf(before) + rest).toBe(units);
        expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
        for (const [index, grant] of after.entries()) {
          expect(grant.used >= 0n).toBe(true);
          expect((left(grant) ?? 0n) >= 0n).toBe(true);
          if (!grant.started) expect(grant).toEqual(before[index]!);
        }
        // Something is over only where nothing more can be taken.
        if (rest > 0n)
          expect(after.every((grant) => !grant.started || left(grant) === 0n)).toBe(true);
        if (rest < 0n)
          expect(after.every((grant) => !grant.started || grant.used === 0n)).toBe(true);
      }),
      3000,
    );
  },
);

test(seeded('a later grant is burned only where the earlier ones are used up'), () => {
  holds(
    fc.property(grantLists, fc.bigInt({ min: 1n, max: 3000n }), (specs, units) => {
      const before = listOf(specs);
      const after = burn(before, units).grants;
      // While one is unlimited no other burns.
      if (before.some(isUnlimited)) return;
      const last = after.findLastIndex((grant, index) => grant !== before[index]);
      for (const grant of after.slice(0, Math.max(0, last))) {
        if (grant.started) expect(left(grant)).toBe(0n);
      }
    }),
    3000,
  );
});

test(seeded('what fresh grants burned comes back whole'), () => {
  holds(
    fc.property(grantLists, amount, (specs, units) => {
      const before = listOf(specs.map((spec) => ({ ...spec, used: 0n })));
      const { grants: after, rest } = burn(before, units);
      expect(unburn(after, units - rest).grants).toEqual(before);
    }),
    2000,
  );
});
