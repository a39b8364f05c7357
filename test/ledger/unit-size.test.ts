// The size of a call's writes is known before the call is decided, whatever it multiplies.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { UNIT_BYTES_MAX, UNIT_ROWS_MAX } from '../../ledger/limits.ts';
import {
  bytesOf,
  partsOfEach,
  sizeOfBatch,
  sizeOfEach,
  tooLarge,
  withDraws,
} from '../../ledger/actor/unit-size.ts';
import type { Pool } from '../../ledger/metering/pool.ts';
import { CreditWorld } from './credit-world.ts';
import { holds, seeded } from './property.ts';

const id = (of: string, n: number) => ({ id: `${of}${n}` });

/** An event that feeds this many meters. */
const itemsOf = ({ customer, meters, metadata }: Event) =>
  Array.from({ length: meters }, (_, n) => ({
    customer: id('c', customer),
    meter: id('m', n),
    request: { metadata },
    follows: n > 0,
  }));

type Event = {
  readonly customer: number;
  readonly meters: number;
  readonly metadata: Record<string, string> | null;
};

const events = fc.array(
  fc.record({
    customer: fc.integer({ min: 0, max: 3 }),
    meters: fc.integer({ min: 1, max: 4 }),
    metadata: fc.option(fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.string())),
  }),
  { maxLength: 20 },
);

test(
  seeded("a unit's size counts metadata once, and once more for each customer and meter announced"),
  () => {
    holds(
      fc.property(events, (all) => {
        const items = all.flatMap(itemsOf);
        const own = all.reduce((sum, { metadata }) => sum + bytesOf(metadata), 0);
        expect(sizeOfBatch(items, false)).toEqual({ rows: items.length, bytes: own });
        const told = Map.groupBy(items, ({ customer, meter }) => `${customer.id} ${meter.id}`);
        const most = [...told.values()].reduce(
          (sum, same) => sum + Math.max(...same.map(({ request }) => bytesOf(request.metadata))),
          own,
        );
        const size = { rows: items.length + told.size, bytes: most };
        expect(sizeOfBatch(items, true)).toEqual(size);
      }),
      200,
    );
  },
);

test(
  seeded('independent items of a unit are split into parts in their order, each of which fits'),
  () => {
    const sizes = fc.array(fc.integer({ min: 0, max: UNIT_BYTES_MAX / 2 - 20 }), { maxLength: 30 });
    holds(
      fc.property(sizes, fc.boolean(), (lengths, withEvents) => {
        const items = lengths.map((length, place) => {
          return { place, request: { metadata: { a: 'x'.repeat(length) } } };
        });
        const parts = partsOfEach(items, withEvents);
        expect(parts.flat()).toEqual(items);
        for (const part of parts) expect(tooLarge(sizeOfEach(part, withEvents))).toBeNull();
        // No more parts than are needed: two neighbours do not fit into one.
        for (const [at, part] of parts.entries()) {
          const both = [...part, ...(parts[at + 1]?.slice(0, 1) ?? [])];
          if (both.length > part.length)
            expect(tooLarge(sizeOfEach(both, withEvents))).not.toBeNull();
        }
      }),
      50,
    );
  },
);

test(seeded("a unit's size is the bytes of its JSON, where nothing is escaped"), () => {
  holds(
    fc.property(
      fc.dictionary(
        fc.stringMatching(/^[a-zäü€]{1,9}$/u),
        fc.oneof(fc.stringMatching(/^[a-z€]{0,9}$/u), fc.boolean(), fc.integer()),
      ),
      (metadata) => {
        const json = Buffer.byteLength(JSON.stringify(metadata));
        // One comma is counted too many.
        expect(bytesOf(metadata) - json).toBeWithin(0, 2);
      },
    ),
    200,
  );
});

test("a number in a unit's size counts as many digits as PostgreSQL writes of it", () => {
  expect(bytesOf({ a: 1e300 })).toBeGreaterThanOrEqual(1 + 301 + 4);
  expect(bytesOf({ a: 5e-324 })).toBeGreaterThanOrEqual(1 + 326 + 4);
});

test('a unit that is too large is refused by the bound that it exceeds', () => {
  expect(tooLarge({ rows: UNIT_ROWS_MAX, bytes: UNIT_BYTES_MAX })).toBeNull();
  expect(tooLarge({ rows: UNIT_ROWS_MAX + 1, bytes: 0 })).toContain(`at most ${UNIT_ROWS_MAX}`);
  expect(tooLarge({ rows: 0, bytes: UNIT_BYTES_MAX + 1 })).toContain(`at most ${UNIT_BYTES_MAX}`);
});

test('a usage that a pool pays for weighs as much as three others', () => {
  const world = new CreditWorld();
  const [calls, chat] = [world.meter('calls'), world.meter('chat')];
  const pool: Pool = { meter: world.meter('credits'), costs: [] };
  const poolOf = ({ id: meterId }: { readonly id: string }) => (meterId === chat.id ? pool : null);
  const items = [{ meter: calls }, { meter: chat }, { meter: chat }];
  expect(withDraws({ poolOf }, items, { rows: 3, bytes: 5 })).toEqual({
    rows: 1 + 3 + 3,
    bytes: 5,
  });
});
