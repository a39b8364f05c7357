// What is wrong with a value that may be null: that of its kind, not that it is no null.
import { expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { issuesOf, validator } from '../../../src/http/edge/validate.ts';

const check = validator(
  Type.Object({
    name: Type.Union([Type.String({ maxLength: 3 }), Type.Null()]),
    at: Type.Union([Type.Object({ a: Type.String() }), Type.Null()]),
  }),
);

// prettier-ignore
const REFUSED: readonly (readonly [value: object, path: string, message: string])[] = [
  [{ name: 'long', at: null }, 'name', 'must have at most 3 characters'],
  [{ name: 5, at: null },      'name', 'must be one of string, null'],
  [{ name: null, at: {} },     'at.a', 'is required'],
  [{ name: null, at: 'x' },    'at',   'must be one of object, null'],
];

test.each(REFUSED)('%j', (value, path, message) => {
  expect(issuesOf(check, value)).toEqual([{ path: path.split('.'), message }]);
});
