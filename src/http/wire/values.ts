// Values that many bodies share, as schemas.
import {
  FormatRegistry,
  type SchemaOptions,
  type Static,
  type TObject,
  type TSchema,
  Type,
} from '@sinclair/typebox';
import { IMMUTABLE } from '../edge/validate.ts';
import { isUuid } from '../../records/uuid.ts';

FormatRegistry.Set('uuid', isUuid);

export const Uuid = Type.String({ format: 'uuid', error: 'must be a UUID' });

const EMAIL_LENGTH_MAX = 254;
const NOT_IN_EMAIL = /[\s<>()",;:\\[\]]/;

/** Catches typing mistakes; only a delivered message proves an address. */
export function isEmail(text: string): boolean {
  if (text.length > EMAIL_LENGTH_MAX || NOT_IN_EMAIL.test(text)) return false;
  const [local = '', domain = '', ...more] = text.split('@');
  const labels = domain.split('.');
  return (
    more.length === 0 &&
    isLabel(local, 1, 64) &&
    labels.length > 1 &&
    labels.every((label, index) => isLabel(label, index === labels.length - 1 ? 2 : 1, 63))
  );
}

const isLabel = ({ length }: string, min: number, max: number) => length >= min && length <= max;

FormatRegistry.Set('email', isEmail);

export const Email = Type.String({
  format: 'email',
  maxLength: EMAIL_LENGTH_MAX,
  error: 'must be an e-mail address',
});

export const ExternalCustomerId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The merchant's own id for the customer.",
});

/** A name that people read. */
export const Name = Type.String({ minLength: 1, maxLength: 255 });

export const isLine = (text: string): boolean => text.length <= 255 && new RegExp(LINE).test(text);

/** One printable line: at least one visible character, no line break and no control character. */
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

/** One of these words. */
export const oneOf = <const T extends string>(values: readonly T[], options: SchemaOptions = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  );

export const Mode = oneOf(['test', 'live']);

/** The same; a refusal lists the words. */
export const namedOneOf = <const T extends string>(values: readonly T[]) =>
  oneOf(values, { error: `must be one of ${values.join(', ')}` });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/**
 * An object without further fields, optionally with an example for the document, and with fields
 * that no change may name.
 */
export const Body = <T extends Record<string, TSchema>>(
  fields: T,
  example?: Static<TObject<T>>,
  immutable: readonly string[] = [],
) =>
  Type.Object(fields, {
    additionalProperties: false,
    ...(example !== undefined && { examples: [example] }),
    [IMMUTABLE]: immutable,
  });

/** Of a read that takes no parameter: one that is sent was meant to narrow it. */
export const NoQuery = Body({});

/** The envelope of a list. */
export const ListOf = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    limit: Type.Integer(),
    offset: Type.Integer(),
    has_more: Type.Boolean(),
  });
