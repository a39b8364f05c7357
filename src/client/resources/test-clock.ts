import type { Table } from './resource.ts';

export const testClock = {
  /** Get the test clock. */
  retrieve: 'getTestClock',
  /** Move the test clock. */
  advance: 'moveTestClock',
} as const satisfies Table;
