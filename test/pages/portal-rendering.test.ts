// Every page of the portal, with any texts, in a real browser without a service.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  expectAccessible,
  expectOneRequest,
  expectOnlyText,
  expectToFit,
  type Gallery,
  hostile,
  openGallery,
} from './gallery.ts';
import { everyPortalPage, PLAIN_PORTAL, type PortalTexts } from './portal-views.ts';

setDefaultTimeout(60_000);

const HOSTILE = hostile(PLAIN_PORTAL);
const PAGES = {
  plain: everyPortalPage(PLAIN_PORTAL),
  hostile: everyPortalPage(HOSTILE),
  long: everyPortalPage({
    ...PLAIN_PORTAL,
    merchant: 'Donau'.repeat(30),
    plan: 'Dampfschiff'.repeat(20),
    email: `${'a'.repeat(60)}@example.com`,
    feature: 'fahrt'.repeat(20),
    unit: 'kapitaen'.repeat(12),
  }),
  rightToLeft: everyPortalPage({ ...PLAIN_PORTAL, merchant: 'מטבעות', plan: 'مدخل الجسر 12' }),
};

let gallery: Gallery;
beforeAll(async () => {
  gallery = await openGallery(PAGES);
});
afterAll(() => gallery.close());

/** The texts that each page shows. */
const SHOWN: Readonly<Record<string, readonly (keyof PortalTexts)[]>> = {
  home: ['merchant', 'plan', 'customer', 'email', 'feature', 'unit', 'invoice'],
  cancel_overdue: ['merchant', 'plan', 'refusal'],
  pause: ['merchant', 'plan'],
  method_wrong: ['merchant', 'refusal'],
  method_elsewhere: ['merchant', 'refusal'],
};

describe.each(Object.keys(PAGES.plain))('%s', (name) => {
  test.each(['hostile', 'long'])('fits a phone of 320 pixels: %s', async (texts) => {
    await gallery.open(texts, name);
    await expectToFit(gallery.page);
  });

  test('what others wrote is text', async () => {
    await gallery.open('hostile', name);
    const shown = (SHOWN[name] ?? []).map((key) => HOSTILE[key]);
    await expectOnlyText(gallery.page, shown);
  });

  test('every field has a label, every id is there once, and one heading leads', async () => {
    await gallery.open('plain', name);
    await expectAccessible(gallery.page);
    // Two links with one name lead to one place.
    const ambiguous = `Object.values(Object.groupBy([...document.querySelectorAll('main .button[href]')], (a) => a.textContent))
      .filter((links) => new Set(links.map(({ href }) => href.replace(/=.*/, ''))).size > 1).length`;
    expect(await gallery.page.evaluate(ambiguous)).toBe(0);
  });

  test('it loads nothing', () =>
    expectOneRequest(gallery.page, () => gallery.open('hostile', name)));
});

// prettier-ignore
const SAYINGS: [string, string[]][] = [
  ['home', ['€12.00 every 3 months · 12 units', 'Next payment 5 March 2027', 'Resumes on 1 April 2027', 'Free until 5 March 2027',
    'Ended on 1 February 2027', 'Access is blocked', '6,200 of 10,000 calls used', '1,200 of 1,000 calls used (200 over)',
    '0.05 calls used, without a limit', 'API calls Included', 'Starts afresh on 5 March 2027', 'Visa •••• 4242 good until 03/2034',
    'Next invoice', '€31.49 On 5 March 2027, with what was used so far.', 'Atlas Pro · 12 €12.00', 'API calls · 1,949,500.5 €19.50', 'API calls, correction -€0.01']],
  ['told', ['The subscription will end with its period.']],
  ['empty', ['There is none on file.']],
  ['cancel', ['Access until 5 March 2027; no further charge.', 'Access ends at once', 'rest of the period']],
  ['cancel_trial', ['At the end of the trial', 'rest of the trial']],
  ['cancel_overdue', ['What is unpaid is not collected any more.']],
  ['cancel_paused', ['It stays paused until 5 March 2027']],
  ['uncancel', ['The next payment of €12.00 a month is on 5 March 2027.']],
  ['pause', ['Access stops at once.', 'Nothing is charged while it is paused.', 'Northwind Maps may bill them later']],
  ['resume', ['runs until 5 March 2027; nothing is charged for it again.']],
  ['resume_charged', ['€12.00 a month is charged at once to Visa •••• 4242.', 'It ends with that period.']],
  ['method', ['Northwind Maps charges it from now on instead of Visa •••• 4242.']],
  ['method_elsewhere', ['You enter it on the next page, at Stripe. Then you come back here.', 'Continue to Stripe']],
  ['method_unfinished', ['It is not finished at Stripe. Nothing was changed yet.', 'Continue to Stripe']],
  ['unauthorized', ['It has expired, was withdrawn, or was not copied as a whole.']],
];

test.each(SAYINGS)('%s says what happens, and when', async (name, sayings) => {
  await gallery.open('plain', name);
  const shown = (await gallery.page.locator('body').innerText()).replaceAll(/\s+/g, ' ');
  for (const saying of sayings) expect(shown).toContain(saying);
});

test('what is scheduled to end can only be brought forward', async () => {
  await gallery.open('plain', 'cancel_scheduled');
  expect(await gallery.page.locator('[name=mode]').count()).toBe(1);
  expect(await gallery.page.locator('[name=mode]:checked').getAttribute('value')).toBe('immediate');
});

test('text that reads from right to left does', async () => {
  await gallery.open('rightToLeft', 'home');
  const direction = await gallery.page.evaluate(
    `getComputedStyle(document.querySelector('h3')).direction`,
  );
  expect(direction).toBe('rtl');
});

test('a bar is as long as what is used', async () => {
  await gallery.open('plain', 'home');
  const widths = await gallery.page
    .locator('.bar rect')
    .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('width')));
  expect(widths).toEqual(['62%', '85%', '100%', '100%']);
});
