// A checkout that is shown in a frame, by its forms and links: what it tells the page around it,
// and which pages may be that. In a browser it pays once; the rest there: embed.long.test.ts.
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { payBy } from './bed.ts';
import { CHALLENGED, DECLINED, GOOD } from './checkout-journeys.ts';
import { all, parse, tagged, textOf } from './document.ts';
import { type Frames, openFrames, payInFrame } from './frames.ts';
import { PlainVisitor } from './plain-visitor.ts';

setDefaultTimeout(60_000);

let frames: Frames;
beforeAll(async () => {
  frames = await openFrames();
});
afterAll(() => frames.close());
afterEach(() => frames.leave());

test('the embedded checkout in a browser tells the merchant ready, its height and paid; the buyer stays', () =>
  payInFrame(frames));

describe('the script of the embedded checkout tells', () => {
  async function framed(): Promise<{ id: string; url: string; visitor: PlainVisitor }> {
    const { id, url } = await frames.checkout();
    const visitor = new PlainVisitor();
    expect(await visitor.open(`${url}?embed=1`)).toBe(200);
    return { id, url, visitor };
  }

  const dataOf = async (visitor: PlainVisitor) => {
    const page = parse(await visitor.markup());
    const [data] = all(page, ({ attributes }) => attributes.get('id') === 'tollhouse-embed');
    const of = (name: string) => data?.attributes.get(`data-${name}`);
    return [of('state'), of('payment-link'), of('cancel-url'), of('origins')];
  };

  /** The state of the page, which is still the one for frames. */
  async function expectState(
    of: { id: string; url: string; visitor: PlainVisitor },
    state: string,
  ) {
    const { origin } = frames.merchant;
    expect(await dataOf(of.visitor)).toEqual([state, of.id, `${origin}/cart`, origin]);
    expect(of.visitor.url()).toBe(`${of.url}?embed=1`);
    expect(of.visitor.cookies()).toEqual([]);
  }

  test('paid: the buyer stays, and the link leads out of the frame', async () => {
    const buyer = await framed();
    await expectState(buyer, 'open');
    await payBy(buyer.visitor, GOOD);
    await expectState(buyer, 'paid');
    const links = tagged(parse(await buyer.visitor.markup()), 'a');
    const onward = links.find((link) => textOf(link).startsWith('Continue to'));
    expect(onward?.attributes.get('target')).toBe('_top');
  });

  test('nothing of a decline, and paid with the next card', async () => {
    const buyer = await framed();
    await payBy(buyer.visitor, DECLINED);
    expect(await buyer.visitor.alert()).toContain('did not go through');
    await expectState(buyer, 'open');
    await payBy(buyer.visitor, GOOD);
    await expectState(buyer, 'paid');
  });

  test.each([
    ['Complete', 'paid'],
    ['Fail', 'open'],
  ])('the outcome with a bank in between: %s', async (answer, state) => {
    const buyer = await framed();
    await payBy(buyer.visitor, CHALLENGED);
    await buyer.visitor.heading('Confirm your payment');
    await buyer.visitor.press(answer);
    await expectState(buyer, state);
  });

  test('that a slow payment is paid when it is, and one that is paid already', async () => {
    const buyer = await framed();
    await buyer.visitor.tick('Bank debit');
    await buyer.visitor.fill('iban', 'DE89370400440532013000');
    await buyer.visitor.press(/^Pay/);
    await buyer.visitor.heading('Your bank is processing it');
    await expectState(buyer, 'processing');
    await frames.bed.settle();
    await buyer.visitor.reload();
    await expectState(buyer, 'paid');
    const again = new PlainVisitor();
    await again.open(`${buyer.url}?embed=1`);
    await expectState({ ...buyer, visitor: again }, 'paid');
  });

  test('canceled: by a button of the script, and without one by a link out of the frame', async () => {
    const { visitor } = await framed();
    const page = parse(await visitor.markup());
    const [button] = all(page, ({ attributes }) => attributes.has('data-cancel'));
    expect([button!.attributes.get('type'), button!.attributes.has('hidden')]).toEqual([
      'button',
      true,
    ]);
    const [link] = tagged(tagged(page, 'noscript')[0]!, 'a');
    expect([link!.attributes.get('target'), link!.attributes.get('href')]).toEqual([
      '_top',
      `${frames.merchant.origin}/cart`,
    ]);
  });

  test('the embedded checkout outside of a frame has no script', async () => {
    const { url } = await frames.checkout();
    const visitor = new PlainVisitor();
    await visitor.open(url);
    expect(await visitor.count({ tag: 'script' })).toBe(0);
    expect(await visitor.count({ link: /^Back to/ })).toBe(1);
  });
});

test("the embedded checkout is framed by the allowed origins alone: each page's header says so", async () => {
  const framers = async (address: string) => {
    const policy = (await fetch(address)).headers.get('content-security-policy') ?? '';
    return /frame-ancestors ([^;]+)/.exec(policy)?.[1];
  };
  const { url } = await frames.checkout();
  expect(await framers(`${url}?embed=1`)).toBe(frames.merchant.origin);
  expect(await framers(url)).toBe("'none'");
  expect(await framers(`${url}?embed=2`)).toBe("'none'");
  const nowhere = await frames.bed.checkout();
  expect(await framers(`${nowhere.url}?embed=1`)).toBe("'none'");
  expect(await framers(`${frames.bed.server.url}/pay/unknown?embed=1`)).toBe("'none'");
  const other = `${frames.stranger.origin}/cart`;
  const two = await frames.bed.checkout({
    success_url: `${frames.merchant.origin}/x`,
    cancel_url: other,
  });
  expect(await framers(`${two.url}?embed=1`)).toBe(
    `${frames.merchant.origin} ${frames.stranger.origin}`,
  );
  for (const path of ['/docs', '/portal/x', '/sandbox/challenges/x']) {
    expect([path, await framers(`${frames.bed.server.url}${path}`)]).toEqual([path, "'none'"]);
  }
});

test('a bank page of a payment outside of a frame is in none', async () => {
  const { url } = await frames.checkout();
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
  const framed = (await frames.checkout()).url;
  const { headers } = await fetch(`${framed}?embed=1`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  const bank = await fetch(headers.get('location') ?? '');
  expect(headers.get('set-cookie')).toBeNull();
  expect(bank.headers.get('content-security-policy')).toContain(
    `frame-ancestors ${frames.merchant.origin}`,
  );
});

test('the script of the embedded checkout is cached, and asked for by its tag', async () => {
  const first = await fetch(`${frames.bed.server.url}/embed.js`);
  const tag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('public, max-age=3600');
  expect(await first.text()).toContain('Tollhouse.open');
  const again = await fetch(`${frames.bed.server.url}/embed.js`, {
    headers: { 'if-none-match': tag },
  });
  expect([again.status, await again.text()]).toEqual([304, '']);
});
