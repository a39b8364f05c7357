// Port and password of each embedded service, remembered in DATA_DIR/services.json (0600): a URL
// that was handed out stays right across restarts, unless another program took the port meanwhile.
import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ServiceFailure } from '../failure.ts';
import { writePrivate } from '../private-file.ts';

// Below the range from which systems take ports for outgoing connections: one of those must not
// hold our port at the moment a service is started again.
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const ATTEMPTS_MAX = 100;

export interface Credentials {
  readonly port: number;
  readonly password: string;
}

export type CredentialsOf = { readonly postgres: Credentials; readonly redis: Credentials };

/** @throws ServiceFailure where the file cannot be written or read, or no port is free */
export async function loadCredentials(dataDir: string): Promise<CredentialsOf> {
  const path = join(dataDir, 'services.json');
  const known = read(path);
  const postgres = await renew(known?.postgres);
  const redis = await renew(known?.redis, postgres.port);
  const credentials = { postgres, redis };
  try {
    writePrivate(path, `${JSON.stringify(credentials, null, 2)}\n`);
  } catch (error) {
    throw new ServiceFailure(`cannot write ${path}: ${String(error)}`, { cause: error });
  }
  return credentials;
}

function read(path: string): CredentialsOf | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as CredentialsOf;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new ServiceFailure(`cannot read ${path}: ${String(error)}`, { cause: error });
  }
}

async function renew(known: Credentials | undefined, taken?: number): Promise<Credentials> {
  const password = known?.password ?? randomBytes(24).toString('base64url');
  let port = known?.port ?? randomInt(PORT_MIN, PORT_MAX);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (port !== taken && (await isFree(port))) return { port, password };
    port = randomInt(PORT_MIN, PORT_MAX);
  }
  throw new ServiceFailure(`no free port between ${PORT_MIN} and ${PORT_MAX}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
