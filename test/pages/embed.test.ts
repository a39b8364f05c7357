// A checkout in a page of another origin, in a real browser: which messages that page gets, and
// which page may not embed it.
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import type { Frame, Page } from 'playwright-core';
import { until } from '../support/until.ts';
import { type Bed, fillCard, openBed, pay } from './bed.ts';

setDefaultTimeout(60_000);

const DECLINED = '4000 0000 0000 0002';
const CHALLENGED = '4000 0027 6000 3184';
const GOOD = '4242 4242 4242 4242';

let bed: Bed;
/**
 * A merchant's page, and one of a stranger. Both are another site than the checkout: no cookie
 * passes.
 */
let merchant: { readonly origin: string; stop(): Promise<void> };
let stranger: typeof merchant;
beforeAll(async () => {
  bed = await openBed();
  merchant = serve();
  stranger = serve();
});
afterAll(async () => {
  await Promise.all([merchant.stop(), stranger.stop()]);
  await bed.close();
});
afterEach(async () => {
  const complaints = await bed.leave();
  // The script of the page moves the focus instead.
  expect(complaints.filter((text) => !text.startsWith('Blocked autofocusing'))).toEqual([]);
});

function serve() {
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

const checkout = () =>
  bed.checkout({ success_url: `${merchant.origin}/thanks`, cancel_url: `${merchant.origin}/cart` });

type Shown = { readonly page: Page; readonly frame: Frame; readonly complaints: readonly string[] };

async function show(url: string, container?: string): Promise<Shown> {
  const { page, complaints } = await bed.buyer({ width: 900 });
  await page.goto(merchant.origin);
  await page.focus('#buy');
  await page.evaluate(`start(${JSON.stringify(url)}, ${JSON.stringify(container)})`);
  const frame = await (await page.waitForSelector('iframe')).contentFrame();
  await heard(page, 'ready');
  await still(page, frame!);
  return { page, frame: frame!, complaints };
}

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
function escapeIn(frame: Frame): Promise<void> {
  return until('Escape takes the frame away', async () => {
    await frame.press('[name=card_number]', 'Escape', { timeout: 500 }).catch(() => null);
    return frame.isDetached();
  });
}

/** Clicks again where a click got lost: the frame is another process, and moves as it grows. */
function payIn({ page, frame }: Pick<Shown, 'page' | 'frame'>): Promise<void> {
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

const all = (page: Page) => page.evaluate<[string, string, string][]>('heard');

async function heard(page: Page, name: string): Promise<void> {
  await page.waitForFunction(`heard.some(([name]) => name === ${JSON.stringify(name)})`);
}

const cookies = async (page: Page) => (await page.context().cookies()).map(({ name }) => name);

describe('the merchant hears', () => {
  test('ready, how high it is, and paid; the buyer stays', async () => {
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
  });

  test('nothing of a decline, and paid with the next card', async () => {
    const { url } = await checkout();
    const { page, frame } = await show(url, '#here');
    expect(await page.$('dialog')).toBeNull();
    await fillCard(frame as unknown as Page, DECLINED);
    await payIn({ page, frame });
    await frame.getByRole('alert').waitFor();
    expect(await frame.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
    expect((await all(page)).map(([name]) => name)).toEqual(['ready']);
    await fillCard(frame as unknown as Page, GOOD);
    await payIn({ page, frame });
    await heard(page, 'paid');
  });

  test.each(['Complete', 'Fail'])('a bank in between: %s', async (answer) => {
    const { url } = await checkout();
    const { page, frame } = await show(url);
    await fillCard(frame as unknown as Page, CHALLENGED);
    await payIn({ page, frame });
    await frame.getByRole('heading', { name: 'Confirm your payment' }).waitFor();
    await frame.getByRole('button', { name: answer }).click();
    if (answer === 'Complete') await heard(page, 'paid');
    else await frame.getByRole('alert').waitFor();
    expect((await all(page)).map(([name]) => name)).toEqual(
      answer === 'Complete' ? ['ready', 'paid'] : ['ready'],
    );
    expect(await cookies(page)).toEqual([]);
  });

  test('of a payment that takes its time when it is paid, and of one that is paid already', async () => {
    const { url } = await checkout();
    const { page, frame } = await show(url);
    await frame.getByLabel('Bank debit').check();
    await frame.fill('[name=iban]', 'DE89370400440532013000');
    await payIn({ page, frame });
    await frame.getByRole('heading', { name: 'Your bank is on it' }).waitFor();
    await bed.settle();
    await heard(page, 'paid');
    const again = await show(url, '#here');
    await heard(again.page, 'paid');
  });

  test.each([
    ['the button', (frame: Frame) => frame.getByRole('button', { name: 'Cancel' }).click()],
    ['Escape in the frame', escapeIn],
    ['Escape beside it', (frame: Frame) => frame.page().press('dialog button', 'Escape')],
    ['the cross', (frame: Frame) => frame.page().getByRole('button', { name: 'Close' }).click()],
  ])('canceled, by %s', async (_how, cancel) => {
    const { id, url } = await checkout();
    const { page, frame } = await show(url);
    await cancel(frame);
    await heard(page, 'canceled');
    expect((await all(page)).at(-1)).toEqual(['canceled', id, `${merchant.origin}/cart`]);
    expect(await page.$('iframe, dialog')).toBeNull();
    expect(page.url()).toBe(`${merchant.origin}/`);
  });
});

describe('an origin that may not frame it', () => {
  test('sees nothing and hears nothing', async () => {
    const { url } = await checkout();
    const buyer = await bed.buyer();
    const { page, complaints } = buyer;
    await page.goto(stranger.origin);
    await page.evaluate(`start(${JSON.stringify(url)})`);
    await page.waitForFunction('document.querySelector("iframe") !== null');
    const isRefused = () => complaints.some((text) => text.includes('frame-ancestors'));
    await until('the browser says why', isRefused);
    expect(await page.evaluate('raw')).toEqual([]);
    (complaints as string[]).length = 0;
    await buyer.close();
  });

  test('is any page but those: the header of each page says so', async () => {
    const framers = async (address: string) => {
      const policy = (await fetch(address)).headers.get('content-security-policy') ?? '';
      return /frame-ancestors ([^;]+)/.exec(policy)?.[1];
    };
    const { url } = await checkout();
    expect(await framers(`${url}?embed=1`)).toBe(merchant.origin);
    expect(await framers(url)).toBe("'none'");
    expect(await framers(`${url}?embed=2`)).toBe("'none'");
    const nowhere = await bed.checkout();
    expect(await framers(`${nowhere.url}?embed=1`)).toBe("'none'");
    expect(await framers(`${bed.server.url}/pay/unknown?embed=1`)).toBe("'none'");
    const other = `${stranger.origin}/cart`;
    const two = await bed.checkout({ success_url: `${merchant.origin}/x`, cancel_url: other });
    expect(await framers(`${two.url}?embed=1`)).toBe(`${merchant.origin} ${stranger.origin}`);
    for (const path of ['/docs', '/portal/x', '/sandbox/challenges/x']) {
      expect([path, await framers(`${bed.server.url}${path}`)]).toEqual([path, "'none'"]);
    }
  });

  test('a bank page of a payment outside of a frame is in none', async () => {
    const { url } = await checkout();
    const form = {
      payment_method: 'card',
      card_number: CHALLENGED,
      card_expiry: '12/34',
      card_cvc: '123',
    };
    const ask = async (query: string) => {
      const { headers } = await fetch(`${url}${query}`, {
        method: 'POST',
        body: new URLSearchParams(form),
        redirect: 'manual',
      });
      const bank = await fetch(headers.get('location') ?? '');
      return [headers.get('set-cookie') !== null, bank.headers.get('content-security-policy')];
    };
    expect(await ask('')).toEqual([true, expect.stringContaining("frame-ancestors 'none'")]);
    const framed = (await checkout()).url;
    const { headers } = await fetch(`${framed}?embed=1`, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
    });
    const bank = await fetch(headers.get('location') ?? '');
    expect(headers.get('set-cookie')).toBeNull();
    expect(bank.headers.get('content-security-policy')).toContain(
      `frame-ancestors ${merchant.origin}`,
    );
  });

  test('a forged message is not heard', async () => {
    const { url } = await checkout();
    const { page } = await show(url, '#here');
    await page.evaluate(`window.postMessage({ source: 'tollhouse', type: 'paid' }, '*')`);
    await page.waitForFunction(`raw.some(({ origin }) => origin === location.origin)`);
    expect((await all(page)).map(([name]) => name)).toEqual(['ready']);
  });
});

test('outside of a frame it is the page as ever', async () => {
  const { url } = await checkout();
  const { page } = await bed.buyer();
  await page.goto(`${url}?embed=1`);
  await page.waitForURL(url);
  expect(await page.getByRole('link', { name: /^Back to/ }).count()).toBe(1);
});

test('without a script the links lead out of the frame', async () => {
  const { url } = await checkout();
  const { page } = await bed.buyer({ javaScriptEnabled: false });
  await page.goto(`${url}?embed=1`);
  expect(await page.getByRole('link', { name: 'Cancel' }).getAttribute('target')).toBe('_top');
  expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
});

test('the script is kept, and asked for by its tag', async () => {
  const first = await fetch(`${bed.server.url}/embed.js`);
  const tag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('public, max-age=3600');
  expect(await first.text()).toContain('Tollhouse.open');
  const again = await fetch(`${bed.server.url}/embed.js`, { headers: { 'if-none-match': tag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
});
