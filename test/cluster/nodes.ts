// Several nodes on one database, in this process: each with a port, a seat and slots of its own.
import { slotOf } from '../../ledger/kernel/slot.ts';
import { balanced } from '../support/balanced.ts';
import { newPlace } from '../support/new-place.ts';
import { type ServerOptions, startServer, type TestServer } from '../support/server.ts';

export type Nodes = {
  readonly all: TestServer[];
  /** Starts one more; resolves when the slots have moved. */
  join(): Promise<TestServer>;
  /** Stops one as SIGTERM does; resolves when it has ended. */
  leave(node: TestServer): Promise<void>;
  /** The node that owns this customer or payment, as the database says. */
  ownerOf(id: string): Promise<TestServer>;
  /** Any other node. */
  strangerTo(id: string): Promise<TestServer>;
  stop(): Promise<void>;
};

/** `options` may differ from node to node. */
export async function startNodes(
  count: number,
  options: ServerOptions | ((index: number) => ServerOptions) = {},
): Promise<Nodes> {
  const all: TestServer[] = [];
  const addresses = new Map<TestServer, string>();
  const join = async (): Promise<TestServer> => {
    const [beside] = all;
    const place = await newPlace();
    const its = typeof options === 'function' ? options(all.length) : options;
    const own = { ...its, node: place };
    const node = await startServer(beside === undefined ? own : { ...own, beside });
    all.push(node);
    addresses.set(node, place.address);
    await balanced(all);
    return node;
  };
  for (let i = 0; i < count; i += 1) await join();
  const ownerOf = async (id: string): Promise<TestServer> => {
    const [row] = await all[0]!.sql<{ address: string }[]>`
      select address from slots s join nodes n on n.id = s.node where slot = ${slotOf(id)}`;
    return all.find((node) => addresses.get(node) === row?.address)!;
  };
  return {
    all,
    join,
    async leave(node) {
      all.splice(all.indexOf(node), 1);
      await node.stop();
    },
    ownerOf,
    async strangerTo(id) {
      const owner = await ownerOf(id);
      return all.find((node) => node !== owner)!;
    },
    async stop() {
      // The database belongs to the first node and ends with it.
      for (const node of all.toReversed()) await node.stop();
    },
  };
}
