import pino, { type Logger } from 'pino';
import type { LogLevel } from '../config.ts';

export type Log = Logger;

const HIDDEN = '[hidden]';

/** Fields that hold a secret wherever they stand, one level deep too. */
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
];

// Secrets that come along in the text of an error or a path: our keys and tokens, and the password in a URL.
const KEY = /\b(svc_(?:group_)?(?:test|live)_|whsec_)[\w+/=-]+/g;
const BEARER = /\b(Bearer\s+)[^\s"]+/gi;
const URL_PASSWORD = /(\w+:\/\/[^\s:/@"]*:)[^\s@"]+@/g;
const PORTAL = /(\/(?:portal|pay)\/)[\w-]+/g;

/**
 * One JSON object a line, written at once, so that the last words of a dying process are not lost. No key, token or password
 * gets through, whichever field or message it is in.
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
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
        censor: HIDDEN,
      },
    },
    { write: (line) => write(withoutSecrets(line)) },
  );
}

function withoutSecrets(text: string): string {
  return text
    .replace(KEY, `$1${HIDDEN}`)
    .replace(BEARER, `$1${HIDDEN}`)
    .replace(URL_PASSWORD, `$1${HIDDEN}@`)
    .replace(PORTAL, `$1${HIDDEN}`);
}
