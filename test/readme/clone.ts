// A fresh clone: the repository's files as they are now, its packages, and a service that was
// started as the README says.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDataDir } from '../platform/fixture.ts';

const ROOT = join(import.meta.dir, '../..');

export interface Clone {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  remove(): void;
}

/** `environment`: what is set there beside what the pages need. */
export async function openClone(
  environment: Readonly<Record<string, string>> = {},
): Promise<Clone> {
  const data = temporaryDataDir(0o755);
  const directory = join(data.dataDir, '..', 'tollhouse');
  mkdirSync(directory);
  const copied = Bun.spawn(
    [
      'bash',
      '-c',
      'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"',
      directory,
    ],
    { cwd: ROOT },
  );
  if ((await copied.exited) !== 0) throw new Error('the files could not be copied');
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  // The Bun that runs the tests, by both names that the pages use.
  const programs = join(data.dataDir, '..', 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'npx'), `#!/bin/sh\nshift\nexec ${process.execPath} "$@"\n`);
  chmodSync(join(programs, 'npx'), 0o755);
  symlinkSync(process.execPath, join(programs, 'bun'));
  const PATH = `${programs}:${process.env['PATH']}`;
  return {
    directory,
    environment: { ...environment, PATH, DATA_DIR: data.dataDir },
    remove: () => data.remove(),
  };
}

/** A command that runs until Ctrl-C. Its output is short: nobody reads it meanwhile. */
export class Started {
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>;
  readonly #printed: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #said = '';

  constructor(clone: Clone, command: string, port: number) {
    this.#child = Bun.spawn(['bash', '-c', command], {
      cwd: clone.directory,
      env: { ...process.env, ...clone.environment, HOST: '127.0.0.1', PORT: String(port) },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
      // A process group, which gets Ctrl-C.
      detached: true,
    });
    this.#printed = this.#child.stdout[Symbol.asyncIterator]();
  }

  /** Its output up to this text. @throws Error where it ends before */
  async says(words: string): Promise<string> {
    while (!this.#said.includes(words)) {
      if (!(await this.#read())) throw new Error(`it ended without "${words}": ${this.#said}`);
    }
    return this.#said;
  }

  /** Ctrl-C, until everything that it started has ended. */
  async interrupt(): Promise<string> {
    process.kill(-this.#child.pid, 'SIGINT');
    while (await this.#read());
    await this.#child.exited;
    return this.#said;
  }

  async #read(): Promise<boolean> {
    const next = await this.#printed.next();
    if (next.done === true) return false;
    this.#said += this.#decoder.decode(next.value, { stream: true });
    return true;
  }
}
