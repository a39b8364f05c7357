// Which files of the repository each file depends on.
//
// A file depends on what it imports, and on every path that it writes as a string, relative to
// itself or to the root: programs that it starts, documents that it reads, directories of
// migrations. A directory stands for all its files. A path counts wherever it is written; one that
// is built at run time is not seen.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dir, '../..');

/** A quoted string with a slash or an extension. */
const PATH = /(['"`])((?:[\w@.-]+\/)*[\w@.-]*[./][\w@.-]*)\1/g;
const PARSED = /\.ts$/;

/** Paths are relative to the root. */
export class Graph {
  readonly #edges = new Map<string, readonly string[]>();

  /** `file` and all that it depends on, directly or not. */
  reach(file: string): ReadonlySet<string> {
    const reached = new Set([file]);
    for (const at of reached) for (const next of this.#dependenciesOf(at)) reached.add(next);
    return reached;
  }

  #dependenciesOf(file: string): readonly string[] {
    const known = this.#edges.get(file);
    if (known !== undefined) return known;
    const found = PARSED.test(file) ? namedIn(file) : [];
    this.#edges.set(file, found);
    return found;
  }
}

function namedIn(file: string): string[] {
  const named = new Set<string>();
  const source = readFileSync(join(ROOT, file), 'utf8');
  for (const [, , path] of source.matchAll(PATH)) {
    const base = path!.startsWith('.') ? dirname(join(ROOT, file)) : ROOT;
    for (const found of filesAt(resolve(base, path!), file)) named.add(found);
  }
  return [...named];
}

/** The file, or the files of the directory, unless `from` is in it. */
function filesAt(path: string, from: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  const found = relative(ROOT, path);
  if (stat === undefined || found.startsWith('..') || found.startsWith('node_modules')) return [];
  if (stat.isFile()) return [found];
  if (found === '' || `${from}/`.startsWith(`${found}/`)) return [];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}
