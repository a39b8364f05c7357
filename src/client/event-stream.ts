// Events as they happen: an async iterable over `GET /events/stream`, without a gap.
//
// A connection that ends or falls silent is made again, with the id that came last. It ends with
// the caller's signal, or the client's close as an error; a refusal (an id that is not kept, a key
// that is revoked) is thrown, and so is a service that gives nothing for `timeoutMs`.
import { onAbort } from './abort.ts';
import { ConnectionError } from './errors.ts';
import { guarded } from './hooks.ts';
import { OPERATIONS } from './operations.ts';
import { delayMs } from './retry.ts';
import type { Chance, Transport } from './transport.ts';
import type { Event } from './types.ts';
import { fromWire } from './wire-names.ts';

export type StreamOptions = {
  /** Goes on after the event with this id; without it, it begins now. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Called once, when it has begun: every event from then on comes, whatever breaks. */
  readonly onOpen?: () => void;
  /** How long the service may give nothing: 5 minutes unless said otherwise. */
  readonly timeoutMs?: number;
};

/** `closed` aborts when the client closes, with the error of it. */
type StreamDeps = Chance & { readonly transport: Transport; readonly closed: AbortSignal };

type Message = {
  id: string | null;
  data: string | null;
  /** The wait that the service wants before another connection. */
  retryMs: number | null;
};

type Reader = { read(): Promise<{ readonly value?: Uint8Array | undefined }> };

const EMPTY: Message = { id: null, data: null, retryMs: null };
/** The service sends a comment each 15 s. */
const SILENCE_MS = 45_000;
const LINE_MAX = 16 * 1024 * 1024;

export async function* streamEvents(
  { transport, now, random, sleep, closed }: StreamDeps,
  { after, signal, onOpen, timeoutMs = 300_000 }: StreamOptions = {},
): AsyncGenerator<Event, void, undefined> {
  const { method, path } = OPERATIONS.streamEvents;
  let last = after ?? null;
  let heardAt = now();
  let pauseMs = 0;
  let isOpen = false;
  for (let attempt = 1; !isAborted(signal); attempt += 1) {
    closed.throwIfAborted();
    const connection = new AbortController();
    const cut = (): void => connection.abort();
    // Both end a wait, too.
    const stop = new AbortController();
    const end = (): void => {
      stop.abort();
      cut();
    };
    const off = [closed, signal].map((one) => (one === undefined ? noop : onAbort(one, end)));
    try {
      const reply = await transport.send({
        operation: 'streamEvents',
        method,
        template: path,
        path,
        headers: last === null ? {} : { 'last-event-id': last },
        body: () => undefined,
        repeatable: true,
        batchSize: () => 1,
        deadline: heardAt + timeoutMs,
        signal: connection.signal,
        isStream: true,
      });
      for await (const { id, data, retryMs } of messagesOf(reply?.body, cut)) {
        heardAt = now();
        attempt = 0;
        last = id ?? last;
        pauseMs = retryMs ?? pauseMs;
        // The first message says where it begins.
        if (!isOpen) guarded(onOpen, undefined);
        isOpen = true;
        if (data === null) continue;
        yield fromWire(JSON.parse(data)) as Event;
        // The caller's own time is not the service's.
        heardAt = now();
        if (stop.signal.aborted) break;
      }
      const error = new ConnectionError('the stream has ended');
      if (now() - heardAt > timeoutMs) throw error;
      await sleep(Math.min(pauseMs, timeoutMs) + delayMs(error, attempt, random), stop.signal);
    } catch (error) {
      closed.throwIfAborted();
      if (isAborted(signal)) return;
      throw error;
    } finally {
      for (const one of off) one();
      cut();
    }
  }
}

/** The messages of one connection, until it ends: broken off or not, another one goes on. */
async function* messagesOf(body: unknown, cut: () => void): AsyncGenerator<Message> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let message = { ...EMPTY };
  for (;;) {
    const bytes = await next(reader, cut);
    if (bytes === null) return;
    rest += decoder.decode(bytes, { stream: true });
    if (rest.length > LINE_MAX) throw new ConnectionError('a message of the stream is too long');
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { name, value } = fieldOf(line);
      if (name === 'id') message.id = value;
      if (name === 'data')
        message.data = message.data === null ? value : `${message.data}\n${value}`;
      if (name === 'retry' && /^\d{1,9}$/.test(value)) message.retryMs = Number(value);
      if (name !== '' || value !== '') continue;
      yield message;
      message = { ...EMPTY };
    }
  }
}

/** Null at the end, and where nothing came for too long. */
async function next(reader: Reader, cut: () => void): Promise<Uint8Array | null> {
  const timer = setTimeout(cut, SILENCE_MS);
  try {
    const { value } = await reader.read();
    return value ?? null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** `name: value`; a comment has no name, an empty line neither. */
function fieldOf(text: string): { readonly name: string; readonly value: string } {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text;
  const colon = line.indexOf(':');
  if (colon === -1) return { name: line, value: '' };
  const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
  return { name: colon === 0 ? ':' : line.slice(0, colon), value };
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function noop(): void {}
