import { Elysia } from 'elysia';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findOrganisation, updateOrganisation } from '../../records/organisations.ts';
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
  summary: 'Get the organization and its settings',
  description: 'In the mode of the key.',
  tag,
  answers: { 200: Organization },
} as const;

const CHANGE = {
  operationId: 'updateOrganization',
  summary: 'Change the settings of the organization',
  description:
    'In the mode of the key alone: a test key cannot reach what live invoices say. Of `seller`, `dunning` and `branding` what is left ' +
    'out stays as it is; `null` clears a field of the seller or the branding. Invoices that were issued keep the seller that they ' +
    'have, and show the branding of now. Each part that changed fires one `organization.config_changed`.',
  tag,
  body: OrganizationChange,
  answers: { 200: Organization },
} as const;

export function organizationRoutes(deps: OrganizationRoutesDeps) {
  return new Elysia()
    .get('/organization', ...readOrganization(deps))
    .patch('/organization', ...changeOrganization(deps));
}

function readOrganization({ edge, sql, settings }: OrganizationRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal }) =>
    Response.json(fromOrganisation(await findOrganisation(sql, principal), settings.appUrl)),
  );
}

function changeOrganization(deps: OrganizationRoutesDeps): Route {
  const { edge, sql, ids, orgClock, settings } = deps;
  return edge.organisation(CHANGE, async ({ principal, body }) => {
    const patch = toOrganisationPatch(body);
    if ('issues' in patch) return refuseInvalid(patch.issues);
    const changed = await sql.begin((transaction) =>
      updateOrganisation(transaction, principal, {
        patch,
        actor: principal.actor.id,
        newEventId: () => ids.next(),
        now: orgClock.now(principal),
      }),
    );
    return typeof changed === 'string'
      ? refuseInvalid([dunningIssue(changed, body)])
      : Response.json(fromOrganisation(changed, settings.appUrl));
  });
}
