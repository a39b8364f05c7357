// What is sold, and to whom: the catalogue, checkouts, payments, subscriptions, invoices.
import { CHECKOUT_PAGES } from './checkouts.ts';
import { DISCOUNT_PAGES } from './discounts.ts';
import { INVOICE_PAGES } from './invoices.ts';
import { METER_PAGES } from './meters.ts';
import type { DashboardPage } from './serve/page.ts';
import { PAYMENT_PAGES } from './payments.ts';
import { PRODUCT_PART_PAGES } from './product-parts.ts';
import { PRODUCT_SALE_PAGES } from './product-sale.ts';
import { PRODUCT_PAGES } from './products.ts';
import { SUBSCRIPTION_ACTION_PAGES } from './subscription-actions.ts';
import { SUBSCRIPTION_PAGES } from './subscriptions.ts';

export const SALES_PAGES: readonly DashboardPage[] = [
  ...PRODUCT_PAGES,
  ...PRODUCT_SALE_PAGES,
  ...PRODUCT_PART_PAGES,
  ...METER_PAGES,
  ...DISCOUNT_PAGES,
  ...CHECKOUT_PAGES,
  ...PAYMENT_PAGES,
  ...SUBSCRIPTION_PAGES,
  ...SUBSCRIPTION_ACTION_PAGES,
  ...INVOICE_PAGES,
];
