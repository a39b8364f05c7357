// What a call may send, checked as Stripe does: an unknown parameter is refused.
//
// A shape names parameters of the `stripe` package's own type for the call, so that one which
// Stripe does not have does not compile.
import type Stripe from 'stripe';
import { invalid } from './errors.ts';
import type { Raw } from './form.ts';

export type Field<T> = { read(raw: Raw, path: string): T; readonly isRequired?: true };
type Required<T> = Field<T> & { readonly isRequired: true };
export type Shape = Readonly<Record<string, Field<unknown>>>;

type KeysOf<S extends Shape, R> = {
  [K in keyof S]: S[K] extends { readonly isRequired: true }
    ? R extends true
      ? K
      : never
    : R extends true
      ? never
      : K;
}[keyof S];
type ValueOf<F> = F extends Field<infer T> ? T : never;
/** What a shape reads. */
export type Read<S extends Shape> = { [K in KeysOf<S, true>]: ValueOf<S[K]> } & {
  [K in KeysOf<S, false>]?: ValueOf<S[K]>;
};
/** Fields for parameters of Stripe's type. */
type Of<P> = { readonly [K in keyof P]?: Field<NonNullable<P[K]>> };

export const shape =
  <P>() =>
  <S extends Of<P> & Shape>(fields: S): S =>
    fields;

const TEXT_MAX = 5000;

export const text: Field<string> = {
  read(raw, path) {
    const value = plain(raw, path);
    if (value === '') {
      throw invalid(
        `You passed an empty string for '${path}'. An empty value unsets a parameter, but '${path}' cannot be unset.`,
        { code: 'parameter_invalid_empty', param: path },
      );
    }
    if (value.length > TEXT_MAX) {
      throw invalid(`Invalid string: must be at most ${TEXT_MAX} characters`, { param: path });
    }
    return value;
  },
};

const ADDRESS = /^[\x21-\x7e]+@[a-z\d-]+(?:\.[a-z\d-]+)*\.[a-z]{2,}$/i;

export const email: Field<string> = {
  read(raw, path) {
    const value = text.read(raw, path);
    if (!ADDRESS.test(value)) {
      throw invalid(`Invalid email address: ${value}`, { code: 'email_invalid', param: path });
    }
    return value;
  },
};

export const url: Field<string> = {
  read(raw, path) {
    const value = text.read(raw, path);
    if (!URL.canParse(value)) {
      throw invalid('Not a valid URL', { code: 'url_invalid', param: path });
    }
    return value;
  },
};

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Field<number> {
  return {
    read(raw, path) {
      const value = plain(raw, path);
      const number = Number(value);
      if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) {
        throw invalid(`Invalid integer: ${value}`, {
          code: 'parameter_invalid_integer',
          param: path,
        });
      }
      if (number < min) {
        throw invalid(`This value must be greater than or equal to ${min}.`, {
          code: 'parameter_invalid_integer',
          param: path,
        });
      }
      if (number > max) {
        throw invalid(`This value must be less than or equal to ${max}.`, {
          code: 'parameter_invalid_integer',
          param: path,
        });
      }
      return number;
    },
  };
}

export const bool: Field<boolean> = {
  read(raw, path) {
    const value = plain(raw, path);
    if (value !== 'true' && value !== 'false') {
      throw invalid(`Invalid boolean: ${value}`, { param: path });
    }
    return value === 'true';
  },
};

export function oneOf<const T extends string>(...values: readonly T[]): Field<T> {
  return {
    read(raw, path) {
      const value = plain(raw, path);
      const found = values.find((known) => known === value);
      if (found === undefined) {
        throw invalid(`Invalid ${path}: must be one of ${values.join(', ')}`, { param: path });
      }
      return found;
    },
  };
}

export function list<T>(of: Field<T>, max = 100): Field<T[]> {
  return {
    read(raw, path) {
      if (typeof raw === 'string') throw invalid('Invalid array', { param: path });
      if (raw.size > max) throw invalid(`At most ${max} items`, { param: path });
      return [...raw].map(([key, item]) => of.read(item, `${path}[${key}]`));
    },
  };
}

export function object<S extends Shape>(fields: S): Field<Read<S>> {
  return {
    read(raw, path) {
      if (typeof raw === 'string') throw invalid('Invalid object', { param: path });
      return readShape(fields, raw, path);
    },
  };
}

export function required<T>(field: Field<T>): Required<T> {
  return { ...field, isRequired: true };
}

/** A time, or a range of times. */
export const range: Field<number | Stripe.RangeQueryParam> = {
  read(raw, path) {
    const seconds = integer(0);
    return typeof raw === 'string'
      ? seconds.read(raw, path)
      : readShape({ gt: seconds, gte: seconds, lt: seconds, lte: seconds }, raw, path);
  },
};

const KEYS_MAX = 50;
const KEY_MAX = 40;
const VALUE_MAX = 500;

export const metadata: Field<Stripe.Metadata> = {
  read(raw, path) {
    if (raw === '') return {};
    if (typeof raw === 'string') throw invalid('Invalid object', { param: path });
    const read: Stripe.Metadata = {};
    for (const [key, value] of raw) {
      const param = `${path}[${key}]`;
      if (key.length > KEY_MAX) {
        throw invalid(`Metadata keys can have up to ${KEY_MAX} characters`, { param });
      }
      const sent = plain(value, param);
      if (sent.length > VALUE_MAX) {
        throw invalid(`Metadata values can have up to ${VALUE_MAX} characters`, { param });
      }
      if (sent !== '') read[key] = sent;
    }
    if (Object.keys(read).length > KEYS_MAX) {
      throw invalid(`Metadata can have up to ${KEYS_MAX} keys`, { param: path });
    }
    return read;
  },
};

function plain(raw: Raw, path: string): string {
  if (typeof raw !== 'string') throw invalid('Invalid string', { param: path });
  return raw;
}

export function readShape<S extends Shape>(fields: S, raw: Map<string, Raw>, path = ''): Read<S> {
  const nameOf = (key: string): string => (path === '' ? key : `${path}[${key}]`);
  for (const key of raw.keys()) {
    if (!Object.hasOwn(fields, key)) {
      throw invalid(`Received unknown parameter: ${nameOf(key)}`, {
        code: 'parameter_unknown',
        param: nameOf(key),
      });
    }
  }
  const read: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    const value = raw.get(key);
    if (value !== undefined) {
      read[key] = field.read(value, nameOf(key));
    } else if (field.isRequired === true) {
      throw invalid(`Missing required param: ${nameOf(key)}.`, {
        code: 'parameter_missing',
        param: nameOf(key),
      });
    }
  }
  // What is read has the shape's fields, each read by its own field.
  return read as Read<S>;
}
