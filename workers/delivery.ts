// The start of webhook delivery: it opens its own connections and runs in this process.
//
// Who calls: the server beside its API, and main.ts in a process that does nothing else.
import { timers } from '../src/platform/clock.ts';
import { ids } from '../src/platform/ids.ts';
import { openNames } from '../src/platform/net/dns.ts';
import { openPool } from '../src/platform/postgres/postgres.ts';
import { checkSecrets, openSecrets } from '../src/platform/crypto/secrets.ts';
import { findSealedSecret } from '../src/records/webhook-endpoints.ts';
import { openWorkers, type Workers, type WorkersDeps } from './open.ts';

const POOL = 8;

export type DeliveryOptions = {
  readonly databaseUrl: string;
  /** The key that encrypts the secrets of webhook endpoints. */
  readonly secretsKey: Uint8Array;
} & Pick<WorkersDeps, 'redisUrl' | 'clock' | 'allowLoopback' | 'log' | 'onAttempt'>;

/** @throws ServiceFailure where the stored secrets cannot be decrypted */
export async function openDelivery(options: DeliveryOptions): Promise<Workers> {
  const { databaseUrl, secretsKey, ...given } = options;
  const sql = openPool(databaseUrl, { max: POOL, applicationName: 'tollhouse deliveries' });
  const secrets = openSecrets(secretsKey);
  checkSecrets(secrets, await findSealedSecret(sql));
  const resolve = openNames(options);
  const workers = await openWorkers({
    ...given,
    sql,
    timers,
    ids,
    secrets,
    resolve,
    random: Math.random,
  });
  return {
    async close() {
      await workers.close();
      await sql.end({ timeout: 2 });
    },
  };
}
