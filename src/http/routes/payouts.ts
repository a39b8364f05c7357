import { ofScope } from '../../records/page.ts';
import { listPayouts } from '../../records/payouts.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuseInvalid } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { answerList } from '../list.ts';
import { fromTo } from '../wire/from-to.ts';
import { fromPayout, Payout, PayoutQuery } from '../wire/payouts.ts';
import { ListOf } from '../wire/values.ts';

export type PayoutRoutesDeps = { readonly edge: Edge; readonly lists: FairSql };

const LIST = {
  operationId: 'listPayouts',
  method: 'GET',
  path: '/reports/payouts',
  client: 'reports.payouts',
  summary: 'List payouts of the connected accounts, newest first',
  description:
    'What the processor has paid to the bank, and what each payout consists of. They are read ' +
    'each night by the reconciliation.',
  tag: 'Reports',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: PayoutQuery,
  answers: { 200: ListOf(Payout) },
} as const;

export function payoutRoutes(deps: PayoutRoutesDeps): Route[] {
  return [readPayouts(deps)];
}

function readPayouts({ edge, lists }: PayoutRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const times = fromTo(query);
    if ('length' in times) return refuseInvalid(times);
    return answerList(
      lists,
      { principal, query },
      {
        name: 'payouts',
        whose: ofScope(principal),
        rows: (sql, page) => listPayouts(sql, principal, { ...page, ...times }),
        show: fromPayout,
      },
    );
  });
}
