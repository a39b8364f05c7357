import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Closers } from '../../support/closers.ts';
import { openCheckout } from './checkout.ts';

let folder = '';
let closers = new Closers();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollhouse-checkout-'));
  closers = new Closers();
});
afterEach(async () => {
  await closers.close();
  rmSync(folder, { recursive: true, force: true });
});

async function git(...args: string[]): Promise<string> {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  const child = Bun.spawn(['git', ...who, ...args], { cwd: folder, stderr: 'ignore' });
  const output = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return output.trim();
}

/** A repository of two commits, and a shallow clone of it. */
async function makeRepositories() {
  await git('init', '--quiet', 'whole');
  writeFileSync(join(folder, 'whole/package.json'), '{"name":"made"}');
  for (const text of ['first', 'second']) {
    writeFileSync(join(folder, 'whole/file'), text);
    await git('-C', 'whole', 'add', '--all');
    await git('-C', 'whole', 'commit', '--quiet', '--message', text);
  }
  const first = await git('-C', 'whole', 'rev-parse', 'HEAD~1');
  await git('clone', '--quiet', '--depth', '1', `file://${join(folder, 'whole')}`, 'shallow');
  return { whole: join(folder, 'whole'), shallow: join(folder, 'shallow'), first };
}

test("a bench of an earlier commit has that commit's files until its end", async () => {
  const { whole, shallow } = await makeRepositories();
  const earlier = await openCheckout(closers, { ref: 'HEAD~1', repository: whole });
  const latest = await openCheckout(closers, { ref: 'HEAD', repository: shallow });
  expect(readFileSync(join(earlier, 'file'), 'utf8')).toBe('first');
  expect(readFileSync(join(latest, 'file'), 'utf8')).toBe('second');
  await closers.close();
  expect(existsSync(earlier)).toBe(false);
});

test('a bench of a commit that the repository lacks says what to do', async () => {
  const { whole, shallow, first } = await makeRepositories();
  const open = (ref: string, repository: string) => openCheckout(closers, { ref, repository });
  expect(open(first, shallow)).rejects.toThrow(`shallow clone without the commit ${first}`);
  expect(open('0000000', whole)).rejects.toThrow('this repository has no commit 0000000');
  expect(open('--help', whole)).rejects.toThrow('this repository has no commit --help');
  expect(open('HEAD', folder)).rejects.toThrow('needs git and a repository');
});
