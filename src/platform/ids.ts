import { hash } from 'node:crypto';
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
    for (const part of parts) text += `${part.length}:${part}`;
    const hex = hash('sha256', text, 'hex');
    const variant = VARIANT[hex.charCodeAt(16) & 3] ?? '8';
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  },

  fingerprint: (text) => BigInt.asIntN(64, Bun.hash.xxHash64(text)),
};

// The hex digits of the RFC 9562 variant: two fixed bits, two of the hash.
const VARIANT = '89ab';
