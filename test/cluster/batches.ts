// Batches of usages, as a caller sends them to a node of several.
import type { TestServer } from '../support/server.ts';
import type { Nodes } from './nodes.ts';

export type Result = {
  readonly consumed: number;
  readonly duplicate: boolean;
  readonly error?: { readonly type: string };
};

export async function customers(nodes: Nodes, count: number): Promise<string[]> {
  const made = Array.from({ length: count }, () =>
    nodes.all[0]!.call('POST', '/customers', { body: {} }),
  );
  return (await Promise.all(made)).map(({ json }) => json.id as string);
}

export const item = (id: string, fields: object = {}) => ({
  feature_key: 'calls',
  customer_id: id,
  ...fields,
});

export async function batch(node: TestServer, tracks: readonly object[], headers = {}) {
  const { status, json } = await node.call('POST', '/track/batch', { body: { tracks }, headers });
  return { status, results: (json.results ?? []) as Result[] };
}

export const whatIsSaid = (result: Result) => result.error?.type ?? result.consumed;

/** As a retrying caller sees it. */
export async function consumed(node: TestServer, id: string): Promise<number> {
  for (;;) {
    const { status, json } = await node.call('POST', '/check', { body: item(id) });
    if (status === 200) return json.consumed;
  }
}
