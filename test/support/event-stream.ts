// A reader of GET /events/stream, as a program that knows server-sent events would be.
import { until } from './until.ts';

export type StreamedEvent = {
  readonly id: string;
  readonly type: string;
  // Each test checks the type of what it reads.
  readonly data: ReturnType<typeof JSON.parse>;
};

type Asked = {
  readonly key: string;
  readonly after?: string | undefined;
  readonly lastEventId?: string | undefined;
  /** Gives up before the head has come. */
  readonly abort?: AbortSignal;
};

export class StreamReader {
  readonly events: StreamedEvent[] = [];
  /** The `id` that came last, with an event or without one. */
  lastId: string | undefined;
  text = '';
  isOver = false;
  readonly response: Response;
  /** Whether the stream ended as it should, and was not cut off. */
  readonly over: Promise<boolean>;
  readonly #abort: AbortController;

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.over = this.#read().finally(() => (this.isOver = true));
  }

  /** Resolves with the answer's head. */
  static async open(
    url: string,
    { key, after, lastEventId, abort: giveUp }: Asked,
  ): Promise<StreamReader> {
    const abort = new AbortController();
    const give = (): void => abort.abort();
    giveUp?.addEventListener('abort', give);
    const query = after === undefined ? '' : `?after=${after}`;
    const response = await fetch(`${url}/events/stream${query}`, {
      signal: abort.signal,
      headers: {
        authorization: `Bearer ${key}`,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
    });
    giveUp?.removeEventListener('abort', give);
    return new StreamReader(response, abort);
  }

  get ids(): readonly string[] {
    return this.events.map(({ id }) => id);
  }

  until(what: string, holds: () => boolean, withinMs?: number): Promise<void> {
    return until(what, holds, withinMs);
  }

  async has(count: number, withinMs?: number): Promise<readonly StreamedEvent[]> {
    await until(`${count} events`, () => this.events.length >= count || this.isOver, withinMs);
    return this.events;
  }

  /** Where it begins has been said. */
  begun(): Promise<void> {
    return until('it has begun', () => this.lastId !== undefined);
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.over;
  }

  async #read(): Promise<boolean> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      if (this.response.body === null) return true;
      for await (const bytes of this.response.body as AsyncIterable<Uint8Array>) {
        const text = decoder.decode(bytes, { stream: true });
        this.text += text;
        const messages = (rest + text).split('\n\n');
        rest = messages.pop()!;
        for (const message of messages) this.#take(message);
      }
      return true;
    } catch {
      return false;
    }
  }

  #take(message: string): void {
    const field = (name: string): string | undefined =>
      message
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    this.lastId = field('id') ?? this.lastId;
    const data = field('data');
    if (data !== undefined) this.events.push(JSON.parse(data));
  }
}
