// Copies of the tree in which faults are planted, each with the servers that its tests use.
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyTree } from '../support/planted-tree.ts';
import { ROOT } from '../run/graph.ts';
import { openThrowAway, scratch } from '../run/services.ts';

export type Copy = {
  readonly folder: string;
  /** Of its tests. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

const LEFT_OUT = /\/(?:node_modules|\.git|coverage|dist)$/;

/** What the rules need. */
export function copyOfRules(): Copy {
  const folder = copyTree();
  return { folder, env: {}, stop: () => Promise.resolve(remove(folder)) };
}

/** All of it, with servers of its own: a file that empties Redis runs once on each at a time. */
export async function copyOfAll(): Promise<Copy> {
  const services = await openThrowAway(mkdtempSync(join(scratch(), 'tollhouse-mutate-')));
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-planted-'));
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !LEFT_OUT.test(path) });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    env: { TEST_DATABASE_URL: services.databaseUrl, TEST_REDIS_URL: services.redisUrl },
    async stop() {
      await services.stop();
      // Now that no test writes there any more.
      remove(folder);
    },
  };
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Does it for each item, in a copy that nothing else uses meanwhile. */
export async function inCopies<T, R>(
  copies: readonly Copy[],
  items: readonly T[],
  work: (copy: Copy, item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const drain = async (copy: Copy): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, item] = next;
      results[index] = await work(copy, item);
    }
  };
  await Promise.all(copies.map(drain));
  return results;
}
