// The repository as data: path → text. Every rule is a function of this, so that a test can plant a
// fault without a file.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export type Tree = ReadonlyMap<string, string>;

export type Violation = { path: string; line: number; message: string };

export type Rule = (tree: Tree) => Violation[];

export const ROOT = resolve(import.meta.dir, '../..');

/** Faults written down on purpose: rules that read text and not structure skip this file. */
export const PLANTS = 'test/tidy/plants.ts';

/** Folders whose words and comments do not keep the newer rules yet: nothing else may join them. */
export const NOT_YET =
  /^(?:ledger\/metering|test\/chaos|test\/store)\/|^src\/database\/audit|\/mails\.ts$/;

/**
 * What git tracks or would track: .gitignore leaves out node_modules, logs and the data directory.
 */
export async function readTree(): Promise<Tree> {
  const listing = await new Response(
    Bun.spawn(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: ROOT,
    }).stdout,
  ).text();
  const paths = listing.split('\0').filter((path) => path !== '' && existsSync(`${ROOT}/${path}`));
  const texts = paths.map(
    async (path) => [path, await Bun.file(`${ROOT}/${path}`).text()] as const,
  );
  return new Map(await Promise.all(texts));
}

export function isTypeScript(path: string): boolean {
  return path.endsWith('.ts');
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Every match of a pattern in the given files, as violations. */
export function findMatches(
  tree: Tree,
  options: { pattern: RegExp; where: (path: string) => boolean; message: string },
): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!options.where(path)) continue;
    for (const match of text.matchAll(options.pattern)) {
      found.push({
        path,
        line: lineAt(text, match.index),
        message: `${options.message}: ${match[0].trim()}`,
      });
    }
  }
  return found;
}
