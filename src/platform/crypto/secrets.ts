// Encryption at rest of secrets that the service has to read again: those of webhook endpoints, and
// the keys of payment processors.
//
// A sealed secret is one byte of version, 12 of nonce, the text under AES-256-GCM, and 16 of tag.
// The owner's id is the additional data: in another owner's row the secret does not open.
//
// Holds: what was sealed opens with the same key for the same owner, and otherwise not at all.
// Does not: rotate the key. With another key every secret has to be issued again.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { must } from '../../../ledger/kernel/assert.ts';
import { ServiceFailure } from '../failure.ts';
import { syncDirectory, writePrivate } from '../private-file.ts';

const SECRETS_KEY_BYTES = 32;

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const HEAD_BYTES = 1 + NONCE_BYTES;

export type Secrets = {
  seal(text: string, ownerId: string): Buffer;
  /** @throws where it was sealed for another, with another key, or has been changed */
  open(sealed: Uint8Array, ownerId: string): string;
};

export function openSecrets(key: Uint8Array): Secrets {
  return {
    seal(text, ownerId) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(ownerId));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, sealed, cipher.getAuthTag()]);
    },

    open(sealed, ownerId) {
      if (sealed[0] !== VERSION) throw new Error(`a secret of ${ownerId} has no known version`);
      const nonce = sealed.subarray(1, HEAD_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(ownerId));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
  };
}

/**
 * Checks the key at the start against one stored secret of each kind: a wrong key stops the start,
 * and not each delivery and payment.
 * @throws ServiceFailure
 */
export function checkSecrets(
  secrets: Secrets,
  ...stored: readonly ({ readonly sealed: Uint8Array; readonly ownerId: string } | null)[]
): void {
  try {
    for (const one of stored) if (one !== null) secrets.open(one.sealed, one.ownerId);
  } catch (error) {
    throw new ServiceFailure(
      'the secrets in the database were encrypted with another key: set SECRETS_KEY to that one',
      { cause: error },
    );
  }
}

/**
 * The configured key, or that of DATA_DIR/secrets.key; null where there is neither. @throws
 * ServiceFailure
 */
export function findSecretsKey({ secretsKey, dataDir }: KeyPlace): Uint8Array | null {
  return secretsKey ?? keyIn(join(dataDir, 'secrets.key'), read);
}

/**
 * The configured key, or that of DATA_DIR/secrets.key (base64, 0600), which is made where it is
 * missing. Two processes that make it at once end with one key.
 * @throws ServiceFailure
 */
export function loadSecretsKey({ secretsKey, dataDir }: KeyPlace): Uint8Array {
  return secretsKey ?? must(keyIn(join(dataDir, 'secrets.key'), readOrMake), 'a key that was made');
}

type KeyPlace = {
  readonly secretsKey: Uint8Array | undefined;
  readonly dataDir: string;
};

function keyIn(path: string, take: (path: string) => string | undefined): Uint8Array | null {
  try {
    const text = take(path);
    if (text === undefined) return null;
    const key = Buffer.from(text, 'base64');
    if (key.length === SECRETS_KEY_BYTES) return key;
  } catch (error) {
    throw new ServiceFailure(`cannot read or make ${path}: ${String(error)}`, { cause: error });
  }
  throw new ServiceFailure(`${path} does not hold ${SECRETS_KEY_BYTES} bytes in base64`);
}

function readOrMake(path: string): string {
  const known = read(path);
  if (known !== undefined) return known;
  const mine = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writePrivate(mine, `${randomBytes(SECRETS_KEY_BYTES).toString('base64')}\n`);
  try {
    // A link fails where another process was first; a rename would replace its key.
    linkSync(mine, path);
    syncDirectory(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(mine);
  }
  return readFileSync(path, 'utf8');
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
