import { createHash, randomBytes } from 'node:crypto';

/** The prefix is the only source of truth of what a key is for. */
export type KeyScope = { readonly kind: 'organisation' | 'group'; readonly mode: 'test' | 'live' };

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** Digits that 32 bytes take in base 62. */
const SECRET_LENGTH = 43;

const KEY = /^svc_(group_)?(test|live)_[0-9A-Za-z]{43}$/;

/** A new key. It is shown once: only `hashKey` of it is kept. */
export function newKey({ kind, mode }: KeyScope): string {
  return `svc_${kind === 'group' ? 'group_' : ''}${mode}_${base62(randomBytes(RANDOM_BYTES))}`;
}

/** What the text of a key says; null where it is none. */
export function scopeOfKey(key: string): KeyScope | null {
  const match = KEY.exec(key);
  if (match === null) return null;
  return {
    kind: match[1] === undefined ? 'organisation' : 'group',
    mode: match[2] === 'live' ? 'live' : 'test',
  };
}

export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < SECRET_LENGTH) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
