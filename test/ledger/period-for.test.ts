// The period of a late event, among as many as memory has: the first that has its time in it.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { emptyPeriod, within } from '../../ledger/metering/meter.ts';
import { periodFor } from '../../ledger/metering/period-for.ts';
import { holds, seeded } from './property.ts';
import { World } from './world.ts';

const lengths = fc.array(
  fc.record({ gap: fc.integer({ min: 0, max: 3 }), length: fc.integer({ min: 1, max: 9 }) }),
  { minLength: 1, maxLength: 12 },
);
/** Early ones within the last: a change of plan has ended its period later than it was to end. */
const early = fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 2 });

test(seeded('the period of a late event is the first of those that have its time'), () => {
  const world = new World();
  holds(
    fc.property(lengths, early, fc.integer({ min: 0, max: 150 }), (stretches, within9, ago) => {
      let start = 1000;
      const others = stretches.map(({ gap, length }) => {
        start += gap;
        const period = emptyPeriod(`account ${start}`, start, start + length);
        start += length;
        return period;
      });
      const last = others.at(-1)?.start ?? 0;
      for (const by of within9) others.push(emptyPeriod(`early ${by}`, last + by, last + by + 1));
      others.sort((a, b) => a.start - b.start);
      const current = emptyPeriod('current', start + 20, null);
      const state = { ...world.state, others, current };
      const at = start - ago;
      const known = others.find((period) => within(period, at));
      const found = periodFor(world.context, state, at);
      if (known === undefined) expect(others).not.toContain(found);
      else expect(found).toBe(known);
    }),
    1000,
  );
});
