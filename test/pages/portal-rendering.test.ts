// Every page of the portal, whatever is written in it: in a real browser, without a service behind it.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { sendPage } from '../../src/http/page.ts';
import { openBrowser } from './browser.ts';
import { everyPortalPage, PLAIN_PORTAL, type PortalTexts } from './portal-views.ts';

setDefaultTimeout(20_000);

/** Each breaks out of another place: an attribute, an element, a style, a title, a link, a comment. */
const HOSTILE = [
  `"><script>document.title='owned'</script>`,
  `<img src=x onerror=alert(1)>'`,
  `</title><svg onload=alert(2)>`,
  `</style><style>*{display:none}</style>`,
  `" autofocus onfocus=alert(3) x="`,
  `' onmouseover='alert(4)`,
  `javascript:alert(5)//`,
  `--><iframe srcdoc="<script>alert(6)</script>">`,
  `{{7*7}}\${7*7}&lt;b&gt;&#60;i&#62;`,
  '\u202e\u2066 right \u0000'.replace('\0', ''),
];

const textsOf = (suffix: string) =>
  Object.fromEntries(
    Object.keys(PLAIN_PORTAL).map((name) => [name, `${name} ${suffix}`]),
  ) as PortalTexts;

const PAGES = {
  plain: everyPortalPage(PLAIN_PORTAL),
  hostile: everyPortalPage(textsOf(HOSTILE.join(' '))),
  long: everyPortalPage({
    ...PLAIN_PORTAL,
    merchant: 'Donau'.repeat(30),
    plan: 'Dampfschiff'.repeat(20),
    email: `${'a'.repeat(60)}@example.com`,
    feature: 'fahrt'.repeat(20),
    unit: 'kapitaen'.repeat(12),
  }),
  rightToLeft: everyPortalPage({ ...PLAIN_PORTAL, merchant: 'מטבעות', plan: 'مدخل الجسر 12' }),
} as const;
const NAMES = Object.keys(PAGES.plain);

let browser: Browser;
let page: Page;
let server: ReturnType<typeof Bun.serve>;
const complaints: string[] = [];
beforeAll(async () => {
  server = Bun.serve({
    port: 0,
    fetch(request) {
      const [, texts, name] = new URL(request.url).pathname.split('/');
      const rendered = PAGES[texts as keyof typeof PAGES][name!]!();
      return sendPage(rendered, { formAction: ["'self'"] });
    },
  });
  browser = await openBrowser();
  page = await browser.newPage({ viewport: { width: 320, height: 640 } });
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
});
afterAll(async () => {
  await browser.close();
  await server.stop(true);
  expect(complaints).toEqual([]);
});

const open = (texts: string, name: string) => page.goto(`${server.url.href}${texts}/${name}`);

/** What of the texts each page shows. */
const SHOWN: Readonly<Record<string, readonly (keyof PortalTexts)[]>> = {
  home: ['merchant', 'plan', 'customer', 'email', 'feature', 'unit', 'invoice'],
  cancel_overdue: ['merchant', 'plan', 'refusal'],
  pause: ['merchant', 'plan'],
  method_wrong: ['merchant', 'refusal'],
};

describe.each(NAMES)('%s', (name) => {
  test.each(['hostile', 'long'])('fits a phone of 320 pixels: %s', async (texts) => {
    await open(texts, name);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('what others wrote is text', async () => {
    await open('hostile', name);
    expect(await page.title()).not.toBe('owned');
    expect(
      await page.locator('script, img, iframe, [onload], [onfocus], [onmouseover]').count(),
    ).toBe(0);
    expect(await page.locator('style').count()).toBe(1);
    const shown = await page.locator('body').innerText();
    const squeezed = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
    for (const key of SHOWN[name] ?? []) {
      expect(squeezed(shown)).toContain(squeezed(textsOf(HOSTILE.join(' '))[key]));
    }
  });

  test('every field has a label, every id is there once, and one heading leads', async () => {
    await open('plain', name);
    const unnamed = `[...document.querySelectorAll('input:not([type=hidden]), select, button')]
      .filter((field) => field.tagName !== 'BUTTON' ? field.labels.length !== 1 : field.textContent.trim() === '').length`;
    expect(await page.evaluate(unnamed)).toBe(0);
    const repeated = `[...document.querySelectorAll('[id]')].map(({ id }) => id)
      .filter((id, index, all) => all.indexOf(id) !== index)`;
    expect(await page.evaluate(repeated)).toEqual([]);
    const dangling = `[...document.querySelectorAll('[aria-describedby], [aria-labelledby]')]
      .flatMap((field) => (field.getAttribute('aria-describedby') ?? field.getAttribute('aria-labelledby')).split(' '))
      .filter((id) => document.getElementById(id) === null)`;
    expect(await page.evaluate(dangling)).toEqual([]);
    expect(await page.locator('h1').count()).toBe(1);
    // Two links of one name lead to one place.
    const ambiguous = `Object.values(Object.groupBy([...document.querySelectorAll('main .button[href]')], (a) => a.textContent))
      .filter((links) => new Set(links.map(({ href }) => href.replace(/=.*/, ''))).size > 1).length`;
    expect(await page.evaluate(ambiguous)).toBe(0);
  });

  test('it loads nothing', async () => {
    const requests: string[] = [];
    const count = (request: { url(): string }) => requests.push(request.url());
    page.on('request', count);
    await open('hostile', name);
    page.off('request', count);
    expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1);
  });
});

// prettier-ignore
const SAYINGS: [string, string[]][] = [
  ['home', ['€12.00 every 3 months · 12 units', 'Next payment 5 March 2027', 'Resumes on 1 April 2027', 'Free until 5 March 2027',
    'Ended on 1 February 2027', 'Access is blocked', '6,200 of 10,000 calls used', '1,200 of 1,000 calls used (200 over)',
    '0.05 calls used, without a limit', 'API calls Included', 'Starts afresh on 5 March 2027', 'Visa •••• 4242 good until 03/2034']],
  ['told', ['The subscription will end with its period.']],
  ['empty', ['There is none on file.']],
  ['cancel', ['Access until 5 March 2027; no further charge.', 'Access ends at once', 'rest of the period']],
  ['cancel_trial', ['At the end of the trial', 'rest of the trial']],
  ['cancel_overdue', ['What is unpaid is not collected any more.']],
  ['cancel_paused', ['It stays paused until 5 March 2027']],
  ['uncancel', ['The next payment of €12.00 a month is on 5 March 2027.']],
  ['pause', ['Access stops at once.', 'Nothing is charged while it is paused.', 'Northwind Maps may bill them later']],
  ['resume', ['runs until 5 March 2027; nothing is charged for it again.']],
  ['resume_charged', ['€12.00 a month is charged at once to Visa •••• 4242.', 'It still ends on 5 June 2027.']],
  ['method', ['Northwind Maps charges it from now on instead of Visa •••• 4242.']],
  ['unauthorized', ['It has expired, was withdrawn, or was not copied as a whole.']],
];

test.each(SAYINGS)('%s says what happens, and when', async (name, sayings) => {
  await open('plain', name);
  const shown = (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ');
  for (const saying of sayings) expect(shown).toContain(saying);
});

test('what is scheduled to end can only be brought forward', async () => {
  await open('plain', 'cancel_scheduled');
  expect(await page.locator('[name=mode]').count()).toBe(1);
  expect(await page.locator('[name=mode]:checked').getAttribute('value')).toBe('immediate');
});

test('text that reads from right to left does', async () => {
  await open('rightToLeft', 'home');
  const direction = await page.evaluate(`getComputedStyle(document.querySelector('h3')).direction`);
  expect(direction).toBe('rtl');
});

test('a bar is as long as what is used', async () => {
  await open('plain', 'home');
  const widths = await page
    .locator('.bar rect')
    .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('width')));
  expect(widths).toEqual(['62%', '85%', '100%', '100%']);
});
