import type { Mode } from './api-keys.ts';

/** Whose rows: nothing outside of it is ever seen. */
export type Scope = { readonly organisationId: string; readonly mode: Mode };

/** Of a record or a caller: nothing else of it. */
export function scopeOf({ organisationId, mode }: Scope): Scope {
  return { organisationId, mode };
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether PostgreSQL would take it as a uuid. Anything else cannot be an id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
