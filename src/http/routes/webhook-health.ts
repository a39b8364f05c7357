import type { Clock } from '../../../ledger/ports.ts';
import { findOrganisation } from '../../records/organisations.ts';
import { listWebhookHealth } from '../../records/webhook-health.ts';
import { whoseEndpoints } from '../../records/webhook-endpoints.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { answerList } from '../list.ts';
import { ListOf } from '../wire/values.ts';
import {
  fromWebhookHealth,
  WebhookHealth,
  WebhookHealthQuery,
  weekOf,
} from '../wire/webhook-health.ts';

export type WebhookHealthDeps = {
  readonly edge: Edge;
  readonly lists: FairSql;
  /** Deliveries are made on the real time, in test mode too. */
  readonly clock: Clock;
};

const LIST = {
  operationId: 'listWebhookHealth',
  method: 'GET',
  path: '/reports/webhooks',
  client: 'reports.webhookHealth',
  summary: 'List delivery counts by webhook endpoint, newest first',
  description:
    'The state of the deliveries that were created today and in the last seven days, whenever ' +
    'they were sent.',
  tag: 'Reports',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: WebhookHealthQuery,
  answers: { 200: ListOf(WebhookHealth) },
} as const;

export function webhookHealthRoutes(deps: WebhookHealthDeps): Route[] {
  return [readHealth(deps)];
}

function readHealth({ edge, lists, clock }: WebhookHealthDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'webhookEndpoints',
        whose: whoseEndpoints(principal),
        rows: async (sql, page) => {
          const { timezone } = await findOrganisation(sql, principal);
          const times = weekOf(clock.now(), timezone);
          const endpointId = query.endpoint_id;
          return listWebhookHealth(sql, principal, { ...page, ...times, endpointId });
        },
        show: fromWebhookHealth,
      },
    ),
  );
}
