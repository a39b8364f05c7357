// How far a file is: beside it, in a small file of its own, so that a run that was killed goes on.
//
// Holds: what the state says was done is recorded by the service, and its rejects are written. What
// was on its way when the run ended is sent again; its keys make it count once.
import { createHash } from 'node:crypto';
import { type FileHandle, readFile, rename, writeFile } from 'node:fs/promises';
import { Refused } from '../command.ts';

/** What is compared of the file, to tell that it is still the same one. */
const HEAD_BYTES_MAX = 4096;

export type Progress = {
  /** What the keys of its lines are made of. */
  readonly identity: string;
  readonly lines: number;
  readonly offset: number;
  readonly inserted: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** Of the file of rejects. */
  readonly rejectedBytes: number;
};

type Stored = Progress & {
  /** Which service and key it was sent with. */
  readonly target: string;
  readonly head: { readonly bytes: number; readonly hash: string };
};

export class ProgressFile {
  readonly #path: string;
  readonly #target: string;
  readonly #file: FileHandle;

  constructor(path: string, of: { readonly target: string; readonly file: FileHandle }) {
    this.#path = path;
    this.#target = of.target;
    this.#file = of.file;
  }

  /** null where there is none. @throws Refused where it is about something else */
  async read(): Promise<Progress | null> {
    const text = await readFile(this.#path, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (text === null) return null;
    const stored = storedOf(text);
    if (stored === null) throw this.#refused('cannot be read');
    const { target, head, ...progress } = stored;
    if (target !== this.#target) throw this.#refused('is about another service or key');
    const { size } = await this.#file.stat();
    const isSame = size >= progress.offset && (await this.#headOf(head.bytes)) === head.hash;
    if (!isSame) throw this.#refused('is about another file of this name');
    return progress;
  }

  async write(progress: Progress): Promise<void> {
    const bytes = Math.min(progress.offset, HEAD_BYTES_MAX);
    const head = { bytes, hash: await this.#headOf(bytes) };
    const stored: Stored = { target: this.#target, head, ...progress };
    // Another name first, so that a kill leaves the old one or the new one.
    const unfinished = `${this.#path}.new`;
    await writeFile(unfinished, `${JSON.stringify(stored)}\n`);
    await rename(unfinished, this.#path);
  }

  async #headOf(length: number): Promise<string> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(length), 0, length, 0);
    return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('base64url');
  }

  #refused(what: string): Refused {
    return new Refused(`${this.#path} ${what}: --restart begins anew, and counts nothing twice`);
  }
}

function storedOf(text: string): Stored | null {
  try {
    const value = JSON.parse(text) as Partial<Stored> | null;
    const numbers = [
      value?.lines,
      value?.offset,
      value?.inserted,
      value?.duplicates,
      value?.rejected,
      value?.rejectedBytes,
      value?.head?.bytes,
    ];
    const isWhole =
      numbers.every((number) => Number.isSafeInteger(number) && Number(number) >= 0) &&
      Number(value?.head?.bytes) <= HEAD_BYTES_MAX &&
      typeof value?.identity === 'string' &&
      typeof value.target === 'string';
    return isWhole ? (value as Stored) : null;
  } catch {
    return null;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
