// A checkout in a page of another origin, in a real browser.
import { expect } from 'bun:test';
import type { Frame, Page } from 'playwright-core';
import { until } from '../support/until.ts';
import { type Bed, fillCard, openBed, pay } from './bed.ts';
import { GOOD } from './checkout-journeys.ts';

/** A page of a shop that can show a checkout in a frame. */
export type Site = { readonly origin: string; stop(): Promise<void> };

/**
 * A merchant's page, and one of a stranger. Both are another site than the checkout: no cookie
 * passes.
 */
export type Frames = {
  readonly bed: Bed;
  readonly merchant: Site;
  readonly stranger: Site;
  readonly checkout: () => Promise<{ readonly id: string; readonly url: string }>;
  readonly show: (url: string, container?: string) => Promise<Shown>;
  /** No page may have reported an error. */
  leave(): Promise<void>;
  close(): Promise<void>;
};

export async function openFrames(): Promise<Frames> {
  const bed = await openBed();
  const [merchant, stranger] = [serve(bed), serve(bed)];
  return {
    bed,
    merchant,
    stranger,
    checkout: () =>
      bed.checkout({
        success_url: `${merchant.origin}/thanks`,
        cancel_url: `${merchant.origin}/cart`,
      }),
    async show(url, container) {
      const { page, complaints } = await bed.buyer({ width: 900 });
      await page.goto(merchant.origin);
      await page.focus('#buy');
      await page.evaluate(`start(${JSON.stringify(url)}, ${JSON.stringify(container)})`);
      const frame = await (await page.waitForSelector('iframe')).contentFrame();
      await heard(page, 'ready');
      await still(page, frame!);
      return { page, frame: frame!, complaints };
    },
    async leave() {
      const complaints = await bed.leave();
      // The script of the page moves the focus instead.
      expect(complaints.filter((text) => !text.startsWith('Blocked autofocusing'))).toEqual([]);
    },
    async close() {
      await Promise.all([merchant.stop(), stranger.stop()]);
      await bed.close();
    },
  };
}

function serve(bed: Bed): Site {
  const page = `<!doctype html><title>Shop</title><button id="buy">Buy</button><div id="here"></div>
    <script src="${bed.server.url}/embed.js"></script>
    <script>
      window.heard = []; window.raw = [];
      window.addEventListener('message', ({ data, origin }) => window.raw.push({ ...data, origin }));
      window.start = (url, container) => {
        const hear = (name) => (told) => window.heard.push([name, told.payment_link_id, told.cancel_url]);
        window.checkout = Tollhouse.open(url, {
          onReady: hear('ready'), onPaid: hear('paid'), onCanceled: hear('canceled'), container,
        });
      };
    </script>`;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(page, { headers: { 'content-type': 'text/html' } }),
  });
  return { origin: `http://localhost:${server.port}`, stop: () => server.stop(true) };
}

export type Shown = {
  readonly page: Page;
  readonly frame: Frame;
  readonly complaints: readonly string[];
};

/** The frame is as high as its content: until then a button may move away under the click. */
function still(page: Page, frame: Frame): Promise<void> {
  return until('the frame has its height', async () => {
    const held = await frame.evaluate<number>(
      'Math.ceil(document.body.getBoundingClientRect().height)',
    );
    return (await page.$eval('iframe', (element) => element.style.height)) === `${held}px`;
  });
}

/** Waits until it is gone: a key pressed while the focus moves between two processes is lost. */
export function escapeIn(frame: Frame): Promise<void> {
  return until('Escape takes the frame away', async () => {
    await frame.press('[name=card_number]', 'Escape', { timeout: 500 }).catch(() => null);
    return frame.isDetached();
  });
}

/** Clicks again where a click got lost: the frame is another process, and moves as it grows. */
export function payIn({ page, frame }: Pick<Shown, 'page' | 'frame'>): Promise<void> {
  return until('the form is sent', async () => {
    await still(page, frame);
    const sent = page.waitForRequest((request) => request.method() === 'POST', { timeout: 3000 });
    const isSent = sent.then(
      () => true,
      () => false,
    );
    await pay(frame as unknown as Page);
    return isSent;
  });
}

export const all = (page: Page) => page.evaluate<[string, string, string][]>('heard');

export async function heard(page: Page, name: string): Promise<void> {
  await page.waitForFunction(`heard.some(([name]) => name === ${JSON.stringify(name)})`);
}

export const cookies = async (page: Page) =>
  (await page.context().cookies()).map(({ name }) => name);

/** Ready, how high it is, and paid; the buyer stays. */
export async function payInFrame({ merchant, checkout, show }: Frames): Promise<void> {
  const { id, url } = await checkout();
  const { page, frame } = await show(url);
  const height = await page.$eval('iframe', (element) => element.getBoundingClientRect().height);
  const held = await frame.evaluate<number>('document.documentElement.scrollHeight');
  expect(Math.abs(height - held)).toBeLessThanOrEqual(1);
  await fillCard(frame as unknown as Page, GOOD);
  await payIn({ page, frame });
  await heard(page, 'paid');
  const cancelUrl = `${merchant.origin}/cart`;
  expect(await all(page)).toEqual([
    ['ready', id, cancelUrl],
    ['paid', id, cancelUrl],
  ]);
  const raw = await page.evaluate<{ source: string; origin: string; type: string }[]>('raw');
  expect(new Set(raw.map(({ source, origin }) => `${source} ${origin}`))).toEqual(
    new Set([`tollhouse ${new URL(url).origin}`]),
  );
  expect(new Set(raw.map(({ type }) => type))).toEqual(new Set(['ready', 'resize', 'paid']));
  expect(page.url()).toBe(`${merchant.origin}/`);
  const onward = frame.getByRole('link', { name: /^Continue to/ });
  expect(await onward.getAttribute('target')).toBe('_top');
  expect(await cookies(page)).toEqual([]);
  await page.evaluate('checkout.close(); checkout.close()');
  expect(await page.$('iframe, dialog')).toBeNull();
  expect(await page.evaluate('document.activeElement.id')).toBe('buy');
}
