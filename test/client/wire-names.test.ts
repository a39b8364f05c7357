// Names of fields survive the way to the wire and back; what callers name stays as it is.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { toCamel, toSnake } from '../../src/client/casing.ts';
import { fromWire, toWire } from '../../src/client/wire-names.ts';

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const name = fc
  .array(word, { minLength: 1, maxLength: 4 })
  .map((words) => words.map((part, at) => (at === 0 ? part : capital(part))).join(''));

/** Whatever JSON holds, under names of fields. */
const { value: body } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('fields'),
    fc.record({ metadata: fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }) }),
  ),
  fields: fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
}));

describe("the client's names of fields, for any body", () => {
  test('come back as they were', () => {
    fc.assert(fc.property(body, (value) => expect(fromWire(toWire(value))).toEqual(value)));
  });

  test('have no capital on the wire, but for what callers name', () => {
    fc.assert(
      fc.property(body, (value) => {
        for (const field of namesIn(toWire(value))) expect(field).toBe(field.toLowerCase());
      }),
    );
  });
});

test('the client keeps any name of a field', () => {
  fc.assert(fc.property(name, (field) => expect(toCamel(toSnake(field))).toBe(field)));
});

test('the client keeps metadata as it is, wherever it is', () => {
  const tracks = [{ featureKey: 'a', metadata: { userId: 1, user_id: '2', a: { b_c: true } } }];
  expect(toWire({ tracks })).toEqual({
    tracks: [{ feature_key: 'a', metadata: { userId: 1, user_id: '2', a: { b_c: true } } }],
  });
  expect(fromWire({ has_more: true, data: [{ id: '1', metadata: { user_id: 'x' } }] })).toEqual({
    hasMore: true,
    data: [{ id: '1', metadata: { user_id: 'x' } }],
  });
});

test('the client keeps values as they are', () => {
  expect(toWire({ reason: 'notEntitled', days: 1.5, from: null, gone: undefined })).toEqual({
    reason: 'notEntitled',
    days: 1.5,
    from: null,
    gone: undefined,
  });
  const at = new Date(0);
  expect(toWire({ resumesAt: at })).toEqual({ resumes_at: at });
});

test("the client's fields of an event's data have the same names on the wire", () => {
  const event = {
    type: 'payment.succeeded',
    data: { externalCustomerId: 'user-1', last4: '4242' },
  };
  expect(fromWire(event)).toEqual(event);
});

test('the client caches a bounded number of unknown names', () => {
  for (let count = 0; count < 5_000; count += 1) {
    expect(toSnake(`someName${count}`)).toBe(`some_name${count}`);
  }
});

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return Object.entries(value).flatMap(([field, within]) => [
    field,
    ...(field === 'metadata' ? [] : namesIn(within)),
  ]);
}
