// A terminal that knows what was defined in it.

const IS_DEFINITION = /^(?:\w+=\S*|\w+\(\) \{.*\}|\w+="[^"]*")$/;

export class Terminal {
  readonly #directory: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #defined: string[] = [];

  constructor(directory: string, environment: Readonly<Record<string, string>>) {
    this.#directory = directory;
    this.#environment = environment;
  }

  /** What the command prints. A definition prints nothing, and is there for all that follow. */
  async run(command: string): Promise<string> {
    if (IS_DEFINITION.test(command)) {
      this.#defined.push(command);
      return '';
    }
    const child = this.start(command);
    const [said, complained, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`${command} exited with ${code}: ${complained}${said}`);
    return said.trim();
  }

  /** For what runs until it is killed. */
  start(command: string) {
    const script = [...this.#defined, command].join('\n');
    return Bun.spawn(['bash', '-c', script], {
      cwd: this.#directory,
      env: { ...process.env, ...this.#environment },
      stdout: 'pipe',
      stderr: 'pipe',
    });
  }
}
