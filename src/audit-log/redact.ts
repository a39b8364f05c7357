// A value without secrets, as it is written to the audit log.
//
// Holds: what has the name of a secret, at any depth, is left out, and so is what looks like one of
// ours or of Stripe's in any text: a key, a token of a link, the secret of a webhook. Credentials
// and the query of an address are left out, too.
// Does not: know a secret that a merchant stores under an innocent name.

const LEFT_OUT = '[left out]';

const NAMES: ReadonlySet<string> = new Set([
  'key',
  'cvc',
  'cvv',
  'pan',
  'otp',
  'totp',
  'passwd',
  'recovery_codes',
  'backup_codes',
]);
const NAME =
  /(?:secret|password|passphrase|authorization|cookie|credentials?|(?:api|private|secret|access|signing)_key|card_number)$|(?:^|_)tokens?$|^secret/;

/** A key of ours or of Stripe's, the secret of a webhook; a token of a link, in base 62. */
const SECRET =
  /\b(?:svc_(?:group_)?(?:test|live)|[sr]k_(?:test|live)|whsec|acting)_[\w+/=-]+|otpauth:\S+|[\dA-Za-z]{43,}/g;
const CREDENTIALS = /\b([a-z][a-z\d+.-]*:\/\/)[^\s/?#@]+@/gi;
const QUERY = /\b(https?:\/\/[^\s?#]+)[?#]\S+/gi;

const DEPTH_MAX = 20;

export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return LEFT_OUT;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      redactText(name),
      isSecret(name, item) ? LEFT_OUT : redact(item, depth + 1),
    ]),
  );
}

function redactText(text: string): string {
  return text
    .replaceAll('\0', '')
    .toWellFormed()
    .replaceAll(SECRET, LEFT_OUT)
    .replaceAll(CREDENTIALS, `$1${LEFT_OUT}@`)
    .replaceAll(QUERY, `$1?${LEFT_OUT}`);
}

/** A number of tokens is none: it is what an application counts. */
function isSecret(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return false;
  const plain = name
    .replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter}`)
    .replaceAll(/[^A-Za-z\d]+/g, '_')
    .toLowerCase();
  if (typeof value === 'number' && plain.endsWith('tokens')) return false;
  return NAMES.has(plain) || NAME.test(plain);
}
