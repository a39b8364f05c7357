import { constants, type FileHandle, open } from 'node:fs/promises';

/** The lines that were not recorded, each with the reason. */
export class Rejects {
  readonly #path: string;
  #file: FileHandle | null = null;
  #bytes: number;

  /** `bytes`: what earlier runs wrote of it. What is behind that was not counted. */
  constructor(path: string, bytes: number) {
    this.#path = path;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async append(rows: readonly object[]): Promise<void> {
    if (rows.length === 0) return;
    this.#file ??= await this.#open();
    const text = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    for (let written = 0; written < text.length;) {
      const { bytesWritten } = await this.#file.write(
        text,
        written,
        text.length - written,
        this.#bytes,
      );
      written += bytesWritten;
      this.#bytes += bytesWritten;
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #open(): Promise<FileHandle> {
    const file = await open(this.#path, constants.O_RDWR | constants.O_CREAT);
    // It may have been taken away meanwhile.
    this.#bytes = Math.min(this.#bytes, (await file.stat()).size);
    await file.truncate(this.#bytes);
    return file;
  }
}
