import type { Ids } from '../../ledger/ports.ts';

/**
 * Ids are UUIDv7, which index well because they ascend. Derived ones are version 8: their bits are
 * the hash of what they belong to, so that the same cause always gets the same id.
 */
export const ids: Ids = {
  next: () => Bun.randomUUIDv7(),

  derive(...parts) {
    let text = '';
    // Each part with its length, so that different lists of parts never give the same text.
    for (const part of parts) text = `${text}${part.length}:${part}`;
    Bun.SHA256.hash(text, HASH);
    return uuidOf(HASH);
  },

  fingerprint: (text) => BigInt.asIntN(64, Bun.hash.xxHash64(text)),
};

/** The first 16 bytes, as a UUID of version 8. */
function uuidOf(bytes: Uint8Array): string {
  let place = 0;
  for (let i = 0; i < 16; i += 1) {
    if (i === 4 || i === 6 || i === 8 || i === 10) UUID[place++] = DASH;
    const byte = bytes[i] ?? 0;
    UUID[place++] = HEX[byte >> 4] ?? 0;
    UUID[place++] = HEX[byte & 15] ?? 0;
  }
  UUID[VERSION_AT] = HEX[8] ?? 0;
  // Two fixed bits, two of the code of the digit that was there: ids must stay as they are.
  UUID[VARIANT_AT] = HEX[8 + ((UUID[VARIANT_AT] ?? 0) & 3)] ?? 0;
  return UUID.toString('latin1');
}

// Filled anew for each id: a string of pieces costs an object for each of them.
const HASH = new Uint8Array(32);
const UUID = Buffer.alloc(36);
const HEX = Buffer.from('0123456789abcdef');
const DASH = '-'.charCodeAt(0);
// Digits of a UUID with its dashes (RFC 9562).
const VERSION_AT = 14;
const VARIANT_AT = 19;
