/** The prefix of a webhook endpoint's secret. */
export const SECRET_PREFIX = 'whsec_';

/**
 * A length whose base64 has no padding, so that every decoder, strict or lax, returns the same
 * bytes.
 */
export const SECRET_BYTES = 24;

/** The secret that a receiver verifies with. It is shown once. */
export function newSigningSecret(random: Uint8Array): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`not ${SECRET_BYTES} bytes`);
  return `${SECRET_PREFIX}${Buffer.from(random).toString('base64')}`;
}
