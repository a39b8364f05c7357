// Values that many bodies share, as schemas.
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';

/** Metadata pairs, and the lengths of their keys and values (contract, Limits; they hold everywhere). */
const PAIRS_MAX = 50;
/** A character: half of a surrogate pair is none. */
const CHARACTER = '(?:[\\uD800-\\uDBFF][\\uDC00-\\uDFFF]|[\\s\\S])';
const METADATA_ERROR = `must be an object of at most ${PAIRS_MAX} pairs, keys of 1 to 40 and values of at most 500 characters`;

export const Metadata = Type.Record(
  Type.String({ pattern: `^${CHARACTER}{1,40}$` }),
  Type.String({ pattern: `^${CHARACTER}{0,500}$` }),
  { maxProperties: PAIRS_MAX, additionalProperties: false, error: METADATA_ERROR },
);

export const Uuid = Type.String({
  format: 'uuid',
  pattern: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$',
  error: 'must be a UUID',
});

/** Enough to tell an address from a slip of the hand; only a delivered message proves one. */
export const Email = Type.String({
  format: 'email',
  maxLength: 254,
  pattern:
    '^[^\\s@<>()",;:\\\\\\[\\]]{1,64}@(?:[^\\s@.<>()",;:\\\\\\[\\]]{1,63}\\.)+[^\\s@.<>()",;:\\\\\\[\\]]{2,63}$',
  error: 'must be an e-mail address',
});

export const ExternalCustomerId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The merchant's own id of the customer.",
});

/** A name that people read. */
export const Name = Type.String({ minLength: 1, maxLength: 255 });

/** A line of print: something to see, and no line break or other control character. */
const LINE = '^(?=.*\\S)[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]+$';
export const Line = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: LINE,
  error: 'must be one line of 1 to 255 characters',
});

export const Country = Type.String({
  pattern: '^[A-Z]{2}$',
  description: 'ISO 3166-1 alpha-2.',
  error: 'must be a country code of two upper-case letters',
});

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601 in UTC, with milliseconds.',
});

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An object that knows all its fields, perhaps with one that the document shows. */
export const Body = <T extends Record<string, TSchema>>(fields: T, example?: Static<TObject<T>>) =>
  Type.Object(fields, {
    additionalProperties: false,
    ...(example !== undefined && { examples: [example] }),
  });

/** The envelope of a list. */
export const ListOf = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    limit: Type.Integer(),
    offset: Type.Integer(),
    has_more: Type.Boolean(),
  });
