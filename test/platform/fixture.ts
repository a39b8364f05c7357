import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../src/platform/embedded/supervisor.ts';

/** The parent directory of DATA_DIR. What the services put elsewhere is removed with it. */
export function temporaryDataDir(mode: number): { dataDir: string; remove(): void } {
  const parent = mkdtempSync(join(tmpdir(), 'tollhouse-platform-'));
  chmodSync(parent, mode);
  const dataDir = join(parent, 'data');
  return {
    dataDir,
    remove() {
      const services = join(dataDir, 'services');
      if (existsSync(services)) rmSync(realpathSync(services), { recursive: true });
      rmSync(parent, { recursive: true });
    },
  };
}

/** A log that can be waited on. */
export class RecordedLog implements Log {
  readonly lines: string[] = [];
  readonly #waiting: { line: string; resolve: () => void }[] = [];

  warn(fields: object, message: string): void {
    this.#add(fields, message);
  }

  error(fields: object, message: string): void {
    this.#add(fields, message);
  }

  /** Resolves when the next such line is written. */
  next(line: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ line, resolve });
    });
  }

  #add(fields: object, message: string): void {
    const line = `${'service' in fields ? String(fields.service) : '-'}: ${message}`;
    this.lines.push(line);
    for (const waiting of this.#waiting) if (waiting.line === line) waiting.resolve();
  }
}

/** Starts test/platform/instance.ts and returns it with its first line. */
export async function startInstance(dataDir: string) {
  const child = Bun.spawn(
    [process.execPath, fileURLToPath(import.meta.resolve('./instance.ts')), dataDir],
    {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  );
  const { value } = await child.stdout.getReader().read();
  return { child, said: new TextDecoder().decode(value).trim() };
}
