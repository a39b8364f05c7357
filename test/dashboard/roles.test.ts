// Who may see and do what in the dashboard: every page and action, for each role, as one table. A
// page without a row fails.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DASHBOARD_PAGES } from '../../src/dashboard/pages.ts';
import { ROLES, type Role } from '../../src/records/members.ts';
import type { Shop } from '../payments/shop.ts';
import { type Book, makeBook, openShop, PLAIN } from './book.ts';
import { type Member, memberOf } from './member.ts';

/** The page, who sees it, and who does what it does: the beginnings of their roles. */
// prettier-ignore
const TABLE: readonly (readonly [path: string, sees: string, acts?: string])[] = [
  ['',                                                'oasr'],
  ['/customers',                                      'oasr'],
  ['/customers/new',                                  'oas',  'oas'],
  ['/customers/:id',                                  'oasr'],
  ['/customers/:id/edit',                             'oas',  'oas'],
  ['/customers/:id/grant',                            'oas',  'oas'],
  ['/customers/:id/grants',                           'oasr'],
  ['/customers/:id/grants/:grant/void',               'oas',  'oas'],
  ['/customers/:id/correct',                          'oas',  'oas'],
  ['/customers/:id/spend-cap',                        'oas',  'oas'],
  ['/customers/:id/alert',                            'oa',   'oa'],
  ['/meters/:id/alert',                               'oa',   'oa'],
  ['/alerts/:id/delete',                              'oa',   'oa'],
  ['/customers/:id/auto-topup',                       'oas',  'oas'],
  ['/customers/:id/portal-link',                      'oas',  'oas'],
  ['/customers/:id/labels',                           'oas',  'oas'],
  ['/why',                                            'oasr'],
  ['/products',                                       'oasr'],
  ['/products/new',                                   'oa',   'oa'],
  ['/products/:id',                                   'oasr'],
  ['/products/:id/edit',                              'oa',   'oa'],
  ['/products/:id/archive',                           'oa',   'oa'],
  ['/products/:id/publish',                           'oa',   'oa'],
  ['/products/:id/buy',                               'oa',   'oa'],
  ['/products/:id/prices/new',                        'oa',   'oa'],
  ['/products/:id/prices/:price/archive',             'oa',   'oa'],
  ['/products/:id/entitlements/new',                  'oa',   'oa'],
  ['/products/:id/entitlements/:entitlement/detach',  'oa',   'oa'],
  ['/products/:id/usage-prices/new',                  'oa',   'oa'],
  ['/products/:id/usage-prices/:price/archive',       'oa',   'oa'],
  ['/meters',                                         'oasr'],
  ['/meters/new',                                     'oa',   'oa'],
  ['/meters/:id',                                     'oasr'],
  ['/meters/:id/edit',                                'oa',   'oa'],
  ['/meters/:id/delete',                              'oa',   'oa'],
  ['/discounts',                                      'oasr'],
  ['/discounts/new',                                  'oa',   'oa'],
  ['/discounts/:id/delete',                           'oa',   'oa'],
  ['/checkouts',                                      'oasr'],
  ['/checkouts/:id',                                  'oasr'],
  ['/checkouts/:id/expire',                           'oa',   'oa'],
  ['/payments',                                       'oasr'],
  ['/payments/:id',                                   'oasr'],
  ['/payments/:id/refund',                            'oas',  'oas'],
  ['/subscriptions',                                  'oasr'],
  ['/subscriptions/:id',                              'oasr'],
  ['/subscriptions/:id/cancel',                       'oas',  'oas'],
  ['/subscriptions/:id/uncancel',                     'oas',  'oas'],
  ['/subscriptions/:id/unschedule',                   'oas',  'oas'],
  ['/subscriptions/:id/pause',                        'oas',  'oas'],
  ['/subscriptions/:id/resume',                       'oas',  'oas'],
  ['/subscriptions/:id/end-trial',                    'oas',  'oas'],
  ['/subscriptions/:id/change',                       'oas',  'oas'],
  ['/dunning',                                        'oasr'],
  ['/invoices',                                       'oasr'],
  ['/invoices/new',                                   'oas',  'oas'],
  ['/invoices/:id',                                   'oasr'],
  ['/invoices/:id/print',                             'oasr'],
  ['/invoices/:id/usage',                             'oasr'],
  ['/invoices/:id/finalize',                          'oas',  'oas'],
  ['/invoices/:id/pay',                               'oas',  'oas'],
  ['/invoices/:id/void',                              'oas',  'oas'],
  ['/events',                                         'oasr'],
  ['/events/:id',                                     'oasr'],
  ['/webhooks',                                       'oasr'],
  ['/webhooks/new',                                   'oa',   'oa'],
  ['/webhooks/:id',                                   'oasr'],
  ['/webhooks/:id/change',                            'oa',   'oa'],
  ['/webhooks/:id/disable',                           'oa',   'oa'],
  ['/webhooks/:id/enable',                            'oa',   'oa'],
  ['/webhooks/:id/delete',                            'oa',   'oa'],
  ['/webhooks/:id/rotate',                            'oa',   'oa'],
  ['/webhooks/:id/sample',                            'oa',   'oa'],
  ['/webhooks/:id/replay',                            'oas',  'oas'],
  ['/deliveries',                                     'oasr'],
  ['/deliveries/:id',                                 'oasr'],
  ['/deliveries/:id/retry',                           'oas',  'oas'],
  ['/keys',                                           'oasr'],
  ['/keys/new',                                       'oa',   'oa'],
  ['/keys/:id/rotate',                                'oa',   'oa'],
  ['/keys/:id/revoke',                                'oa',   'oa'],
  ['/audit-log',                                      'oa'],
  ['/audit-log.csv',                                  'oa'],
  ['/settings',                                       'oasr'],
  ['/settings/organization',                          'oa',   'oa'],
  ['/settings/dunning',                               'oa',   'oa'],
  ['/settings/branding',                              'oa',   'oa'],
  ['/settings/branding/logo',                         'oa',   'oa'],
  ['/settings/branding/logo/remove',                  'oa',   'oa'],
  ['/settings/members',                               'oasr'],
  ['/settings/members/:id',                           'oa',   'oa'],
  ['/settings/members/:id/remove',                    'oa',   'oa'],
  ['/settings/invitations/new',                       'oa',   'oa'],
  ['/settings/invitations/:id/revoke',                'oa',   'oa'],
  ['/settings/security',                              'o',    'o'],
  ['/settings/processor',                             'oasr', 'o'],
  ['/settings/processor/disconnect',                  'o',    'o'],
  ['/test-clock',                                     'oasr', 'oa'],
];

let shop: Shop;
let book: Book;
let strangers: Member;
const members = new Map<Role, Member>();

beforeAll(async () => {
  shop = await openShop();
  book = await makeBook(shop, PLAIN);
  for (const role of ROLES) members.set(role, await memberOf(shop.server, { role }));
  strangers = await memberOf(shop.server, { organisationId: shop.server.other.id });
});
afterAll(() => shop.close());

const isAmong = (letters: string, role: Role): boolean => letters.includes(role[0]!);

test('each page and action of the dashboard has a row in the table of roles', () => {
  const pages = DASHBOARD_PAGES.map(({ path, act }) => [path, act !== undefined] as const);
  const rows = TABLE.map(([path, , acts]) => [path, acts !== undefined] as const);
  expect(rows.map(String).sort()).toEqual(pages.map(String).sort());
});

test.each(ROLES)('%s sees its pages of the dashboard, and no other', async (role) => {
  for (const [path, sees] of TABLE) {
    const { status } = await members.get(role)!.get(book.addressOf(path));
    // What is not there to be seen may be a 404.
    const isShown = status !== 403;
    expect([path, status, isShown]).toEqual([path, status, isAmong(sees, role)]);
    expect([path, status < 500]).toEqual([path, true]);
  }
});

test.each(ROLES)('%s is refused dashboard actions that are not its own', async (role) => {
  const member = members.get(role)!;
  await member.get('');
  for (const [path, , acts] of TABLE) {
    if (acts === undefined || isAmong(acts, role)) continue;
    const { status } = await member.tab.post(member.base + book.addressOf(path));
    expect([path, status]).toEqual([path, 403]);
  }
});

test('ids of another organisation are 404 for every role', async () => {
  const foreign = members.get('owner')!.base;
  await strangers.get('');
  for (const [path, , acts] of TABLE) {
    const address = book.addressOf(path);
    expect([path, (await strangers.tab.get(foreign + address)).status]).toEqual([path, 404]);
    if (path.includes(':')) {
      expect([path, (await strangers.get(address)).status]).toEqual([path, 404]);
    }
    if (acts === undefined) continue;
    const { status } = await strangers.tab.post(foreign + address);
    expect([path, status]).toEqual([path, 404]);
    if (!path.includes(':')) continue;
    const own = await strangers.tab.post(strangers.base + address);
    expect([path, own.status >= 400 && own.status < 500]).toEqual([path, true]);
  }
});

test('a page about what is not there is 404', async () => {
  const owner = members.get('owner')!;
  for (const [path] of TABLE) {
    for (const unknown of path.match(/:\w+/g) ?? []) {
      const address = book.addressOf(path, { [unknown]: '00000000-0000-7000-8000-000000000000' });
      expect([address, (await owner.get(address)).status]).toEqual([address, 404]);
    }
  }
});

test('a page that takes away what an organization has not is 404', async () => {
  for (const path of ['/settings/branding/logo/remove', '/settings/processor/disconnect']) {
    expect([path, (await strangers.get(path)).status]).toEqual([path, 404]);
  }
});
