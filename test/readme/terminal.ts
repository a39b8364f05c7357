// A terminal: one shell that gets a page's commands.

/** Between a command's output and its exit code. */
const MARK = '\u001E';

export class Terminal {
  readonly #shell: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  readonly #printed: AsyncIterator<Uint8Array>;

  constructor(directory: string, environment: Readonly<Record<string, string>>) {
    this.#shell = Bun.spawn(['bash'], {
      cwd: directory,
      env: { ...process.env, ...environment },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    });
    this.#printed = this.#shell.stdout[Symbol.asyncIterator]();
  }

  /** The command's output, without stderr. One at a time. @throws Error where it fails */
  async run(command: string): Promise<string> {
    await this.#shell.stdin.write(`{ ${command}\n} </dev/null; printf '${MARK}%s\\n' $?\n`);
    await this.#shell.stdin.flush();
    const decoder = new TextDecoder();
    let said = '';
    for (;;) {
      const [printed = '', code] = said.split(MARK);
      if (code === '0\n') return printed.trim();
      if (code?.endsWith('\n')) throw new Error(`${command} ended with ${code}: ${printed}`);
      const { value, done: isOver } = await this.#printed.next();
      if (isOver === true) throw new Error(`the shell ended at ${command}: ${said}`);
      said += decoder.decode(value, { stream: true });
    }
  }

  /** With the processes that it left running. */
  async close(): Promise<void> {
    await this.#shell.stdin.write('jobs -p | xargs -r kill\nexit\n');
    await this.#shell.stdin.end();
    await this.#shell.exited;
  }
}
