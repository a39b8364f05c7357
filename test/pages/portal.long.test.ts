// A customer in the portal, in a real browser: with JavaScript and without, on a phone.
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { type Bed, openBed } from './bed.ts';
import { journeys } from './journeys.ts';
import { MORE_PORTAL_JOURNEYS, PORTAL_JOURNEYS } from './portal-journeys.ts';

setDefaultTimeout(60_000);

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

/** No page may have reported an error. */
afterEach(async () => expect(await bed.leave()).toEqual([]));

describe.each(['browser', 'browser without JavaScript'] as const)('the portal in a %s', (way) => {
  test.each(journeys(PORTAL_JOURNEYS, way))('%s', (_what, run) => run({ bed }));
});

test.each(journeys(MORE_PORTAL_JOURNEYS, 'browser'))('%s', (_what, run) => run({ bed }));
