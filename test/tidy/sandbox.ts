// A temporary copy of the real configuration with planted files, for tools that only read from
// disk.
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './tree.ts';

const CONFIGURATION = ['.oxlintrc.json', 'tsconfig.json', 'package.json', '.gitignore'];

/** Runs one tool of node_modules over the planted files; returns its output. */
export async function runOnPlants(options: {
  command: [tool: string, ...args: string[]];
  files: Record<string, string>;
}): Promise<{ exitCode: number; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'tollhouse-tidy-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const name of CONFIGURATION) {
      await Bun.write(join(folder, name), Bun.file(join(ROOT, name)));
    }
    for (const [path, text] of Object.entries(options.files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await Bun.write(join(folder, path), text);
    }
    const [tool, ...args] = options.command;
    const child = Bun.spawn([join(ROOT, 'node_modules/.bin', tool), ...args], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { exitCode, output: stdout + stderr };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
