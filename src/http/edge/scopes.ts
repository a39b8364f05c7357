// What a key may do, by its scope. The whole table.
//
// Who reads it: the edge, before it looks at anything but the key; the OpenAPI document.
// Holds: a new route is `all` only, or `read` where it is a GET. `metering` is listed by name.
import { KEY_SCOPES, type KeyScope } from '../../records/api-keys.ts';

/** The operations of the hot path, and what it reads. */
const METERING: ReadonlySet<string> = new Set([
  'checkEntitlement',
  'checkEntitlements',
  'trackUsage',
  'trackUsages',
  'ingestEvents',
  'listBalances',
]);

/** Whether a key of this scope may call an operation. */
export function mayCall(scope: KeyScope, operationId: string, method: string): boolean {
  if (scope === 'read') return method === 'GET' || method === 'HEAD';
  if (scope === 'metering') return METERING.has(operationId);
  return true;
}

/** The scopes that may call it. */
export function scopesOf(operationId: string, method: string): readonly KeyScope[] {
  return KEY_SCOPES.filter((scope) => mayCall(scope, operationId, method));
}
