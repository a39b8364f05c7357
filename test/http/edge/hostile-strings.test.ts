// Validating a body, query, form or header takes time linear in its length, for any content.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Admission } from '../../../src/http/edge/admission.ts';
import { clientAddress } from '../../../src/http/edge/client-address.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { openLog } from '../../../src/platform/log.ts';
import { cpuMs } from '../../support/cpu.ts';
import { HOSTILE, inForm, type Place, placesOf, put, sampleOf } from './hostile.ts';
import { listOperations } from './operations.ts';

/** Quadratic work takes seconds with a string this long; linear work takes a millisecond. */
const BOUND_MS = 50;
const TRIES = 3;

setDefaultTimeout(180_000);

const OPERATIONS = listOperations();
const URL = 'http://localhost/x';
const FORM = 'application/x-www-form-urlencoded';

/** The median of some tries where the first was slow: this process may have collected garbage. */
function timeOf(task: () => unknown): number {
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

type Try = { readonly where: string; readonly request: Request; readonly text: string };

function* triesOf(operation: Operation): Generator<Try> {
  const { body, form, query } = operation;
  const post = (type: string, headers: Record<string, string> = {}) =>
    new Request(URL, { method: 'POST', headers: { 'content-type': type, ...headers } });
  for (const [name, hostile] of HOSTILE) {
    const of = ({ path, isKey }: Place) => `${path.join('.')}${isKey ? ' as a key' : ''}: ${name}`;
    if (body !== undefined) {
      const json = post('application/json');
      for (const place of placesOf(body)) {
        const text = JSON.stringify(put(sampleOf(body), place, hostile));
        yield { where: `body ${of(place)}`, request: json, text };
      }
    }
    if (form !== undefined) {
      const filled = inForm(hostile);
      for (const field of [...Object.keys(form.properties), filled]) {
        const text = new URLSearchParams({ [field]: filled }).toString();
        yield { where: `form ${field.slice(0, 40)}: ${name}`, request: post(FORM), text };
      }
    }
    if (query !== undefined) {
      for (const field of Object.keys(query.properties)) {
        const asked = new URLSearchParams({ [field]: hostile }).toString();
        yield {
          where: `query ${field}: ${name}`,
          request: new Request(`${URL}?${asked}`),
          text: '',
        };
      }
    }
    if (/^[\x20-\x7e]*$/.test(hostile)) {
      const headers = { 'idempotency-key': hostile };
      yield { where: `key: ${name}`, request: post('application/json', headers), text: '{}' };
    }
  }
}

test('every operation of the surface is tried', () => {
  const withStrings = OPERATIONS.filter(({ operation: { body, form } }) => body ?? form);
  expect(withStrings.length).toBeGreaterThan(30);
});

/** The special characters of patterns. */
const PATTERN = /\^|\\[dwsux]|\(\?|\[\w-\w/;

async function messagesOf(refusal: Response): Promise<string[]> {
  const { error } = (await refusal.json()) as { error: { issues: { message: string }[] } };
  return error.issues.map(({ message }) => message);
}

test.each(OPERATIONS)('$name', async ({ operation, access }) => {
  const messages: string[] = [];
  const admission = new Admission(operation, access);
  const slow: string[] = [];
  for (const { where, request, text } of triesOf(operation)) {
    let told: unknown;
    const ms = timeOf(() => {
      told = admission.admit({ request, params: {}, principal: null, text });
    });
    if (told instanceof Response) messages.push(...(await messagesOf(told)));
    if (ms >= BOUND_MS) slow.push(`${where} ${ms.toFixed(0)} ms`);
    // One finding suffices, and the next may take minutes.
    if (slow.length > 0) break;
  }
  expect(slow).toEqual([]);
  expect([...new Set(messages)].filter((message) => PATTERN.test(message))).toEqual([]);
});

describe('what is no schema', () => {
  const log = openLog('info', () => undefined);
  test.each(HOSTILE)('a line of the log: %s', (_name, hostile) => {
    expect(timeOf(() => log.info({ err: new Error(hostile) }, hostile))).toBeLessThan(2 * BOUND_MS);
  });

  test.each(HOSTILE)('an address that was forwarded: %s', (_name, hostile) => {
    const forwarded = { forwardedFor: `${hostile}, ${hostile}`, hops: 1 };
    expect(timeOf(() => clientAddress('127.0.0.1', forwarded))).toBeLessThan(BOUND_MS);
  });
});
