// What a test reaches, kept between runs: to measure it for all files with a server takes longer
// than to plant a sample of faults. It is measured again when anything that the test depends on has
// another text.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Graph, ROOT } from '../run/graph.ts';
import type { Copy } from './copies.ts';
import { type Measured, measure, type Reach, reachFrom } from './reach.ts';

const KEPT = join(tmpdir(), `tollhouse-reach-${userInfo().uid}`);

/** As `reachOf`, of the files alone; null for what fails without a fault. */
export async function keptReachOf(
  copy: Copy,
  test: string,
  { graph, files }: { readonly graph: Graph; readonly files: ReadonlySet<string> },
): Promise<Reach | null> {
  mkdirSync(KEPT, { recursive: true, mode: 0o700 });
  const file = Bun.file(join(KEPT, keyOf(test, graph)));
  if (await file.exists()) {
    const text = Bun.zstdDecompressSync(await file.bytes()).toString();
    return reachFrom(test, JSON.parse(text) as Measured, files);
  }
  try {
    const measured = await measure(copy, test);
    await file.write(Bun.zstdCompressSync(JSON.stringify(measured)));
    return reachFrom(test, measured, files);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return null;
  }
}

function keyOf(test: string, graph: Graph): string {
  const hash = createHash('sha256').update(`${Bun.version} ${test}`);
  for (const path of [...graph.reach(test)].toSorted()) {
    hash.update(path).update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex');
}
