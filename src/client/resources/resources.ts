// All resources. Every operation has one method, or this does not compile.
import type { Caller } from '../caller.ts';
import type { OperationId } from '../operations.ts';
import { alerts } from './alerts.ts';
import { meters } from './meters.ts';
import { customers } from './customers.ts';
import { grants } from './grants.ts';
import { reservations } from './reservations.ts';
import { decisions } from './decisions.ts';
import { portalTokens } from './portal-tokens.ts';
import { products } from './products.ts';
import { discounts } from './discounts.ts';
import { checkouts } from './checkouts.ts';
import { payments, refunds } from './payments.ts';
import { reports } from './reports.ts';
import { subscriptions } from './subscriptions.ts';
import { invoices } from './invoices.ts';
import { events } from './events.ts';
import { webhookEndpoints, deliveries, partnerWebhookEndpoints } from './webhook-endpoints.ts';
import { organization } from './organization.ts';
import { apiKeys } from './api-keys.ts';
import { auditLog } from './audit-log.ts';
import { members, invitations } from './members.ts';
import { testClock } from './test-clock.ts';
import { tags, customFields } from './annotations.ts';
import { usage } from './usage.ts';
import { type Resource, resourceOf, type Table } from './resource.ts';

const TABLES = {
  meters,
  customers,
  grants,
  alerts,
  reservations,
  decisions,
  portalTokens,
  products,
  discounts,
  checkouts,
  payments,
  refunds,
  reports,
  subscriptions,
  invoices,
  events,
  webhookEndpoints,
  deliveries,
  partnerWebhookEndpoints,
  organization,
  apiKeys,
  auditLog,
  members,
  invitations,
  tags,
  customFields,
  testClock,
  usage,
} satisfies Record<string, Table>;

/** These are methods of the client itself. Operations without a key are pages for browsers. */
type OfClient =
  | 'checkEntitlement'
  | 'checkEntitlements'
  | 'streamEvents'
  | 'trackUsage'
  | 'trackUsages';

type Values<T> = T[keyof T];
type InTables = Values<{ [Name in keyof typeof TABLES]: Values<(typeof TABLES)[Name]> }>;

type Complete<T, _Missing extends never> = T;

type Tables = Complete<typeof TABLES, Exclude<OperationId, InTables | OfClient>>;

export type Resources = { readonly [Name in keyof Tables]: Resource<Tables[Name]> };

export function resourcesOf(caller: Caller): Resources {
  const all = Object.entries(TABLES).map(([name, table]) => [name, resourceOf(caller, table)]);
  return Object.fromEntries(all) as Resources;
}
