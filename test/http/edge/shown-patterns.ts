// What the refusals of hostile strings tell.
import { expect } from 'bun:test';
import { Admission } from '../../../src/http/edge/admission.ts';
import { HOSTILE } from './hostile.ts';
import type { Listed } from './operations.ts';
import type { Spot } from './spots.ts';

/** The special characters of patterns. */
const PATTERN = /\^|\\[dwsux]|\(\?|\[\w-\w/;
/** As wrong as a hostile one, and refused for the same reason. */
const SHORT = 300;
const TEXTS = HOSTILE.map(([, text]) => text.slice(-SHORT));

/** No refusal there shows a pattern. */
export async function expectNoPatterns(
  tried: Iterable<{ readonly listed: Listed; readonly spots: readonly Spot[] }>,
): Promise<void> {
  const messages = new Set<string>();
  for (const { listed, spots } of tried) {
    const admission = new Admission(listed.operation, listed.access);
    for (const { send } of spots) {
      for (const text of TEXTS) {
        const sent = send(text);
        if (sent === null) continue;
        const told = admission.admit({ ...sent, params: {}, principal: null });
        if (!(told instanceof Response)) continue;
        for (const message of await messagesOf(told)) messages.add(message);
      }
    }
  }
  expect(messages.size).toBeGreaterThan(50);
  expect([...messages].filter((message) => PATTERN.test(message))).toEqual([]);
}

async function messagesOf(refusal: Response): Promise<string[]> {
  const { error } = (await refusal.json()) as { error: { issues: { message: string }[] } };
  return error.issues.map(({ message }) => message);
}
