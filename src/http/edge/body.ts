// Reads the body of a request, bounded, as the text of a JSON document or of an HTML form.
import { refuse, refuseInvalid } from './errors.ts';

/** Bytes of a body unless the operation says otherwise. */
export const BODY_BYTES_MAX = 1024 * 1024;

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
 * Reads a body without Content-Length, up to a bound. The refusal where it is longer or is no text.
 */
async function readChunked(request: Request, bytesMax: number): Promise<string | Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // The stream of a request's body can be read to its end by iterating it; leaving the loop cancels
  // it.
  const body: AsyncIterable<Uint8Array> | null = request.body;
  if (body === null) return '';
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return tooLarge(bytesMax);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
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
