// Idempotency keys, and the ids of requests: random text that no other client has, and a number. A
// key costs no entropy of its own, so that a call costs less.

const PER_PREFIX = 2 ** 20;

/**
 * A source of keys. The random part is made at the first key: workers have no randomness while they
 * start.
 */
export function newKeys(): () => string {
  let prefix = '';
  let count = PER_PREFIX;
  return () => {
    if (count === PER_PREFIX) {
      prefix = '';
      for (const byte of crypto.getRandomValues(new Uint8Array(16))) {
        prefix += byte.toString(16).padStart(2, '0');
      }
      count = 0;
    }
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
