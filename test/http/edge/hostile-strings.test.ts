// Validating a body, query, form or header takes time linear in its length, for any content. What a
// string does depends on the schema of its field, so each is tried once, wherever it is used, with
// the strings on which patterns backtrack. The long file tries longer strings, and what does not
// end as well; the one of the night all of them in each field of each operation.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type TSchema, Type } from '@sinclair/typebox';
import { clientAddress } from '../../../src/http/edge/client-address.ts';
import { openLog } from '../../../src/platform/log.ts';
import { KINDS, NAMED_KINDS, OPERATIONS } from './field-kinds.ts';
import { ENDLESS, HOSTILE, LONGER, placesOf } from './hostile.ts';
import { expectNoPatterns } from './shown-patterns.ts';
import { BOUND_MS, slowSpot, spotsOf, timeOf } from './spots.ts';

setDefaultTimeout(180_000);

test('every operation is tried for slow patterns, in no more places than there are schemas', () => {
  const withStrings = OPERATIONS.filter(({ operation: { body, form } }) => body ?? form);
  expect(withStrings.length).toBeGreaterThan(30);
  const spots = OPERATIONS.flatMap((listed) => spotsOf(listed));
  expect(spots.filter(({ kind }) => !KINDS.has(kind))).toEqual([]);
  expect(KINDS.size).toBeLessThan(spots.length / 3);
});

test.each(NAMED_KINDS)('no pattern is slow: %s', (_name, listed, spot) => {
  expect(slowSpot(listed, { spots: [spot], texts: ENDLESS })).toBeNull();
});

describe('two fields of one kind', () => {
  const kindsIn = (field: TSchema) => placesOf(Type.Object({ a: field })).map(({ kind }) => kind);
  const slug = { pattern: '^[a-z]+$', maxLength: 9 };

  test('differ neither by their description nor by the other fields', () => {
    const one = kindsIn(Type.String(slug));
    expect(kindsIn(Type.String({ ...slug, description: 'x', examples: ['a'] }))).toEqual(one);
    const beside = Type.Object({ a: Type.String(slug), b: Type.Boolean() });
    expect(placesOf(beside).map(({ kind }) => kind)).toEqual([...one, 'no boolean']);
  });

  // prettier-ignore
  const OTHERS: [string, TSchema][] = [
    ['another pattern',  Type.String({ ...slug, pattern: '^[a-z]*$' })],
    ['another length',   Type.String({ ...slug, maxLength: 10 })],
    ['a choice with it', Type.Union([Type.String(slug), Type.Null()])],
    ['a number',         Type.Number()],
  ];
  test.each(OTHERS)('differ by %s', (_what, field) => {
    expect(kindsIn(field)[2]).not.toBe(kindsIn(Type.String(slug))[2]);
  });

  test('a slow pattern is found', () => {
    const field = Type.String({ pattern: 'a{1,1500}b' });
    const body = Type.Object({ fast: Type.String(slug), slow: field });
    const operation = {
      operationId: 'o',
      method: 'POST',
      path: '/o',
      summary: 's',
      tag: 'Operation',
      body,
      answers: {},
    } as const;
    const listed = { operation, access: 'organisation' } as const;
    expect(slowSpot(listed, { spots: spotsOf(listed), texts: LONGER })).toStartWith('body slow: ');
  });
});

test('no refusal shows a pattern, in a field of any kind', () =>
  expectNoPatterns(KINDS.values().map(({ listed, spot }) => ({ listed, spots: [spot] }))));

describe('a pattern outside the schemas is not slow', () => {
  const log = openLog('info', () => undefined);
  test.each(HOSTILE)('a line of the log: %s', (_name, hostile) => {
    expect(timeOf(() => log.info({ err: new Error(hostile) }, hostile))).toBeLessThan(2 * BOUND_MS);
  });

  test.each(HOSTILE)('a forwarded address: %s', (_name, hostile) => {
    const forwarded = { forwardedFor: `${hostile}, ${hostile}`, hops: 1 };
    expect(timeOf(() => clientAddress('127.0.0.1', forwarded))).toBeLessThan(BOUND_MS);
  });
});
