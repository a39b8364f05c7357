import type { Sql } from '../../platform/postgres/postgres.ts';
import { findSecurity, updateSecurity } from '../../records/security.ts';
import { isForBothModes, notForTestKeys } from '../edge/both-modes.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { fromSecurity, Security, SecurityChange } from '../wire/security.ts';
import { NoQuery } from '../wire/values.ts';

export type SecurityRoutesDeps = { readonly edge: Edge; readonly sql: Sql };

const tag = 'Members';

const READ = {
  operationId: 'getSecurity',
  method: 'GET',
  path: '/organization/security',
  client: 'organization.retrieveSecurity',
  summary: 'Get the security settings',
  description: 'The same in both modes.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: NoQuery,
  answers: { 200: Security },
} as const;

const CHANGE = {
  operationId: 'updateSecurity',
  method: 'PATCH',
  path: '/organization/security',
  client: 'organization.updateSecurity',
  summary: 'Update the security settings',
  description:
    "An omitted field keeps its value. Applies from each member's next request on. A test key is " +
    'refused.',
  tag,
  roles: ['owner'],
  scopes: ['all'],
  audit: { object: 'security', before: READ, isOfBothModes: true },
  body: SecurityChange,
  answers: { 200: Security },
} as const;

export function securityRoutes(deps: SecurityRoutesDeps): Route[] {
  return [readSecurity(deps), changeSecurity(deps)];
}

function readSecurity({ edge, sql }: SecurityRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal }) =>
    Response.json(fromSecurity(await findSecurity(sql, principal.organisationId))),
  );
}

function changeSecurity({ edge, sql }: SecurityRoutesDeps): Route {
  return edge.organisation(CHANGE, async ({ principal, body }) => {
    if (!isForBothModes(principal)) return notForTestKeys();
    const patch = {
      requiresSecondFactor: body.require_second_factor ?? null,
      refundStepUpAmount: body.refund_step_up_amount ?? null,
    };
    return Response.json(fromSecurity(await updateSecurity(sql, principal.organisationId, patch)));
  });
}
