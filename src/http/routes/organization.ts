import type { Mode, Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import type { Sql, Transaction } from '../../platform/postgres/postgres.ts';
import {
  findOrganisation,
  holdSettings,
  type OrganisationPatch,
  updateOrganisation,
} from '../../records/organisations.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import { isForBothModes } from '../edge/both-modes.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuseInvalid } from '../edge/errors.ts';
import {
  dunningIssue,
  fromOrganisation,
  Organization,
  OrganizationChange,
  toOrganisationPatch,
} from '../wire/organization.ts';

export type OrganizationRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly settings: Pick<Settings, 'appUrl'>;
};

const tag = 'Organization';

const READ = {
  operationId: 'getOrganization',
  method: 'GET',
  path: '/organization',
  client: 'organization.retrieve',
  summary: 'Get the organization and its settings',
  description: 'In the mode of the key.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  answers: { 200: Organization },
} as const;

const CHANGE = {
  operationId: 'updateOrganization',
  method: 'PATCH',
  path: '/organization',
  client: 'organization.update',
  summary: 'Update the settings of the organization',
  description:
    'In the mode of the key only: a test key cannot change what live invoices say. A new `name` ' +
    'is for both modes, except with a test key. Of `seller`, `dunning` and `branding` an omitted ' +
    'field keeps its value; `null` clears a field of the seller or the branding. Issued invoices ' +
    'keep their seller and show the current branding. Each changed part sends one ' +
    '`organization.config_changed`.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'organization', before: READ, isOfBothModes: ['name'] },
  body: OrganizationChange,
  answers: { 200: Organization },
} as const;

export function organizationRoutes(deps: OrganizationRoutesDeps): Route[] {
  return [readOrganization(deps), changeOrganization(deps)];
}

function readOrganization({ edge, sql, settings }: OrganizationRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal }) =>
    Response.json(fromOrganisation(await findOrganisation(sql, principal), settings.appUrl)),
  );
}

function changeOrganization(deps: OrganizationRoutesDeps): Route {
  const { edge, sql, settings } = deps;
  return edge.organisation(CHANGE, async ({ principal, body }) => {
    const patch = toOrganisationPatch(body);
    if ('issues' in patch) return refuseInvalid(patch.issues);
    const changed = await sql.begin((transaction) =>
      changeWithName(deps, transaction, { principal, patch }),
    );
    return typeof changed === 'string'
      ? refuseInvalid([dunningIssue(changed, body)])
      : Response.json(fromOrganisation(changed, settings.appUrl));
  });
}

/** A new name is given in the other mode, too, by whom both modes are open to. */
async function changeWithName(
  { ids, orgClock }: OrganizationRoutesDeps,
  sql: Transaction,
  asked: { readonly principal: OrganisationPrincipal; readonly patch: OrganisationPatch },
) {
  const { principal } = asked;
  const update = (scope: Tenant, patch: OrganisationPatch) =>
    updateOrganisation(sql, scope, {
      patch,
      actor: principal.actor.id,
      newEventId: () => ids.next(),
      now: orgClock.now(scope),
    });
  if (!isForBothModes(principal)) return update(principal, asked.patch);
  await holdSettings(sql, principal.organisationId);
  const before = await findOrganisation(sql, principal);
  const changed = await update(principal, asked.patch);
  if (typeof changed === 'string' || changed.name === before.name) return changed;
  const { organisationId, mode } = principal;
  const other: Mode = mode === 'live' ? 'test' : 'live';
  await update({ organisationId, mode: other }, { name: changed.name });
  return changed;
}
