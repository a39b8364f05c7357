// A webhook as the service sends it: the same headers, the same signatures.
//
// The key of the signature is the secret's text, decoded and as it stands, because receivers do
// either. The headers from before Standard Webhooks go along as long as the service sends them.
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Its base64 has no padding, so that every decoder returns the same bytes. */
const SECRET_BYTES = 24;
const SECRET = /^whsec_[A-Za-z0-9+/]{20,}={0,2}$/;

export const newSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

export const isSecret = (text: string): boolean => SECRET.test(text);

export function webhookHeaders(of: {
  readonly id: string;
  readonly body: string;
  /** When it is sent, in milliseconds: receivers refuse what is old. */
  readonly at: number;
  readonly secret: string;
}): Record<string, string> {
  const { id, body, at, secret } = of;
  const timestamp = String(Math.floor(at / 1000));
  const text = secret.slice(PREFIX.length);
  const sign = (key: string | Buffer, content: string) => createHmac('sha256', key).update(content);
  const signatures = [Buffer.from(text, 'base64'), text].map(
    (key) => `v1,${sign(key, `${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
    'X-Service-Signature': `t=${timestamp},v1=${sign(text, `${timestamp}.${body}`).digest('hex')}`,
    'X-Service-Timestamp': timestamp,
  };
}
