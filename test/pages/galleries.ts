// The pages of the checkout, the portal and an invoice, each with texts of several kinds, and what
// they must say.
import { checkoutPage } from '../../src/pages/checkout/page.ts';
import { invoicePage } from '../../src/pages/invoice.ts';
import { hostile, type Pages } from './gallery.ts';
import { type InvoiceTexts, PLAIN_INVOICE, sheet } from './invoice-sheets.ts';
import { everyPortalPage, PLAIN_PORTAL, type PortalTexts } from './portal-views.ts';
import { everyView, PLAIN, type Texts } from './views.ts';

export type Row = {
  readonly name: string;
  /** Of the texts of others, what it shows. */
  readonly shown: readonly string[];
  /** With plain texts. */
  readonly says: readonly string[];
};

export type Kinds = Readonly<Record<'plain' | 'hostile' | 'long' | 'rightToLeft', Pages[string]>>;

const checkoutPages = (texts: Texts) =>
  Object.fromEntries(
    Object.entries(everyView(texts)).map(([state, view]) => [state, () => checkoutPage(view)]),
  );
const invoicePages = (texts: InvoiceTexts) => ({ invoice: () => invoicePage(sheet(texts)) });

const HOSTILE = hostile(PLAIN);
const HOSTILE_PORTAL = hostile(PLAIN_PORTAL);
const HOSTILE_INVOICE = hostile(PLAIN_INVOICE);

const CHECKOUT: Kinds = {
  plain: checkoutPages(PLAIN),
  hostile: checkoutPages(HOSTILE),
  long: checkoutPages({
    ...PLAIN,
    product: 'Donau'.repeat(30),
    email: `${'a'.repeat(60)}@example.com`,
  }),
  rightToLeft: checkoutPages({
    ...PLAIN,
    merchant: 'מטבעות',
    product: 'مدخل الجسر 12',
    name: 'נועה',
  }),
};

export const PORTAL: Kinds = {
  plain: everyPortalPage(PLAIN_PORTAL),
  hostile: everyPortalPage(HOSTILE_PORTAL),
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

const INVOICE: Kinds = {
  plain: invoicePages(PLAIN_INVOICE),
  hostile: invoicePages(HOSTILE_INVOICE),
  long: invoicePages({
    ...PLAIN_INVOICE,
    seller: 'Donau'.repeat(30),
    feature: 'fahrt'.repeat(20),
  }),
  rightToLeft: invoicePages({ ...PLAIN_INVOICE, feature: 'طلبات (API)' }),
};

/** The texts that a page of the portal shows. */
const SHOWN: Readonly<Record<string, readonly (keyof PortalTexts)[]>> = {
  home: ['merchant', 'plan', 'customer', 'email', 'feature', 'unit', 'invoice'],
  cancel_overdue: ['merchant', 'plan', 'refusal'],
  pause: ['merchant', 'plan'],
  method_wrong: ['merchant', 'refusal'],
  method_elsewhere: ['merchant', 'refusal'],
};

// prettier-ignore
const SAYINGS: readonly (readonly [page: string, says: readonly string[]])[] = [
  ['home', ['€12.00 every 3 months · 12 units', 'Next payment 5 March 2027', 'Resumes on 1 April 2027', 'Free until 5 March 2027',
    'Ended on 1 February 2027', 'Access is blocked', '6,200 of 10,000 calls used', '1,200 of 1,000 calls used (200 over)',
    '0.05 calls used, no limit', 'API calls Included', 'Resets on 5 March 2027', 'Visa •••• 4242 expires 03/2034',
    'Next invoice', '€31.49 On 5 March 2027, with the usage so far.', 'Atlas Pro · 12 €12.00', 'API calls · 1,949,500.5 €19.50', 'API calls, correction -€0.01']],
  ['told', ['The subscription ends with its period.']],
  ['empty', ['No payment method on file.']],
  ['cancel', ['Access until 5 March 2027; no further charge.', 'Access ends at once', 'rest of the period']],
  ['cancel_trial', ['At the end of the trial', 'rest of the trial']],
  ['cancel_overdue', ['Unpaid invoices are no longer collected.']],
  ['cancel_paused', ['It stays paused until 5 March 2027']],
  ['uncancel', ['The next payment of €12.00 a month is on 5 March 2027.']],
  ['pause', ['Access stops at once.', 'Nothing is charged while it is paused.', 'Northwind Maps may bill them later']],
  ['resume', ['runs until 5 March 2027 and is not charged again.']],
  ['resume_charged', ['€12.00 a month is charged at once to Visa •••• 4242.', 'It ends with that period.']],
  ['method', ['Northwind Maps charges it from now on instead of Visa •••• 4242.']],
  ['method_elsewhere', ['You enter it on the next page, at Stripe. Then you come back here.', 'Continue to Stripe']],
  ['method_unfinished', ['You have not finished at Stripe. Nothing has changed yet.', 'Continue to Stripe']],
  ['unauthorized', ['It may have expired, been withdrawn, or not been copied completely.']],
];

const { merchant, product, description } = HOSTILE;

export const GALLERIES: readonly (readonly [name: string, kinds: Kinds, rows: readonly Row[]])[] = [
  [
    'checkout',
    CHECKOUT,
    Object.keys(CHECKOUT.plain).map((name) => ({
      name,
      shown: name === 'not_found' ? [] : [merchant, product, description],
      says: [],
    })),
  ],
  [
    'portal',
    PORTAL,
    Object.keys(PORTAL.plain).map((name) => ({
      name,
      shown: (SHOWN[name] ?? []).map((key) => HOSTILE_PORTAL[key]),
      says: SAYINGS.find(([page]) => page === name)?.[1] ?? [],
    })),
  ],
  [
    'invoice',
    INVOICE,
    [{ name: 'invoice', shown: Object.values(HOSTILE_INVOICE), says: ['990,000 at $0.0002 each'] }],
  ],
];
