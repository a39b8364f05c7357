/**
 * The body of an answer that stays open. What its caller has not taken yet waits here, and is
 * counted: a caller that takes nothing is noticed, and holds up nobody.
 */
export class OpenBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  /** Whether the connection takes more now. */
  #isWanted = false;
  #drained = Promise.withResolvers<void>();

  /** @param onGone the caller has disconnected */
  constructor(onGone: () => void) {
    this.#drained.resolve();
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#pass();
        },
        cancel: () => {
          this.#forget();
          onGone();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#controller === null || bytes.length === 0) return;
    if (this.#bytes === 0) this.#drained = Promise.withResolvers();
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    this.#pass();
  }

  /** Resolves when nothing waits, and at the end. */
  drained(): Promise<void> {
    return this.#drained.promise;
  }

  /** A clean end, without what waits. */
  end(): void {
    const controller = this.#controller;
    this.#forget();
    controller?.close();
  }

  #pass(): void {
    if (!this.#isWanted || this.#bytes === 0) return;
    const [first, ...more] = this.#waiting;
    const bytes = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#waiting);
    this.#isWanted = false;
    this.#empty();
    this.#controller?.enqueue(bytes);
  }

  #forget(): void {
    this.#controller = null;
    this.#empty();
  }

  #empty(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.#drained.resolve();
  }
}
