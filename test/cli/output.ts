// What only a process can show: its reader leaves, or its disk is full.
import { expect, test } from 'bun:test';
import type { Program } from './program.ts';

export function endsWithItsOutput(of: () => Program): void {
  test("a command whose output's reader leaves exits without an error", async () => {
    const said = await of().inBash('"$@" | true; echo "${PIPESTATUS[0]}"', ['--help']);
    expect(said).toEqual({ stdout: '0\n', stderr: '' });
  });

  // prettier-ignore
  test.each([
    ['',        /^tollhouse: cannot write the output: [^\n]*ENOSPC[^\n]*\n1\n$/],
    [' --json', /^\{"error":\{"type":"failed","message":"cannot write[^\n]*\}\}\n1\n$/],
  ])('a command that writes to a full disk prints one line and exits with 1: balance%s', async (more, expected) => {
    const script = `"$@"${more} 2>&1 >/dev/full; echo "$?"`;
    const { stdout } = await of().inBash(script, ['balance', 'ada']);
    expect(stdout).toMatch(expected);
  });
}
