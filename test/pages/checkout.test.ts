// The page of a checkout, by its forms and links; in a browser it is opened and pays once. The rest
// in a browser: checkout.long.test.ts.
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { type Bed, enterCard, openBed, PAYS } from './bed.ts';
import { GOOD, JOURNEYS, MORE_JOURNEYS, paymentsOf, thanks } from './checkout-journeys.ts';
import { journeys } from './journeys.ts';

setDefaultTimeout(60_000);

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

/** No page may have reported an error. */
afterEach(async () => expect(await bed.leave()).toEqual([]));

describe('the checkout page by forms and links', () => {
  test.each(journeys([...JOURNEYS, ...MORE_JOURNEYS], 'plain'))('%s', (_what, run) => run({ bed }));

  test('pays once in two tabs', async () => {
    const { id, url } = await bed.checkout({ success_url: thanks({ bed }) });
    const { visitor, another } = await bed.visitor('plain');
    const tabs = [visitor, await another()];
    for (const tab of tabs) {
      await tab.open(url);
      await enterCard(tab, GOOD);
    }
    await Promise.all(tabs.map((tab) => tab.press(PAYS)));
    await Promise.all(tabs.map((tab) => tab.arrive(`${bed.shopUrl}/**`)));
    expect(await paymentsOf({ bed }, id)).toHaveLength(1);
  });
});

test.each(journeys(JOURNEYS.slice(0, 1), 'browser'))(
  'the checkout page in a browser %s',
  (_what, run) => run({ bed }),
);
