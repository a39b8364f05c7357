// The imports of a file, in every form of the language. Two readers, and the union counts: Bun's
// own parser drops type-only imports, the pattern below keeps them.
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { withoutComments } from './source.ts';
import { lineAt } from './tree.ts';

export type Import = { specifier: string; line: number; typeOnly: boolean; reExport: boolean };

const STATEMENT =
  /(?:^|[;}])[ \t]*(import|export)\b\s*(type\b(?!\s+from)\s*)?(?:[\w$*{][^'"`;=()]*?\bfrom\s*)?(['"])([^'"\n]+)\3/gm;
const CALL = /\b(?:import|require)\s*\(\s*(['"])([^'"\n]+)\1/g;
const COMPUTED = /\b(?:import|require)\s*\(\s*(?!['"\s])/g;

const transpiler = new Bun.Transpiler({ loader: 'ts' });

export function scanImports(source: string): Import[] {
  const text = withoutComments(source);
  const found: Import[] = [];
  for (const match of text.matchAll(STATEMENT)) {
    const [, keyword, type, , specifier] = match;
    found.push({
      specifier: specifier!,
      line: lineAt(text, match.index + match[0].indexOf(keyword!)),
      typeOnly: type !== undefined,
      reExport: keyword === 'export',
    });
  }
  for (const match of text.matchAll(CALL)) {
    found.push({
      specifier: match[2]!,
      line: lineAt(text, match.index),
      typeOnly: false,
      reExport: false,
    });
  }
  for (const { path } of transpiler.scanImports(source)) {
    if (found.some((known) => known.specifier === path && !known.typeOnly)) continue;
    found.push({ specifier: path, line: 1, typeOnly: false, reExport: false });
  }
  return found;
}

/** Lines with `import(expression)`: a table cannot say what that reaches. */
export function scanComputedImports(source: string): number[] {
  const text = withoutComments(source);
  return [...text.matchAll(COMPUTED)].map((match) => lineAt(text, match.index));
}

/** A repository path, `node:x`, `bun:x`, or the name of a package. */
export function resolveImport(options: { from: string; specifier: string }): string {
  const { from, specifier } = options;
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  if (specifier === 'bun' || specifier.startsWith('bun:') || specifier.startsWith('node:')) {
    return specifier;
  }
  const parts = specifier.split('/');
  if (builtinModules.includes(parts[0]!)) return `node:${specifier}`;
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
