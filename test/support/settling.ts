// Settles what is pending at the sandbox, without waiting.
import { expect } from 'bun:test';
import type { TestServer } from './server.ts';

/** For tests that look at pending payments: nothing settles before `settle()`. */
export const UNHURRIED = { sandboxSettleMs: 60_000 } as const;

/** Moves the organisation's test clock past all that is pending. */
export async function settle(server: TestServer): Promise<void> {
  const { status, text } = await server.call('POST', '/test-clock', { body: { advance: 'PT2M' } });
  expect([status, text]).toEqual([200, text]);
}
