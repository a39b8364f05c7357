// What git reports as changed: in the working tree, and in the commits since the branch left main.
import { ROOT } from './graph.ts';

const MAIN = ['origin/main', 'main'];

/**
 * Paths relative to the root. `since` is a commit; the default is main. @throws Error in one line
 */
export function changedFiles(since: string | undefined): readonly string[] {
  const base = since ?? forkPoint();
  const tracked = git(['diff', '--name-only', '--no-renames', '-z', base, '--']);
  const untracked = git(['ls-files', '--others', '--exclude-standard', '-z']);
  return `${tracked}${untracked}`.split('\0').filter((path) => path !== '');
}

function forkPoint(): string {
  for (const main of MAIN) {
    const { exitCode, stdout } = run(['merge-base', 'HEAD', main]);
    if (exitCode === 0) return stdout.toString().trim();
  }
  throw new Error(`--changed needs a branch ${MAIN.join(' or ')}: name a commit, --changed=COMMIT`);
}

function git(args: readonly string[]): string {
  const { exitCode, stdout, stderr } = run(args);
  if (exitCode !== 0) throw new Error(`git ${args[0]}: ${stderr.toString().trim()}`);
  return stdout.toString();
}

function run(args: readonly string[]) {
  return Bun.spawnSync(['git', ...args], { cwd: ROOT });
}
