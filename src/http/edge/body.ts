// Reads the body of a request, bounded, as the text of a JSON document or of an HTML form.
import { INGEST_BYTES_MAX } from '../../../ledger/limits.ts';
import { breathe } from '../../../ledger/ports.ts';
import { timers } from '../../platform/clock.ts';
import { refuse, refuseInvalid } from './errors.ts';

/** What a body may hold: bytes, and members of objects and items of lists. */
export type BodyMax = { readonly bytes: number; readonly values: number };

/**
 * Unless the operation says otherwise: the largest needs 1,406 values (200 prices of a product).
 */
export const BODY_MAX: BodyMax = { bytes: 1024 * 1024, values: 4096 };

/** Of anybody, without a key: one object with all its metadata, each character escaped. */
export const OPEN_BODY_MAX: BodyMax = { bytes: 256 * 1024, values: 512 };

/** 500 events with all their metadata are 29,500 values; they are parsed in some 10 ms. */
export const BATCH_BODY_MAX: BodyMax = { bytes: INGEST_BYTES_MAX, values: 32_768 };

/** Bytes of a form, which people fill in. */
export const FORM_BYTES_MAX = 16 * 1024;

export type Media = { readonly type: string; readonly pattern: RegExp };

export const JSON_MEDIA: Media = {
  type: 'application/json',
  pattern: /^application\/json *(?:;|$)/i,
};
export const FORM_MEDIA: Media = {
  type: 'application/x-www-form-urlencoded',
  pattern: /^application\/x-www-form-urlencoded *(?:;|$)/i,
};

/** Whether the request says that it is a form. */
export function isForm({ headers }: Request): boolean {
  return FORM_MEDIA.pattern.test(headers.get('content-type') ?? '');
}

/**
 * The text, '' for no body; the refusal where it may not be read. Without a promise where the
 * headers decide. The body of a GET has no meaning and is not read.
 */
export function takeBody(
  request: Request,
  bytesMax: number,
  media: readonly Media[],
): string | Response | Promise<string | Response> {
  if (request.method === 'GET') return '';
  const { headers } = request;
  const length = headers.get('content-length');
  if (length === '0' || (length === null && request.body === null)) return '';
  if (length !== null && Number(length) > bytesMax) return tooLarge(bytesMax);
  const type = headers.get('content-type');
  if (type === null || !isAmong(media, type)) {
    const types = media.map((one) => one.type).join(' or ');
    return refuse('unsupported_media_type', `the body must be sent as ${types}`);
  }
  return length === null ? readChunked(request, bytesMax) : request.text();
}

function isAmong(media: readonly Media[], type: string): boolean {
  for (const one of media) if (type === one.type || one.pattern.test(type)) return true;
  return false;
}

/**
 * Whether decoding lost bytes: each invalid byte became U+FFFD, which takes three bytes. A sender
 * may also mean that character.
 */
export function isBroken(request: Request, text: string): boolean {
  if (!text.includes('\uFFFD')) return false;
  const length = request.headers.get('content-length');
  return length !== null && Number(length) !== Buffer.byteLength(text);
}

/**
 * A body as it comes, one piece in a turn of the event loop: Bun joins what comes until the next
 * one. A piece costs some µs, and the chunks that a stranger has sent would each be one: 40,000 of
 * one byte in each of 20 requests stopped everybody for seconds. Leaving the loop cancels the body.
 */
export async function* piecesOf({ body }: Request): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterable<Uint8Array> = body ?? new Blob([]).stream();
  for await (const piece of pieces) {
    yield piece;
    await breathe(timers);
  }
}

/**
 * Reads a body without Content-Length, up to a bound. The refusal where it is longer or is no text.
 */
async function readChunked(request: Request, bytesMax: number): Promise<string | Response> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of piecesOf(request)) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) return tooLarge(bytesMax);
    pieces.push(piece);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return refuseInvalid([{ path: [], message: 'is not valid UTF-8' }]);
  }
}

function tooLarge(bytesMax: number): Response {
  return refuse('payload_too_large', `the body must have at most ${bytesMax} bytes`, {
    // The announced body stays unread, so the connection cannot be used again.
    headers: { connection: 'close' },
  });
}
