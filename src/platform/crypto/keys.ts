import type { Mode } from '../../../ledger/kernel/tenant.ts';
import { createHash } from 'node:crypto';
import { newToken } from './tokens.ts';

/** The prefix alone decides what a key is for. */
export type KeyKind = { readonly kind: 'organisation' | 'group'; readonly mode: Mode };

const KEY = /^svc_(group_)?(test|live)_[0-9A-Za-z]{43}$/;

/** A new key. It is shown once: only `hashKey` of it is kept. */
export function newKey({ kind, mode }: KeyKind): string {
  return `svc_${kind === 'group' ? 'group_' : ''}${mode}_${newToken()}`;
}

/** What the text of a key says of it; null where it is no key. */
export function kindOfKey(key: string): KeyKind | null {
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
