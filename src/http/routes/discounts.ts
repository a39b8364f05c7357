import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { deleteDiscount, insertDiscount, listDiscounts } from '../../records/discounts.ts';
import { ofScope } from '../../records/page.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { errorText, refuse, refuseInvalid } from '../edge/errors.ts';
import { type Answer, answer, once, refusal } from '../idempotency/idempotency.ts';
import { answerList, PAGE } from '../list.ts';
import { Discount, DiscountCreate, fromDiscount, toNewDiscount } from '../wire/discounts.ts';
import { Body, ListOf } from '../wire/values.ts';

export type DiscountRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly settings: Settings;
};

const tag = 'Discounts';

const CREATE = {
  operationId: 'createDiscount',
  method: 'POST',
  path: '/discounts',
  client: 'discounts.create',
  summary: 'Create a discount code',
  description:
    'Either `percent_off`, or `amount_off` with its `currency`; the latter applies only to ' +
    'prices in that currency.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'discount' },
  body: DiscountCreate,
  idempotent: true,
  answers: { 201: Discount },
  refusals: ['conflict'],
} as const;

const LIST = {
  operationId: 'listDiscounts',
  method: 'GET',
  path: '/discounts',
  client: 'discounts.list',
  summary: 'List discounts, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body(PAGE),
  answers: { 200: ListOf(Discount) },
} as const;

const DELETE = {
  operationId: 'deleteDiscount',
  method: 'DELETE',
  path: '/discounts/{id}',
  client: 'discounts.del',
  summary: 'Delete a discount',
  description:
    'The code no longer works and can be used for a new discount. Past payments stay as they are.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'discount' },
  params: { id: 'The id of the discount.' },
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

/** Judged within the attempt: a retry may come after the discount, made in time, has expired. */
const EXPIRED: Answer = {
  status: 400,
  body: errorText('invalid_request', 'expires_at must be in the future', [
    { path: ['expires_at'], message: 'must be in the future' },
  ]),
};

export function discountRoutes(deps: DiscountRoutesDeps): Route[] {
  return [createDiscount(deps), readDiscounts(deps), removeDiscount(deps)];
}

function createDiscount(deps: DiscountRoutesDeps): Route {
  const { edge, sql, ids, orgClock } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(CREATE, ({ principal, body, idempotencyKey: key }) => {
    const discount = toNewDiscount(body, ids.next());
    if ('issues' in discount) return refuseInvalid(discount.issues);
    const now = orgClock.now(principal);
    const attempt = { sql, principal, operation: CREATE, key, body, now };
    return once(attempt, async (transaction) => {
      const { expiresAt } = discount;
      if (expiresAt !== null && expiresAt.getTime() <= now) return EXPIRED;
      const made = await insertDiscount(transaction, principal, { discount, bounds, now });
      if (made instanceof Full) return refusal('conflict', made.message);
      if (made === 'code_taken') return refusal('conflict', 'another discount has this code');
      return answer(201, fromDiscount(made));
    });
  });
}

function readDiscounts({ edge, lists }: DiscountRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'discounts',
        whose: ofScope(principal),
        rows: (sql, page) => listDiscounts(sql, principal, page),
        show: fromDiscount,
      },
    ),
  );
}

function removeDiscount({ edge, sql, orgClock }: DiscountRoutesDeps): Route {
  return edge.organisation(DELETE, async ({ principal, params: { id } }) => {
    const isDeleted = await deleteDiscount(sql, principal, { id, now: orgClock.now(principal) });
    return isDeleted
      ? new Response(null, { status: 204 })
      : refuse('not_found', 'no such discount');
  });
}
