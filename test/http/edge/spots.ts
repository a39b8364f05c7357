// Where an operation takes a string, and how long its admission of one takes.
import type { TObject, TSchema } from '@sinclair/typebox';
import { Admission, isIdempotent } from '../../../src/http/edge/admission.ts';
import { cpuMs } from '../../support/cpu.ts';
import { inForm, placesOf, put, sampleOf, type Texts } from './hostile.ts';
import type { Listed } from './operations.ts';

/** Quadratic work takes several times this with a hostile string; linear work a millisecond. */
export const BOUND_MS = 50;
const TRIES = 3;

const URL = 'http://localhost/x';
const FORM = 'application/x-www-form-urlencoded';
/** Stands for the text, which is made JSON once. */
const HOLE = 'the text goes here';

type Sent = { readonly request: Request; readonly text: string };

export type Spot = {
  readonly where: string;
  /** Spots of one kind are read and checked alike, in any operation. */
  readonly kind: string;
  /** null: the text cannot be there. */
  readonly send: (text: string) => Sent | null;
};

function post(type: string, headers: Record<string, string> = {}): Request {
  return new Request(URL, { method: 'POST', headers: { 'content-type': type, ...headers } });
}

export function spotsOf({ operation, access }: Omit<Listed, 'name' | 'method' | 'path'>): Spot[] {
  const { body, form, query, rawBody = false } = operation;
  const takesKey = isIdempotent(operation, access);
  return [
    ...(body === undefined ? [] : inBody(body, rawBody)),
    ...(form === undefined ? [] : inFields('form', form)),
    ...(query === undefined ? [] : inFields('query', query)),
    {
      where: 'key',
      kind: `key, which it ${takesKey ? 'takes' : 'ignores'}`,
      send: (text) =>
        /^[\x20-\x7e]*$/.test(text)
          ? { request: post('application/json', { 'idempotency-key': text }), text: '{}' }
          : null,
    },
  ];
}

function inBody(schema: TSchema, isRaw: boolean): Spot[] {
  const request = post('application/json');
  return placesOf(schema).map((place) => {
    const json = JSON.stringify(put(sampleOf(schema), place, HOLE));
    const [before = '', after = ''] = json.split(JSON.stringify(HOLE));
    return {
      where: `body ${place.path.join('.')}${place.isKey ? ' as a key' : ''}`,
      kind: `${isRaw ? 'raw body' : 'body'}: ${place.kind}`,
      send: (text) => ({ request, text: `${before}${jsonOf(text)}${after}` }),
    };
  });
}

function inFields(what: 'form' | 'query', schema: TObject): Spot[] {
  const [, ...places] = placesOf(schema);
  return places.map(({ path, isKey, kind }) => ({
    where: `${what} ${isKey ? 'as a key' : path.join('.')}`,
    kind: `${what}: ${kind}`,
    send(hostile) {
      const value = encoded(what === 'form' ? inForm(hostile) : hostile);
      const pair = `${isKey ? value : String(path[0])}=${value}`;
      return what === 'form'
        ? { request: post(FORM), text: pair }
        : { request: new Request(`${URL}?${pair}`), text: '' };
    },
  }));
}

const jsonOf = onceEach((text) => JSON.stringify(text));
const encoded = onceEach((text) => new URLSearchParams({ '': text }).toString().slice(1));

function onceEach(write: (text: string) => string): (text: string) => string {
  const written = new Map<string, string>();
  return (text) => {
    const known = written.get(text) ?? write(text);
    written.set(text, known);
    return known;
  };
}

/** The first spot of the operation, and the text there, that takes too long. */
export function slowSpot(
  listed: Pick<Listed, 'operation' | 'access'>,
  { spots, texts }: { readonly spots: readonly Spot[]; readonly texts: Texts },
): string | null {
  const admission = new Admission(listed.operation, listed.access);
  for (const { where, send } of spots) {
    for (const [name, text] of texts) {
      const sent = send(text);
      if (sent === null) continue;
      const ms = timeOf(() => admission.admit({ ...sent, params: {}, principal: null }));
      // One finding suffices, and the next may take minutes.
      if (ms >= BOUND_MS) return `${where}: ${name} ${ms.toFixed(0)} ms`;
    }
  }
  return null;
}

/** The median of some tries where the first was slow: this process may have collected garbage. */
export function timeOf(task: () => unknown): number {
  const once = () => {
    const began = cpuMs();
    task();
    return cpuMs() - began;
  };
  const first = once();
  if (first < BOUND_MS) return first;
  const times = [first, ...Array.from({ length: TRIES - 1 }, once)].sort((a, b) => a - b);
  return times[Math.floor(TRIES / 2)]!;
}
