// Every two of what may happen to an invoice of a subscription, in a row, and many random
// histories.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import type { TestServer } from '../../support/server.ts';
import { expectNoErrors, live, liveAtRandom, startLives } from './subscribed-lives.ts';
import { ACTIONS, SITUATIONS } from './subscribed-reference.ts';

setDefaultTimeout(3_600_000);

let server: TestServer;
beforeAll(async () => {
  server = await startLives();
});
afterAll(() => server.stop());

test.each(SITUATIONS)('two things that happen to an invoice in a row: %s', async (situation) => {
  for (const one of ACTIONS) {
    for (const other of ACTIONS) await live(server, situation, [[one], [other]]);
  }
  expect(await audit(server.sql)).toEqual([]);
});

test('many random histories of an invoice', () => liveAtRandom(server, 400));

test('no error is logged while invoices live by night', () => expectNoErrors(server));
