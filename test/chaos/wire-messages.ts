// The messages of a PostgreSQL client in a stream of bytes.
export type ClientMessage = {
  /** One letter; empty for the first message of a connection, which has no type. */
  readonly type: string;
  readonly bytes: Buffer;
};

export class ClientMessages {
  #rest: Buffer = Buffer.alloc(0);
  #started = false;

  /** The messages that this chunk completes. */
  take(chunk: Buffer): ClientMessage[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: ClientMessage[] = [];
    for (;;) {
      const head = this.#started ? 1 : 0;
      if (this.#rest.length < head + 4) return messages;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return messages;
      const bytes = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      messages.push({ type: this.#started ? bytes.toString('latin1', 0, 1) : '', bytes });
      this.#started = true;
    }
  }
}

/**
 * The zero-terminated strings at the start of a message: name and query of Parse, portal and name
 * of Bind.
 */
export function firstTexts({ bytes }: ClientMessage): [string, string] {
  const first = bytes.indexOf(0, 5);
  const second = bytes.indexOf(0, first + 1);
  return [bytes.toString('utf8', 5, first), bytes.toString('utf8', first + 1, second)];
}

/** Whether these server bytes end with `ReadyForQuery`: every query so far is answered. */
export function endsReady(bytes: Buffer): boolean {
  return bytes.length >= 6 && bytes.readUInt32BE(bytes.length - 5) === 5 && bytes.at(-6) === READY;
}

const READY = 'Z'.charCodeAt(0);
