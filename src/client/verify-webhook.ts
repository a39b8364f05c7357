// Whether a delivery is from the service, and recent. Web Crypto only.
//
// A delivery carries several signatures: the secret signs twice, by its decoded bytes as Standard
// Webhooks does and by its text as the contract says, and a replaced secret signs along. One that
// matches is enough. The time is signed, too, so an old delivery cannot be sent again.
import { WebhookVerificationError } from './errors.ts';
import type { Event } from './types.ts';

export type VerifyOptions = {
  /** How far the time of a delivery may be from now: 300 s unless said otherwise. */
  readonly toleranceS?: number;
  /** Milliseconds since 1970, in place of the clock. */
  readonly now?: number;
};

/** `Headers`, or an object of them as Node has it. */
export type WebhookHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const PREFIX = 'whsec_';
const VERSION = 'v1,';
/** More signatures are not looked at. */
const SIGNATURES_MAX = 20;

/**
 * The event of a delivery: throws a `WebhookVerificationError` where it must not be trusted. `body`
 * is the raw body, as it came: not parsed and written again.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceS = 300, now = Date.now() }: VerifyOptions = {},
): Promise<Event> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('the time is no number');
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceS) {
    throw new WebhookVerificationError('the time is too far from now');
  }
  const text = new TextEncoder();
  const bytes = typeof body === 'string' ? text.encode(body) : body;
  const signed = joined(text.encode(`${id}.${timestamp}.`), bytes);
  const given = signatures
    .split(' ', SIGNATURES_MAX)
    .filter((entry) => entry.startsWith(VERSION))
    .map((entry) => bytesOf(entry.slice(VERSION.length)));
  for (const key of keysOf(secret)) {
    for (const signature of given) {
      // Constant in time: `verify` compares.
      if (
        signature !== null &&
        (await crypto.subtle.verify('HMAC', await key, signature, signed))
      ) {
        return eventOf(bytes);
      }
    }
  }
  throw new WebhookVerificationError('no signature matches');
}

/** The secret's decoded bytes, where it can be decoded, and its text. */
function keysOf(secret: string): readonly Promise<CryptoKey>[] {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  if (text === '') throw new TypeError('the secret is empty');
  const decoded = bytesOf(text);
  const literal = new TextEncoder().encode(text);
  return (decoded === null || decoded.length === 0 ? [literal] : [decoded, literal]).map((bytes) =>
    crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']),
  );
}

function eventOf(bytes: Uint8Array): Event {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Event;
  } catch (cause) {
    throw new WebhookVerificationError('the body is no JSON', { cause });
  }
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : valueOf(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`the header ${name} is missing`);
}

function isHeaders(headers: WebhookHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers['get'] === 'function';
}

function valueOf(headers: Exclude<WebhookHeaders, Pick<Headers, 'get'>>, name: string): unknown {
  const found = Object.keys(headers).find((key) => key.toLowerCase() === name);
  return found === undefined ? undefined : headers[found];
}

/** The bytes of base64; null where it is none. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
