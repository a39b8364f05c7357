// A customer in the portal, by its forms and links; in a browser one saves a card and more. The
// rest in a browser: portal.long.test.ts.
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

describe('the portal by forms and links', () => {
  const table = [...PORTAL_JOURNEYS, ...MORE_PORTAL_JOURNEYS];
  test.each(journeys(table, 'plain'))('%s', (_what, run) => run({ bed }));
});

test.each(journeys(PORTAL_JOURNEYS.slice(0, 1), 'browser'))(
  'the portal in a browser %s',
  (_what, run) => run({ bed }),
);
