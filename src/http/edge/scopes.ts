// What a key may do, by its scope, and what a member may do, by its role. The whole table.
//
// Who reads it: the edge, before it looks at anything but who calls; the OpenAPI document; the
// dashboard, which shows nobody what the API would refuse.
// Holds: a new route is for the scope `all` and the roles `owner` and `admin`, or for everybody where
// it is a GET. `metering` and `support` are listed by name, and so is what owners alone may do.
import { KEY_SCOPES, type KeyScope } from '../../records/api-keys.ts';
import type { Role } from '../../records/members.ts';

/** What decides what a caller may do. */
export type Scope = KeyScope | Role;

/** The operations of the hot path, and what it reads. */
const METERING: ReadonlySet<string> = new Set([
  'checkEntitlement',
  'checkEntitlements',
  'trackUsage',
  'trackUsages',
  'ingestEvents',
  'createReservation',
  'getReservation',
  'commitReservation',
  'releaseReservation',
  'extendReservation',
  'listBalances',
]);

/** What helps a customer: nothing that changes what is sold, who may come in, or where money goes. */
const SUPPORT: ReadonlySet<string> = new Set([
  'checkEntitlement',
  'checkEntitlements',
  'createCustomer',
  'putCustomer',
  'updateCustomer',
  'trackUsage',
  'createGrant',
  'voidGrant',
  'endTrial',
  'previewSubscriptionChange',
  'previewSubscriptionCancel',
  'previewSubscriptionResume',
  'previewTrialEnd',
  'putSpendCap',
  'deleteSpendCap',
  'putAutoTopup',
  'deleteAutoTopup',
  'createPortalToken',
  'revokePortalToken',
  'refundPayment',
  'replayEvents',
  'retryDelivery',
]);

/** Of the operations about a subscription and an invoice, support may call all. */
const SUPPORT_TOO = /^[a-z]+(?:Subscription|Invoice|Tags?|CustomFields?)$/;

/** Who may come in, and with whose bank: not for an admin. */
const OWNERS: ReadonlySet<string> = new Set([
  'connectProcessor',
  'disconnectProcessor',
  'updateSecurity',
]);

/** What the staff did, and from where: for those who answer for it, and for keys that may read all. */
const ANSWERABLE: ReadonlySet<string> = new Set(['listAuditLog', 'downloadAuditLog']);

/** What no member does: it is for programs. */
const PROGRAMS: ReadonlySet<string> = new Set(['streamEvents']);

/** Whether a caller of this scope or role may call an operation. */
export function mayCall(scope: Scope, operationId: string, method: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  switch (scope) {
    case 'all':
      return true;
    case 'read':
      return isRead;
    case 'metering':
      return METERING.has(operationId);
    case 'owner':
      return !PROGRAMS.has(operationId);
    case 'admin':
      return !PROGRAMS.has(operationId) && !OWNERS.has(operationId);
    case 'support':
      if (PROGRAMS.has(operationId) || ANSWERABLE.has(operationId)) return false;
      return isRead || SUPPORT.has(operationId) || SUPPORT_TOO.test(operationId);
    case 'read_only':
      return isRead && !PROGRAMS.has(operationId) && !ANSWERABLE.has(operationId);
    default:
      return scope satisfies never;
  }
}

/** The scopes of keys that may call it. */
export function scopesOf(operationId: string, method: string): readonly KeyScope[] {
  return KEY_SCOPES.filter((scope) => mayCall(scope, operationId, method));
}
