// The completion as a shell uses it: loaded, and asked for a word.
import { expect, test } from 'bun:test';
import { COMMANDS } from '../../src/cli/commands.ts';
import { completionOf } from '../../src/cli/completion.ts';

const BASH = `
COMP_WORDS=(tollhouse "$@"); COMP_CWORD=$#; COMPREPLY=()
_tollhouse; echo "\${COMPREPLY[*]}"`;

/** `compadd` works within the line editor only, so its words are printed instead. */
const ZSH = `
compdef() { : }; compadd() { print -r -- "\${@:2}" }; _files() { print FILES }
source /dev/stdin; words=(tollhouse "$@"); CURRENT=$(($# + 1)); _tollhouse`;

async function complete(shell: 'bash' | 'zsh', words: readonly string[]): Promise<string[]> {
  const script = completionOf(COMMANDS, shell);
  const command =
    shell === 'bash'
      ? ['bash', '--norc', '-uc', `${script}${BASH}`, 'bash', ...words]
      : ['zsh', '-fc', ZSH, 'zsh', ...words];
  const child = Bun.spawn(command, {
    stdin: new Blob([script]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect([await child.exited, stderr]).toEqual([0, '']);
  return stdout.trim().split(/\s+/);
}

const GLOBAL = ['--api-key', '--url', '--json', '--help', '--version'];
const NOUNS = [...new Set(Object.keys(COMMANDS).map((name) => name.split(' ')[0]!))];

test.each([
  [[''], [...NOUNS, ...GLOBAL]],
  [
    ['--json', ''],
    [...NOUNS, ...GLOBAL],
  ],
  [
    ['--url', 'http://x', ''],
    [...NOUNS, ...GLOBAL],
  ],
  [
    ['customers', ''],
    ['list', 'get', 'create'],
  ],
  [
    ['customers', 'list', ''],
    ['--limit', '--after', ...GLOBAL],
  ],
  [
    ['check', ''],
    ['--customer', '--value', ...GLOBAL],
  ],
  [
    ['check', 'api', ''],
    ['--customer', '--value', ...GLOBAL],
  ],
  [['check', '--customer', ''], ['']],
  [
    ['completion', ''],
    ['bash', 'zsh', ...GLOBAL],
  ],
])('bash completes %j', async (words, offered) => {
  expect(await complete('bash', words)).toEqual(offered);
});

test('bash completes what was begun', async () => {
  expect(await complete('bash', ['tr'])).toEqual(['trigger', 'track']);
  expect(await complete('bash', ['trigger', 'tag.'])).toEqual(['tag.created', 'tag.deleted']);
  expect(await complete('bash', ['check', 'api', '--cu'])).toEqual(['--customer']);
});

/** zsh itself leaves out what does not fit the word. */
const hasZsh = Bun.which('zsh') !== null;
if (hasZsh) {
  test('zsh completes the same words', async () => {
    expect(await complete('zsh', [''])).toEqual([...NOUNS, ...GLOBAL]);
    expect(await complete('zsh', ['customers', ''])).toEqual(['list', 'get', 'create']);
    expect(await complete('zsh', ['ingest', ''])).toContain('FILES');
  });
}
