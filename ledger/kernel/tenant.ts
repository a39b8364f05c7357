/** Test data and live data of one organisation never meet. */
export type Mode = 'test' | 'live';

/** One organisation in one mode. A tenant sees its own rows only. */
export type Tenant = { readonly organisationId: string; readonly mode: Mode };

/** The tenant of a record or a caller, without the rest of it. */
export function tenantOf({ organisationId, mode }: Tenant): Tenant {
  return { organisationId, mode };
}
