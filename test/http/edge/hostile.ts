// Strings on which a pattern may backtrack for long, and the places where a schema takes a string.
import { Kind, type TSchema, TypeRegistry } from '@sinclair/typebox';
import { FORM_BYTES_MAX } from '../../../src/http/edge/body.ts';

export type Texts = readonly (readonly [name: string, text: string])[];

const CLASSES: Readonly<Record<string, string>> = {
  letters: 'a',
  capitals: 'A',
  digits: '7',
  zeros: '0',
  dots: '.',
  dashes: '-',
  underscores: '_',
  spaces: ' ',
  newlines: '\n',
  tabs: '\t',
  'at signs': '@',
  backslashes: '\\',
  slashes: '/',
  colons: ':',
  semicolons: ';',
  commas: ',',
  percents: '%',
  brackets: '[(',
  emoji: '😀',
  'lone high surrogates': '\uD83D',
  'lone low surrogates': '\uDE00',
  'combining marks': 'e\u0301\u0323',
  labels: 'a.',
  words: 'ab ',
  pairs: 'a@a.',
  schemes: 'a://',
  credentials: 'a://b:',
};

const NO_END = ', and no end';

/** Each also with an end that never matches, which makes a pattern backtrack. */
const hostile = (length: number): Texts =>
  Object.entries(CLASSES).flatMap(([name, unit]) => {
    const text = unit.repeat(Math.floor(length / unit.length));
    return [
      [name, text],
      [`${name}${NO_END}`, `${text.slice(1)}\u0001`],
    ] as const;
  });

/** Long enough for quadratic work to take several times a spot's bound (spots.ts). */
export const HOSTILE = hostile(24 * 1024);
/** Those on which a pattern backtracks. */
export const ENDLESS = HOSTILE.filter(([name]) => name.endsWith(NO_END));
/** For work that is linear with a large factor, too. */
export const LONGER = hostile(64 * 1024);

type Path = readonly (string | number)[];

/** A place for a string: its path, and whether it is a key. */
export type Place = {
  readonly path: Path;
  readonly isKey: boolean;
  /** What is checked there. Places of one kind are checked alike, wherever they are. */
  readonly kind: string;
};

/** The longest string that a form may hold. */
export const inForm = (text: string): string => {
  const encoded = new URLSearchParams({ '': text }).toString().length;
  return text.slice(0, Math.floor((text.length * (FORM_BYTES_MAX - 100)) / encoded / 2));
};

/** Every place in a value of this schema where a caller can put a string, allowed or not. */
export function placesOf(schema: TSchema, path: Path = []): Place[] {
  const here: Place = { path, isKey: false, kind: kindOf(schema) };
  return [here, ...within(schema, innerPlaces(schema, path))];
}

function innerPlaces(schema: TSchema, path: Path): Place[] {
  if (Array.isArray(schema['anyOf'])) {
    return schema['anyOf'].flatMap((member: TSchema) => placesOf(member, path).slice(1));
  }
  if (schema['type'] === 'array') return placesOf(schema['items'], [...path, 0]);
  if (schema['type'] !== 'object') return [];
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>);
  const { properties: _fields, required: _required, ...ofKeys } = schema;
  return [
    { path, isKey: true, kind: `a key of ${textOf(ofKeys)}` },
    ...fields.flatMap(([name, field]) => placesOf(field, [...path, name])),
    ...(fields.length > 0
      ? []
      : [{ path: [...path, 'key'], isKey: false, kind: `a value of ${textOf(schema)}` }]),
  ];
}

/**
 * A field of an object is checked by its own schema, and so is an item of a list. Where a rule or a
 * choice looks at the whole value as well, what is in it is checked as nowhere else.
 */
function within(schema: TSchema, places: Place[]): Place[] {
  if (isPlain(schema)) return places;
  const whole = textOf(schema);
  return places.map((place) => ({ ...place, kind: `${place.path.join('.')} in ${whole}` }));
}

const isPlain = (schema: TSchema): boolean =>
  !Array.isArray(schema['anyOf']) && !TypeRegistry.Has(schema[Kind]);

/** What is looked at where a string comes in place of anything of this schema. */
function kindOf(schema: TSchema): string {
  const { type, const: literal } = schema;
  const takesText = type === 'string' || type === undefined;
  return isPlain(schema) && (!takesText || literal !== undefined) ? `no ${type}` : textOf(schema);
}

/** All that a schema checks, without what is for the document only. */
function textOf(schema: object): string {
  return JSON.stringify(schema, (name, value: unknown) => {
    if (name === 'description' && typeof value === 'string') return undefined;
    if (name === 'examples' && Array.isArray(value)) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Kind in value ? { ...value, kind: value[Kind] } : value;
  });
}

/** `base` with a string at that place, and the containers that it needs. */
export function put(base: unknown, { path, isKey }: Omit<Place, 'kind'>, text: string): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return isKey ? { ...(base as object), [text]: 'x' } : text;
  const next = put(
    (base as Record<string, unknown> | undefined)?.[step],
    { path: rest, isKey },
    text,
  );
  if (typeof step === 'number') return [next];
  return { ...(typeof base === 'object' ? base : {}), [step]: next };
}

/**
 * A value that fits or nearly fits: it has the required fields, so that validation reaches the
 * field under test.
 */
export function sampleOf(schema: TSchema): unknown {
  const [example] = (schema['examples'] ?? []) as unknown[];
  if (example !== undefined) return example;
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['anyOf'])) return sampleOf(schema['anyOf'][0]);
  switch (schema['type']) {
    case 'object': {
      const fields = (schema['properties'] ?? {}) as Record<string, TSchema>;
      const needed = (schema['required'] ?? []) as string[];
      return Object.fromEntries(needed.map((name) => [name, sampleOf(fields[name]!)]));
    }
    case 'array':
      return [sampleOf(schema['items'])];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return schema[Kind] === 'Null' ? null : 'x';
  }
}
