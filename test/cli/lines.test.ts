// A file in pieces: its lines, its batches and their keys.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Batch, batchesOf } from '../../src/cli/ingest/batches.ts';
import { LINE_BYTES_MAX, LineSplitter } from '../../src/cli/ingest/lines.ts';
import { holds, seeded } from '../ledger/property.ts';

const START = { lines: 0, offset: 0 };

function split(pieces: readonly Buffer[], from = START) {
  const splitter = new LineSplitter(from);
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

/** `cuts` are shares of the length. */
function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)).toSorted((a, b) => a - b)];
  return at.map((start, index) => bytes.subarray(start, at[index + 1] ?? bytes.length));
}

const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\r', '€'), maxLength: 6 }));
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });

test(
  seeded('lines are the same however the input is split, and each tells where the next begins'),
  () => {
    const property = fc.property(text, cuts, (parts, where) => {
      const bytes = Buffer.from(parts.join('\n'));
      const lines = split(piecesOf(bytes, where));
      const expected = bytes.toString().split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(lines.map((line) => line.bytes.toString())).toEqual(expected);
      for (const { number, end } of lines) {
        const rest = split([bytes.subarray(end)], { lines: number, offset: end });
        expect(rest).toEqual(lines.slice(number));
      }
    });
    holds(property, 500);
  },
);

test('a line that is too long has its beginning kept, and the next one is whole', () => {
  const long = Buffer.alloc(3 * LINE_BYTES_MAX, 'x');
  const [first, second] = split([...piecesOf(long, [0.1, 0.5]), Buffer.from('\nnext')]);
  expect(first).toMatchObject({ isTooLong: true, number: 1, end: long.length + 1 });
  expect(first!.bytes).toHaveLength(LINE_BYTES_MAX);
  expect(second).toMatchObject({ isTooLong: false, number: 2, end: long.length + 5 });
  const [most] = split([long.subarray(0, LINE_BYTES_MAX)]);
  expect(most!.isTooLong).toBeFalse();
});

async function batches(lines: readonly string[] | Buffer, identity = 'f'): Promise<Batch[]> {
  const bytes = lines instanceof Buffer ? lines : Buffer.from(lines.join('\n'));
  const found: Batch[] = [];
  const chunks = (async function* () {
    yield bytes;
  })();
  for await (const batch of batchesOf(chunks, { identity, from: START })) found.push(batch);
  return found;
}

test('a batch of lines has 500 events at most, and 512 KiB', async () => {
  const small = await batches(Array.from({ length: 1001 }, () => '{}'));
  expect(small.map(({ entries }) => entries.length)).toEqual([500, 500, 1]);
  expect(small.map(({ lines }) => lines)).toEqual([500, 1000, 1001]);
  const large = await batches(Array.from({ length: 20 }, () => `{"a":"${'x'.repeat(100_000)}"}`));
  expect(large.map(({ entries }) => entries.length)).toEqual([5, 5, 5, 5]);
});

test('a line that is no event is an entry with the reason; empty lines are none', async () => {
  const lines = ['\uFEFF{"n":1}', '', '  ', '[1]', 'null', '{"n":', '7', '{"n":2}\r', '"x"'];
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), Buffer.from([0x7b, 0xff])]);
  const [{ entries }] = (await batches(bytes)) as [Batch];
  const reasonOf = new Map(
    entries.map((entry) => [entry.line, 'reason' in entry ? entry.reason : entry.event['n']]),
  );
  const no = 'is not a JSON object';
  expect([...reasonOf]).toEqual([
    [1, 1],
    [4, no],
    [5, no],
    [6, no],
    [7, no],
    [8, 2],
    [9, no],
    [10, 'is not UTF-8'],
  ]);
});

async function keysOf(lines: readonly string[], identity?: string): Promise<unknown[]> {
  const found = await batches(lines, identity);
  return found.flatMap(({ entries }) =>
    entries.map((entry) => 'event' in entry && entry.event['external_id']),
  );
}

test("a line's key follows from the file's identity, the line's number and its text", async () => {
  const line = '{"name":"a"}';
  const [first, second] = await keysOf([line, line]);
  expect(first).not.toBe(second);
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(await keysOf([line])).toEqual([first]);
  expect(await keysOf([line], 'g')).not.toEqual([first]);
  expect(await keysOf(['{"name":"b"}'])).not.toEqual([first]);
});

test("a line's own key stays; null is none", async () => {
  expect(await keysOf(['{"external_id":"mine"}'])).toEqual(['mine']);
  expect(await keysOf(['{"external_id":null}'])).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
});
