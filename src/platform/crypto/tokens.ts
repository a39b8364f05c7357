import { createHmac, hkdfSync, randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;

const TOKEN = /^[0-9A-Za-z]{43}$/;
const BITS_OF_A_DIGIT = Math.log2(DIGITS.length);

/** An unguessable text: 256 bits in base 62, which needs no escaping in a URL. */
export function newToken(): string {
  return toBase62(randomBytes(RANDOM_BYTES));
}

/**
 * Tokens that follow from what they are for: MACs (HMAC-SHA-256, 256 bits), whose key is derived
 * from SECRETS_KEY for this purpose. Nobody makes one without it.
 */
export function openTokensOf(secretsKey: Uint8Array, purpose: string): (of: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secretsKey, '', purpose, RANDOM_BYTES));
  return (of) => toBase62(createHmac('sha256', key).update(of).digest());
}

/** Whether it could be one. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** A fixed number of digits for each length in bytes. */
export function toBase62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < digitsOf(bytes.length)) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** What `toBase62` made of so many bytes; null where the text is none of that. */
export function fromBase62(text: string, length: number): Buffer | null {
  if (text.length !== digitsOf(length)) return null;
  let number = 0n;
  for (const digit of text) {
    const value = DIGITS.indexOf(digit);
    if (value < 0) return null;
    number = number * 62n + BigInt(value);
  }
  const hex = number.toString(16).padStart(length * 2, '0');
  return hex.length > length * 2 ? null : Buffer.from(hex, 'hex');
}

function digitsOf(bytes: number): number {
  return Math.ceil((bytes * 8) / BITS_OF_A_DIGIT);
}
