// GET /events/stream as events, from one connection to the next without a gap.
//
// The first message of a stream has the id of the place where it begins, so a connection that is
// lost before the first event goes on from there too.
import { setTimeout as sleep } from 'node:timers/promises';
import { answerError, ConnectionError, TollhouseError } from '../client/errors.ts';
import { delayMs, mayRetry } from '../client/retry.ts';
import type { EventEnvelope } from './event-rows.ts';

/** A comment comes every 15 s. */
const SILENCE_MS_MAX = 45_000;
/** Without a connection for that long there is no hope. */
const AWAY_MS_MAX = 5 * 60_000;

type Source = {
  readonly url: string;
  readonly apiKey: string;
  /** undefined: from now on. */
  readonly after: string | undefined;
  /** Called at each connection. */
  readonly onOpen: (isFirst: boolean) => Promise<void>;
  readonly onLost: (error: TollhouseError) => Promise<void>;
  readonly signal: AbortSignal;
};

/** Ends with the signal. @throws TollhouseError where it makes no sense to connect again */
export async function* eventsOf(source: Source): AsyncGenerator<EventEnvelope> {
  const { signal, onOpen, onLost } = source;
  let { after } = source;
  let isFirst = true;
  let attempt = 0;
  let aliveAt = performance.now();
  while (!signal.aborted) {
    try {
      for await (const { id, data } of connect(source, after)) {
        if (attempt > 0 || isFirst) await onOpen(isFirst);
        isFirst = false;
        attempt = 0;
        after = id;
        aliveAt = performance.now();
        if (data !== null) yield JSON.parse(data) as EventEnvelope;
        aliveAt = performance.now();
      }
    } catch (error) {
      if (signal.aborted) return;
      const failed = error instanceof TollhouseError ? error : lost(error);
      const isOver = isFirst || performance.now() - aliveAt > AWAY_MS_MAX;
      if (isOver || !mayRetry(failed, true)) throw failed;
      if (attempt === 0) await onLost(failed);
      attempt += 1;
      const wait = delayMs(failed, attempt, Math.random);
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }
}

const lost = (cause: unknown): TollhouseError =>
  new ConnectionError(`the stream broke: ${cause instanceof Error ? cause.message : ''}`, {
    cause,
  });

type Message = { readonly id: string; readonly data: string | null };

/** The messages of one connection. @throws also where it ends: a stream has no last event */
async function* connect(
  { url, apiKey, signal }: Source,
  after: string | undefined,
): AsyncGenerator<Message> {
  const query = after === undefined ? '' : `?${new URLSearchParams({ after }).toString()}`;
  const silence = new AbortController();
  const watch = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/events/stream${query}`, {
      headers: { authorization: `Bearer ${apiKey}`, accept: 'text/event-stream' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || response.body === null) throw await refusalOf(response);
    const messages = new Messages();
    const decoder = new TextDecoder();
    for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
      yield* messages.read(decoder.decode(bytes, { stream: true }));
      watch.refresh();
    }
  } finally {
    clearTimeout(watch);
  }
  throw new ConnectionError('the stream ended');
}

async function refusalOf(response: Response): Promise<TollhouseError> {
  const body: unknown = await response.json().catch(() => null);
  return answerError(response.status, body, { requestId: response.headers.get('x-request-id') });
}

/** Server-sent events, as far as this stream has them: an id, and one line of data or none. */
class Messages {
  #rest = '';
  #id: string | null = null;
  #data: string | null = null;

  *read(text: string): Generator<Message> {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('id: ')) this.#id = line.slice('id: '.length);
      if (line.startsWith('data: ')) this.#data = line.slice('data: '.length);
      if (line !== '') continue;
      if (this.#id !== null) yield { id: this.#id, data: this.#data };
      this.#id = null;
      this.#data = null;
    }
  }
}
