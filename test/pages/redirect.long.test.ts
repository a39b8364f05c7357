// A buyer and a customer who are led to Stripe's page and back, in a real browser: with JavaScript,
// without, and in a frame of a merchant.
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
import {
  enter,
  GOOD,
  openStripeBed,
  statusOf,
  STRIPE_JOURNEYS,
  type StripeBed,
} from './redirect-journeys.ts';
import { BrowserVisitor } from './visitor.ts';

setDefaultTimeout(60_000);

let place: StripeBed;
beforeAll(async () => {
  place = await openStripeBed();
});
afterAll(() => place.close());

/** No page may have reported an error: the content security policy lets the forms lead there. */
afterEach(async () => expect(await place.bed.leave()).toEqual([]));

describe.each(['browser', 'browser without JavaScript'] as const)(
  'the checkout that redirects to Stripe in a %s',
  (way) => {
    test.each(journeys(STRIPE_JOURNEYS, way))('%s', (_what, run) => run(place));
  },
);

describe('the checkout that redirects to Stripe in a frame of a merchant', () => {
  let merchant: { readonly origin: string; stop(): Promise<void> };
  beforeAll(() => {
    const text = `<!doctype html><title>Shop</title><script src="${place.bed.server.url}/embed.js"></script>
      <div id="here"></div><script>
        window.heard = [];
        const hear = (name) => () => window.heard.push(name);
        window.start = (url) => Tollhouse.open(url, {
          onReady: hear('ready'), onPaid: hear('paid'), onCanceled: hear('canceled'), container: '#here',
        });
      </script>`;
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(text, { headers: { 'content-type': 'text/html' } }),
    });
    merchant = { origin: `http://localhost:${server.port}`, stop: () => server.stop(true) };
  });
  afterAll(() => merchant.stop());

  test('is paid by the buyer in another tab, and the frame hears of it', async () => {
    const { url } = await place.bed.checkout({ success_url: `${merchant.origin}/thanks` });
    const { page } = await place.bed.buyer({ width: 900 });
    await page.goto(merchant.origin);
    await page.evaluate(`start(${JSON.stringify(url)})`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Continue to payment' }).click();
    await frame.getByRole('heading', { name: 'Pay in another tab' }).waitFor();
    const opening = page.context().waitForEvent('page');
    await frame.getByRole('link', { name: 'Continue to payment' }).click();
    const tab = await opening;
    await tab.waitForURL(`${place.fake.url}/c/pay/**`);
    await enter(new BrowserVisitor(tab), GOOD);
    await tab.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
    expect(tab.url()).toBe(url);
    await page.waitForFunction(`heard.includes('paid')`);
    expect(page.url()).toBe(`${merchant.origin}/`);
    expect(await page.evaluate('heard')).toEqual(['ready', 'paid']);
  });

  test('is given up by the buyer there', async () => {
    const { id, url } = await place.bed.checkout({ success_url: `${merchant.origin}/thanks` });
    const { page } = await place.bed.buyer({ width: 900 });
    await page.goto(merchant.origin);
    await page.evaluate(`start(${JSON.stringify(url)})`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Continue to payment' }).click();
    await frame.getByRole('button', { name: 'Change the order' }).click();
    await frame.getByRole('button', { name: 'Continue to payment' }).waitFor();
    expect(await statusOf(place, id)).toBe('active');
    await frame.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForFunction(`heard.includes('canceled')`);
  });
});
