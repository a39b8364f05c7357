import { afterAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceFailure } from '../../src/platform/failure.ts';
import { checkSecrets, loadSecretsKey, openSecrets } from '../../src/platform/crypto/secrets.ts';

const KEY = randomBytes(32);
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OWNER = '01990000-0000-7000-8000-000000000001';
const OTHER = '01990000-0000-7000-8000-000000000002';
const ANOTHER_KEY =
  'the secrets in the database were encrypted with another key: set SECRETS_KEY to that one';

const parent = mkdtempSync(join(tmpdir(), 'tollhouse-secrets-'));
afterAll(() => rmSync(parent, { recursive: true }));

test('a sealed secret opens with the same key for the same owner', () => {
  const sealed = openSecrets(KEY).seal(SECRET, OWNER);
  expect(openSecrets(KEY).open(sealed, OWNER)).toBe(SECRET);
  expect(openSecrets(KEY).open(new Uint8Array(sealed), OWNER)).toBe(SECRET);
});

test('a secret is never sealed to the same bytes, and is not in them', () => {
  const secrets = openSecrets(KEY);
  const [one, two] = [secrets.seal(SECRET, OWNER), secrets.seal(SECRET, OWNER)];
  expect(one.equals(two)).toBe(false);
  for (const readable of [SECRET, SECRET.slice(6)]) expect(one.includes(readable)).toBe(false);
  expect(one.includes(Buffer.from(SECRET.slice(6), 'base64'))).toBe(false);
});

test('a sealed secret opens for no other owner or key, nor with a byte changed or missing', () => {
  const secrets = openSecrets(KEY);
  const sealed = secrets.seal(SECRET, OWNER);
  expect(() => secrets.open(sealed, OTHER)).toThrow();
  expect(() => openSecrets(randomBytes(32)).open(sealed, OWNER)).toThrow();
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    expect(() => secrets.open(changed, OWNER)).toThrow();
    expect(() => secrets.open(sealed.subarray(0, index), OWNER)).toThrow();
  }
});

test('a key that does not open the stored secrets stops the start', () => {
  const stored = { sealed: openSecrets(KEY).seal(SECRET, OWNER), ownerId: OWNER };
  expect(() => checkSecrets(openSecrets(KEY), stored)).not.toThrow();
  expect(() => checkSecrets(openSecrets(randomBytes(32)), null)).not.toThrow();
  const check = (): void => checkSecrets(openSecrets(randomBytes(32)), stored);
  expect(check).toThrow(new ServiceFailure(ANOTHER_KEY));
});

test('without a configured key one is made, readable by its owner alone, and stays', () => {
  const dataDir = join(parent, 'made');
  const key = loadSecretsKey({ secretsKey: undefined, dataDir });
  expect(key).toHaveLength(32);
  expect(readdirSync(dataDir)).toEqual(['secrets.key']);
  expect(statSync(join(dataDir, 'secrets.key')).mode & 0o777).toBe(0o600);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(loadSecretsKey({ secretsKey: undefined, dataDir })).toEqual(key);
  expect(loadSecretsKey({ secretsKey: undefined, dataDir: join(parent, 'second') })).not.toEqual(
    key,
  );
});

test('a configured key is used, and no key file is written', () => {
  const dataDir = join(parent, 'configured');
  expect(loadSecretsKey({ secretsKey: KEY, dataDir })).toBe(KEY);
  expect(readdirSync(parent)).not.toContain('configured');
});

test('processes that make the key at once end with one key', async () => {
  const dataDir = join(parent, 'raced');
  const script = `
    import { loadSecretsKey } from ${JSON.stringify(join(import.meta.dir, '../../src/platform/crypto/secrets.ts'))};
    const key = loadSecretsKey({ secretsKey: undefined, dataDir: ${JSON.stringify(dataDir)} });
    console.log(Buffer.from(key).toString('base64'));`;
  const started = Array.from({ length: 6 }, () =>
    Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' }),
  );
  const keys = await Promise.all(started.map(async (child) => (await child.stdout.text()).trim()));
  expect([...new Set(keys)]).toEqual([readFileSync(join(dataDir, 'secrets.key'), 'utf8').trim()]);
  expect(readdirSync(dataDir)).toEqual(['secrets.key']);
});

// prettier-ignore
test.each([
  [ 'nothing',         '' ],
  [ 'a short key',     randomBytes(16).toString('base64') ],
  [ 'something else',  'hello' ],
])('a key file with %s stops the start', (_what, text) => {
  const dataDir = mkdtempSync(join(parent, 'bad-'));
  writeFileSync(join(dataDir, 'secrets.key'), text);
  expect(() => loadSecretsKey({ secretsKey: undefined, dataDir })).toThrow(
    new ServiceFailure(`${dataDir}/secrets.key does not hold 32 bytes in base64`),
  );
});

test('a key directory that cannot be made stops the start', () => {
  writeFileSync(join(parent, 'file'), '');
  const load = (): unknown =>
    loadSecretsKey({ secretsKey: undefined, dataDir: join(parent, 'file') });
  expect(load).toThrow(ServiceFailure);
});
