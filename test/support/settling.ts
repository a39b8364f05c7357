// What the sandbox takes its time for, without waiting for it.
import { expect } from 'bun:test';
import type { TestServer } from './server.ts';

/** For who looks at what is under way: nothing settles before `settle()`. */
export const UNHURRIED = { sandboxSettleMs: 60_000 } as const;

/** Moves the organisation's test clock past all that is under way. */
export async function settle(server: TestServer): Promise<void> {
  const { status, text } = await server.call('POST', '/test-clock', { body: { advance: 'PT2M' } });
  expect([status, text]).toEqual([200, text]);
}
