/** What marks a text as the secret of a webhook endpoint. */
export const SECRET_PREFIX = 'whsec_';

/** Bytes that every decoder of base64, strict or lax, gives back alike: without padding. */
export const SECRET_BYTES = 24;

/** The secret that a receiver verifies with. It is shown once. */
export function newSigningSecret(random: Uint8Array): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`not ${SECRET_BYTES} bytes`);
  return `${SECRET_PREFIX}${Buffer.from(random).toString('base64')}`;
}
