import pino, { type Logger } from 'pino';
import type { LogLevel } from '../config.ts';
import { safeError } from './postgres/safe-error.ts';

export type Log = Logger;

const HIDDEN = '[hidden]';

/** Fields that hold a secret, at the top level and one level below. */
const SECRET_FIELDS = [
  'authorization',
  'apiKey',
  'key',
  'password',
  'secret',
  'token',
  'databaseUrl',
  'redisUrl',
  'DATABASE_URL',
  'REDIS_URL',
  'NODE_SECRET',
  'SMTP_URL',
];

// Secrets within the text of an error or a path: our keys and tokens, and those of Stripe.
const KEY = /\b((?:svc|svc_group|sk|rk)_(?:test|live)_|whsec_)[\w+/=-]+/g;
const BEARER = /\b(Bearer\s+)[^\s"]+/gi;
const PORTAL = /(\/(?:portal|pay|invoices\/links\/open)\/)[\w-]+/g;

/**
 * One JSON object a line, written synchronously, so that the last lines of a dying process are not
 * lost. Keys, tokens and passwords are removed from every field and message, and of an error
 * everything that quotes a row.
 */
export function openLog(
  level: LogLevel,
  write: (line: string) => void = (line) => void process.stdout.write(line),
): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => safeError(error) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
        censor: HIDDEN,
      },
    },
    { write: (line) => write(withoutSecrets(line)) },
  );
}

function withoutSecrets(text: string): string {
  return withoutPasswords(text)
    .replace(KEY, `$1${HIDDEN}`)
    .replace(BEARER, `$1${HIDDEN}`)
    .replace(PORTAL, `$1${HIDDEN}`);
}

/**
 * Removes the password of `scheme://user:password@`. Not by a regular expression, which would start
 * again at every letter of a hostile text: each character is read twice at most.
 */
function withoutPasswords(text: string): string {
  const afterUser = /[\s:/@"]/g;
  const afterPassword = /[\s@"]/g;
  let clean = '';
  let kept = 0;
  let end = -1;
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    afterUser.lastIndex = at + 3;
    const password = (afterUser.exec(text)?.index ?? text.length) + 1;
    if (text[password - 1] !== ':') continue;
    if (end < password) {
      afterPassword.lastIndex = password;
      end = afterPassword.exec(text)?.index ?? text.length;
    }
    if (text[end] !== '@' || end === password) continue;
    clean += text.slice(kept, password) + HIDDEN;
    kept = end;
    at = end - 3;
  }
  return clean + text.slice(kept);
}
