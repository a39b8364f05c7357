// What holds each answer of the tests against the document finds what is not in it.
import { expect, test } from 'bun:test';
import { undocumented } from '../support/documented.ts';

const CLOCK = { now: '2026-11-22T00:00:00.000Z', status: 'ready' };

function found(status: number, json: object, headers: Record<string, string> = {}): string | null {
  const text = JSON.stringify(json);
  const sent = new Headers({ 'content-type': 'application/json', ...headers });
  return undocumented('GET', 'http://localhost/test-clock', { status, text, json, headers: sent });
}

const refusal = (type: string) => ({ error: { type, message: 'no' } });

test('an answer as the OpenAPI document describes it has no finding', () => {
  expect(found(200, CLOCK)).toBeNull();
  expect(found(404, refusal('not_found'), { 'x-request-id': '1' })).toBeNull();
});

test.each([
  ['a status', () => found(202, CLOCK)],
  ['a refusal', () => found(404, refusal('conflict'))],
  ['a header', () => found(200, CLOCK, { 'x-other': '1' })],
  ['a media type', () => found(200, CLOCK, { 'content-type': 'text/html' })],
  ['a field more', () => found(200, { ...CLOCK, other: 1 })],
  ['a field less', () => found(200, { now: CLOCK.now })],
  ['another word', () => found(200, { ...CLOCK, status: 'late' })],
  ['a refusal without its message', () => found(404, { error: { type: 'not_found' } })],
])('%s that the OpenAPI document does not describe is a finding', (_what, find) => {
  expect(find()).toContain('GET /test-clock');
});
