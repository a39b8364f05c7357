// What is sent as a binary array is what PostgreSQL reads.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ArrayType, type Cell, kept, type ValueType } from '../../ledger/store/columns.ts';
import { binaryArray } from '../../ledger/store/binary.ts';
import { binaryRows } from '../../ledger/store/binary-rows.ts';
import { toJson } from '../../ledger/store/json.ts';
import { seeded } from '../ledger/property.ts';
import { type Bed, NO_ROWS, openBed, transfer } from './bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.stop());

async function read(type: ArrayType, name: string, cells: readonly Cell[]): Promise<unknown> {
  const { bytes, type: oid } = binaryArray(type, cells);
  const values = bed.sql.typed(bytes as never, oid) as never;
  const [row] = await bed.sql.unsafe(`select to_jsonb($1::${name}[]::text[]) as values`, [values]);
  return row?.['values'];
}

const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const small = fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 });
const text = fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll('\0', ''));

test.each<[ArrayType, string, fc.Arbitrary<Cell>]>([
  ['uuid', 'uuid', fc.uuid()],
  ['bigint', 'bigint', fc.oneof(big, small)],
  ['time', 'bigint', fc.oneof(big, small)],
  ['smallint', 'smallint', fc.integer({ min: -32_768, max: 32_767 })],
  ['boolean', 'boolean', fc.constant('t')],
  ['reason', 'text', text],
  ['transfer_kind', 'text', text],
])(
  seeded('a binary array of %s comes back from PostgreSQL as it was sent'),
  async (type, name, of) => {
    const samples = fc.sample(fc.array(fc.option(of), { maxLength: 40 }), { seed: 7, numRuns: 40 });
    for (const cells of samples) {
      const texts = cells.map((cell) => (cell === null ? null : String(cell)));
      const expected = type === 'boolean' ? texts.map((one) => one && 'true') : texts;
      expect(await read(type, name, cells)).toEqual(expected);
    }
  },
);

test('a binary JSON document comes back with quotes, backslashes and multi-byte letters', async () => {
  const documents = [{ a: '"\\' }, { b: 'ü€😀', c: [1, null] }, {}];
  const values = await read('jsonb', 'jsonb', [
    ...documents.map((one) => JSON.stringify(one)),
    null,
  ]);
  expect((values as (string | null)[]).map((one) => one && (JSON.parse(one) as unknown))).toEqual([
    ...documents,
    null,
  ]);
});

test.each<[ArrayType, Cell]>([
  ['uuid', 'undefined'],
  ['uuid', '6f9619ff-8b86-d011-b42d-00c04fc964f'],
  ['uuid', '6f9619ff-8b86-d011-b42d-00c04fc964fg'],
  ['uuid', '6f9619ff-8b86-d011-b42d-00c04fc964ff0'],
  ['bigint', 2n ** 63n],
  ['bigint', -(2n ** 63n) - 1n],
  ['bigint', 0.5],
  ['smallint', 32_768],
])('a binary array refuses what is no %s: %s', (type, cell) => {
  expect(() => binaryArray(type, [cell])).toThrow(RangeError);
});

test('a flush with a value that cannot be encoded is rejected, and nothing of it was sent', async () => {
  const wrong = { ...NO_ROWS, transfers: [transfer({ amount: 2n ** 63n }), transfer({})] };
  expect((await bed.storage.flush(wrong, bed.fence)).kind).toBe('rejected');
  const right = { ...NO_ROWS, transfers: [transfer({})] };
  expect((await bed.storage.flush(right, bed.fence)).kind).toBe('committed');
});

const dates = fc.integer({ min: Date.UTC(1, 0), max: Date.UTC(9999, 11, 31) });
const VALUES: Readonly<Record<ValueType, readonly [name: string, of: fc.Arbitrary<unknown>]>> = {
  uuid: ['uuid', fc.uuid()],
  text: ['text', text],
  enum: ['mode', fc.constantFrom('test', 'live')],
  bigint: ['bigint', big],
  integer: ['integer', fc.integer()],
  smallint: ['smallint', fc.integer({ min: -32_768, max: 32_767 })],
  boolean: ['boolean', fc.boolean()],
  time: ['timestamptz', dates],
  jsonb: ['jsonb', fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)))],
  exact_json: ['jsonb', fc.array(fc.record({ amount: big }))],
};
const TYPES = Object.keys(VALUES) as ValueType[];

/** As `to_jsonb` shows it. */
function shown(type: ValueType, value: unknown): unknown {
  if (type === 'exact_json' && value !== null) return toJson(value);
  return typeof value === 'bigint' ? String(value) : value;
}

test('a flush takes rows of every type, and none', async () => {
  const attributes = TYPES.map((type) => `${type}_value ${VALUES[type][0]}`);
  await bed.sql.unsafe(`create type binary_row as (${attributes.join(', ')})`);
  const columns = Object.fromEntries(
    TYPES.map((type) => [type, kept(type, (row: Row) => row[type] as never)]),
  );
  const fields = Object.fromEntries(TYPES.map((type) => [type, fc.option(VALUES[type][1])]));
  // Some are larger than what a row usually takes.
  const rows: Row[] = fc.sample(fc.record(fields), { seed: 7, numRuns: 300 });
  for (const some of [rows, []]) {
    const { bytes, type: oid } = binaryRows(columns, some);
    const found = await bed.sql.unsafe<Row[]>(
      `select ${TYPES.map((type) => `${seen(type)} as ${type}`).join(', ')} from unnest($1::binary_row[])`,
      [bed.sql.typed(bytes as never, oid) as never],
    );
    const expected = some.map((row) =>
      Object.fromEntries(TYPES.map((type) => [type, shown(type, row[type])])),
    );
    expect([...found]).toEqual(expected as never);
  }
});

type Row = { readonly [type: string]: unknown };

function seen(type: ValueType): string {
  if (type === 'bigint') return 'bigint_value::text';
  if (type === 'time') return '(extract(epoch from time_value) * 1000)::float8';
  return `${type}_value`;
}
