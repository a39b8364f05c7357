// Readers of the stream of events that lose their connection again and again, and go on elsewhere.
import type { Random } from '../support/random.ts';
import { StreamReader } from '../support/event-stream.ts';

const OPENING_MS_MAX = 5000;
const PAUSE_MS = 20;

type Options = {
  readonly random: Random;
  /** Those that may serve now. */
  readonly urls: () => readonly string[];
  readonly key: string;
  /** How long it keeps a connection at most. */
  readonly holdsMs: number;
};

/** Follows one stream, whatever dies, as a program that keeps the last id would. */
export class StubbornReader {
  /** In the order in which they came, over all of its connections. */
  readonly ids: string[] = [];
  /** Refusals that say that its place is unknown: it never is. */
  readonly refused: string[] = [];
  connections = 0;
  readonly #options: Options;
  #lastId: string;
  #stopping = false;
  readonly #running: Promise<void>;

  /** @param after the place where it begins */
  constructor(options: Options, after: string) {
    this.#options = options;
    this.#lastId = after;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { random, urls, key, holdsMs } = this.#options;
    while (!this.#stopping) {
      const url = random.pick(urls());
      const asked = random.chance(0.5) ? { after: this.#lastId } : { lastEventId: this.#lastId };
      const abort = AbortSignal.timeout(OPENING_MS_MAX);
      const reader = await StreamReader.open(url, { key, ...asked, abort }).catch(() => null);
      if (reader?.response.status === 200) {
        this.connections += 1;
        await this.#follow(reader, random.integer(0, holdsMs));
      } else if (reader !== null) {
        await reader.over;
        if (reader.response.status === 400) this.refused.push(this.#lastId);
      }
      await Bun.sleep(PAUSE_MS);
    }
  }

  /** Whole messages that came before the end count, and no part of one. */
  async #follow(reader: StreamReader, ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (!reader.isOver && !this.#stopping && performance.now() < end) await Bun.sleep(5);
    await reader.close();
    this.ids.push(...reader.ids);
    this.#lastId = reader.lastId ?? this.#lastId;
  }
}
