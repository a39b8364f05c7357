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
import { fillCard } from './bed.ts';
import { CHALLENGED, DECLINED, GOOD } from './checkout-journeys.ts';
import { all, cookies, escapeIn, type Frames, heard, openFrames, payIn } from './frames.ts';

setDefaultTimeout(60_000);

let frames: Frames;
beforeAll(async () => {
  frames = await openFrames();
});
afterAll(() => frames.close());
afterEach(() => frames.leave());

describe('the embedded checkout tells the merchant', () => {
  test('nothing of a decline, and paid with the next card', async () => {
    const { url } = await frames.checkout();
    const { page, frame } = await frames.show(url, '#here');
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

  test.each(['Complete', 'Fail'])('the outcome with a bank in between: %s', async (answer) => {
    const { url } = await frames.checkout();
    const { page, frame } = await frames.show(url);
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

  test('that a slow payment is paid when it is, and one that is paid already', async () => {
    const { url } = await frames.checkout();
    const { page, frame } = await frames.show(url);
    await frame.getByLabel('Bank debit').check();
    await frame.fill('[name=iban]', 'DE89370400440532013000');
    await payIn({ page, frame });
    await frame.getByRole('heading', { name: 'Your bank is processing it' }).waitFor();
    await frames.bed.settle();
    await heard(page, 'paid');
    const again = await frames.show(url, '#here');
    await heard(again.page, 'paid');
  });

  test.each([
    ['the button', (frame: Frame) => frame.getByRole('button', { name: 'Cancel' }).click()],
    ['Escape in the frame', escapeIn],
    ['Escape beside it', (frame: Frame) => frame.page().press('dialog button', 'Escape')],
    ['the cross', (frame: Frame) => frame.page().getByRole('button', { name: 'Close' }).click()],
  ])('canceled, by %s', async (_how, cancel) => {
    const { id, url } = await frames.checkout();
    const { page, frame } = await frames.show(url);
    await cancel(frame);
    await heard(page, 'canceled');
    expect((await all(page)).at(-1)).toEqual(['canceled', id, `${frames.merchant.origin}/cart`]);
    expect(await page.$('iframe, dialog')).toBeNull();
    expect(page.url()).toBe(`${frames.merchant.origin}/`);
  });
});

describe('the embedded checkout for an origin that may not frame it', () => {
  test('shows nothing and tells nothing', async () => {
    const { url } = await frames.checkout();
    const buyer = await frames.bed.buyer();
    const { page, complaints } = buyer;
    await page.goto(frames.stranger.origin);
    await page.evaluate(`start(${JSON.stringify(url)})`);
    await page.waitForFunction('document.querySelector("iframe") !== null');
    const isRefused = () => complaints.some((text) => text.includes('frame-ancestors'));
    await until('the browser says why', isRefused);
    expect(await page.evaluate('raw')).toEqual([]);
    (complaints as string[]).length = 0;
    await buyer.close();
  });

  test('the embedded checkout ignores a forged message', async () => {
    const { url } = await frames.checkout();
    const { page } = await frames.show(url, '#here');
    await page.evaluate(`window.postMessage({ source: 'tollhouse', type: 'paid' }, '*')`);
    await page.waitForFunction(`raw.some(({ origin }) => origin === location.origin)`);
    expect((await all(page)).map(([name]) => name)).toEqual(['ready']);
  });
});

test('the embedded checkout outside of a frame is the usual page', async () => {
  const { url } = await frames.checkout();
  const { page } = await frames.bed.buyer();
  await page.goto(`${url}?embed=1`);
  await page.waitForURL(url);
  expect(await page.getByRole('link', { name: /^Back to/ }).count()).toBe(1);
});

test('the embedded checkout without a script has links that lead out of the frame', async () => {
  const { url } = await frames.checkout();
  const { page } = await frames.bed.buyer({ javaScriptEnabled: false });
  await page.goto(`${url}?embed=1`);
  expect(await page.getByRole('link', { name: 'Cancel' }).getAttribute('target')).toBe('_top');
  expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
});
