// Lists of periods, ascending by their start: what is found in them and what has changed in them.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { changedSince, lastBy, startingAfter, startingAt } from '../../ledger/metering/in-order.ts';
import { holds, seeded } from './property.ts';

type Item = { readonly start: number; readonly what: number };

const lists = fc
  .uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 12 })
  .map((starts) => starts.toSorted((a, b) => a - b).map((start): Item => ({ start, what: 0 })));

test(seeded('what has changed of a list is what it did not have as it is'), () => {
  const changes = fc.array(fc.constantFrom('keep', 'drop', 'change', 'add'), {
    minLength: 12,
    maxLength: 12,
  });
  holds(
    fc.property(lists, changes, (before, how) => {
      const now = before.flatMap((item, index): Item[] => {
        if (how[index] === 'drop') return [];
        if (how[index] === 'change') return [{ ...item, what: 1 }];
        return how[index] === 'add' ? [item, { start: item.start + 0.5, what: 2 }] : [item];
      });
      expect(changedSince(before, now)).toEqual(now.filter((item) => !before.includes(item)));
      expect(changedSince(before, before)).toEqual([]);
    }),
    1000,
  );
});

test(seeded('the last that start by then are found, and the one that starts then'), () => {
  const ats = fc.integer({ min: -1, max: 31 });
  holds(
    fc.property(lists, ats, fc.integer({ min: 1, max: 5 }), (list, at, count) => {
      const all = list.filter(({ start }) => start <= at);
      expect(lastBy(list, at, count)).toEqual(all.slice(-count));
      expect(startingAfter(list, at)).toEqual(list.slice(all.length));
      expect(startingAt(list, at)).toBe(list.find(({ start }) => start === at));
    }),
    1000,
  );
});
