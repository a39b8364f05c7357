// Pools of credits over HTTP.
import { expect } from 'bun:test';
import type { Reply, TestServer } from '../../support/server.ts';

export type Cost = { readonly feature_key: string; readonly cost: string };

export const cost = (feature_key: string, of = '1'): Cost => ({ feature_key, cost: of });

export const post = (server: TestServer, slug: string, fields: object = {}): Promise<Reply> =>
  server.call('POST', '/meters', { body: { slug, ...fields } });

/** A new meter. */
export async function make(server: TestServer, slug: string, fields: object = {}) {
  const { status, json, text } = await post(server, slug, fields);
  expect([status, text]).toEqual([201, text]);
  return json;
}

/** Features that sum, in whole units. */
export async function features(server: TestServer, ...slugs: string[]): Promise<void> {
  for (const slug of slugs) await make(server, slug, { scale: 0 });
}

export const patch = (server: TestServer, slug: string, credit_costs: readonly Cost[]) =>
  server.call('PATCH', `/meters/${slug}`, { body: { credit_costs } });

/** The paths of a refusal, and how many meters there are: nothing was made. */
export const pathsOf = ({ json }: Reply): string[] =>
  json.error.issues.map(({ path }: { path: string[] }) => path.join('.'));

/** The lists that a pool has had. */
export async function listsOf(server: TestServer, slug: string) {
  const rows = await server.sql<{ number: number; since: Date; costs: string[] }[]>`
    select l.number, l.since, array_remove(array_agg(m.slug || ' ' || c.rate order by c.position), null) as costs
    from credit_cost_lists l join meters p on p.id = l.pool_id
    left join credit_costs c on c.pool_id = l.pool_id and c.number = l.number
    left join meters m on m.id = c.meter_id
    where p.organisation_id = ${server.organisation.id} and p.slug = ${slug} and p.deleted_at is null
    group by l.pool_id, l.number, l.since order by l.number`;
  return [...rows];
}
