// A call about customers of several nodes counts in full and once, though one owner falls silent
// while it records.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { balanced } from '../support/balanced.ts';
import type { TestServer } from '../support/server.ts';
import { untilReady } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

/** Longer than any other call waits for an owner. */
const LEASE_MS = 2500;

/** A customer that this node owns and has in memory. */
export async function customerOf(nodes: Nodes, owner: TestServer): Promise<string> {
  for (;;) {
    const { json } = await owner.call('POST', '/customers', { body: {} });
    if ((await nodes.ownerOf(json.id)) !== owner) continue;
    expect(await consumed(owner, json.id)).toBe(0);
    return json.id;
  }
}

/** As a retrying caller sees it. */
async function consumed(node: TestServer, id: string): Promise<number> {
  for (;;) {
    const body = { feature_key: 'calls', customer_id: id };
    const { status, json } = await node.call('POST', '/check', { body });
    if (status === 200) return json.consumed;
  }
}

export type Silence = readonly [
  fault: 'freeze' | 'deafen',
  nodes: number,
  asked: string,
  which: number,
];

/** The tests of a file; its cluster. */
export function testSilentOwners(cases: readonly Silence[]): () => Nodes {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await startNodes(2, { leaseMs: LEASE_MS });
    await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls', event_name: 'call' } });
  }, 60_000);
  afterAll(() => nodes.stop());
  afterEach(async () => {
    const [steady, silent] = nodes.all;
    silent!.journal.thaw();
    silent!.journal.cut();
    await untilReady(silent!);
    await balanced(nodes.all);
    expect(await audit(steady!.sql)).toEqual([]);
  }, 60_000);

  test.each(cases)(
    'an owner of a part can %s while it records: %i nodes, asked of %s',
    async (fault, count, _who, at) => {
      while (nodes.all.length < count) await nodes.join();
      await balanced(nodes.all);
      const [steady, silent] = nodes.all;
      const ids = [await customerOf(nodes, steady!), await customerOf(nodes, silent!)];
      // Without keys: only the nodes know that it is the same call.
      const body = { events: ids.map((id) => ({ name: 'call', customer_id: id })) };
      silent!.journal[fault]();
      const { status, json } = await nodes.all[at]!.call('POST', '/events/ingest', { body });
      expect([status, json]).toMatchObject([200, { inserted: 2, duplicates: 0 }]);
      expect(await Promise.all(ids.map((id) => consumed(steady!, id)))).toEqual([1, 1]);
    },
    30_000,
  );

  return () => nodes;
}
