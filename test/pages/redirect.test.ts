// A buyer and a customer who are led to Stripe's page and back, by forms and links; in a browser
// one pays there. The rest in a browser: redirect.long.test.ts.
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { journeys } from './journeys.ts';
import { openStripeBed, STRIPE_JOURNEYS, type StripeBed } from './redirect-journeys.ts';

setDefaultTimeout(60_000);

let place: StripeBed;
beforeAll(async () => {
  place = await openStripeBed();
});
afterAll(() => place.close());

/** No page may have reported an error: the content security policy lets the forms lead there. */
afterEach(async () => expect(await place.bed.leave()).toEqual([]));

describe('the checkout that redirects to Stripe by forms and links', () => {
  test.each(journeys(STRIPE_JOURNEYS, 'plain'))('%s', (_what, run) => run(place));
});

test.each(journeys(STRIPE_JOURNEYS.slice(0, 1), 'browser'))(
  'the checkout that redirects to Stripe in a browser %s',
  (_what, run) => run(place),
);
