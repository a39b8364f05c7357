// Strings on which a pattern may backtrack for long, and the places where a schema takes a string.
import { Kind, type TSchema } from '@sinclair/typebox';
import { FORM_BYTES_MAX } from '../../../src/http/edge/body.ts';

const HOSTILE_BYTES = 64 * 1024;

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

/** Each also with an end that never matches, which makes a pattern backtrack. */
export const HOSTILE: readonly (readonly [name: string, text: string])[] = Object.entries(
  CLASSES,
).flatMap(([name, unit]) => {
  const text = unit.repeat(Math.floor(HOSTILE_BYTES / unit.length));
  return [
    [name, text],
    [`${name}, and no end`, `${text.slice(1)}\u0001`],
  ] as const;
});

type Path = readonly (string | number)[];

/** A place for a string: its path, and whether it is a key. */
export type Place = { readonly path: Path; readonly isKey: boolean };

/** The longest string that a form may hold. */
export const inForm = (text: string): string => {
  const encoded = new URLSearchParams({ '': text }).toString().length;
  return text.slice(0, Math.floor((text.length * (FORM_BYTES_MAX - 100)) / encoded / 2));
};

/** Every place in a value of this schema where a caller can put a string, allowed or not. */
export function placesOf(schema: TSchema, path: Path = []): Place[] {
  const here: Place = { path, isKey: false };
  if (Array.isArray(schema['anyOf'])) {
    return [here, ...schema['anyOf'].flatMap((member: TSchema) => placesOf(member, path).slice(1))];
  }
  if (schema['type'] === 'array') return [here, ...placesOf(schema['items'], [...path, 0])];
  if (schema['type'] !== 'object') return [here];
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>);
  return [
    here,
    { path, isKey: true },
    ...fields.flatMap(([name, field]) => placesOf(field, [...path, name])),
    ...(fields.length === 0 ? [{ path: [...path, 'key'], isKey: false }] : []),
  ];
}

/** `base` with a string at that place, and the containers that it needs. */
export function put(base: unknown, { path, isKey }: Place, text: string): unknown {
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
