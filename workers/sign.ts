// The signature of a delivery (docs/spec/events.md#signature). Pure.
//
// The contract keys the HMAC with the text after `whsec_`; every Standard Webhooks library decodes
// that text first. So each secret signs twice, decoded first. A receiver accepts when any entry
// matches, so both kinds of receiver work.
import { SECRET_PREFIX } from '../src/platform/crypto/signing-secret.ts';

/**
 * Whether to send the headers from before Standard Webhooks, too. Release 0.2 removes them
 * (docs/spec/contract.md#events-of-the-contract).
 */
export const LEGACY_HEADERS: boolean = true;

export function signatureHeaders(options: {
  readonly id: string;
  readonly body: string;
  /** When this attempt is made, in milliseconds: receivers refuse what is older than 5 minutes. */
  readonly at: number;
  readonly secret: string;
  /** The replaced secret, while it still signs. */
  readonly previous: string | null;
  readonly legacy: boolean;
}): Record<string, string> {
  const { id, body, secret, previous, legacy } = options;
  const timestamp = String(Math.floor(options.at / 1000));
  const content = `${id}.${timestamp}.${body}`;
  const entries = (previous === null ? [secret] : [secret, previous])
    .map(keyText)
    .flatMap((key) => [Buffer.from(key, 'base64'), key])
    .map((key) => `v1,${hmac(key, content).digest('base64')}`);
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': entries.join(' '),
  };
  if (!legacy) return headers;
  const signature = hmac(keyText(secret), `${timestamp}.${body}`).digest('hex');
  return {
    ...headers,
    'X-Service-Signature': `t=${timestamp},v1=${signature}`,
    'X-Service-Timestamp': timestamp,
  };
}

/** Bun's own: the one of node:crypto is a stream, and costs a delivery 9 us more. */
function hmac(key: string | Buffer, text: string): Bun.CryptoHasher {
  return new Bun.CryptoHasher('sha256', key).update(text);
}

function keyText(secret: string): string {
  return secret.slice(SECRET_PREFIX.length);
}
