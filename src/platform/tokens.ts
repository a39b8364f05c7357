import { randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** Digits that 32 bytes take in base 62. */
const TOKEN_LENGTH = 43;

const TOKEN = /^[0-9A-Za-z]{43}$/;

/** A text that nobody guesses: 256 bits in base 62, so that it stands in a URL as it is. */
export function newToken(): string {
  let rest = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  let text = '';
  while (text.length < TOKEN_LENGTH) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** Whether it could be one. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}
