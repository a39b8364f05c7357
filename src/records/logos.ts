// Logos of organisations, in each mode: the present one and those before it, and what a browser
// gets by its hash.
//
// Holds: the settings name the logo by its hash (organisations.ts), so what renders a page never
// reads its bytes. Both change in one transaction, which holds the row of the settings. Mails that
// were sent show a logo that was replaced: the last KEPT_MAX are kept, until the logo is removed.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import type { LogoName } from './organisations.ts';

/** Bytes of an image. The table has the same bound. */
export const LOGO_BYTES_MAX = 64 * 1024;
/** Pixels of a side. */
export const LOGO_SIDE_MAX = 1024;

/** Of a mode, with the present one. */
const KEPT_MAX = 10;

export type Logo = LogoName & { readonly bytes: Uint8Array };

/**
 * 160 bits of SHA-256, in hex: shorter than what looks like the token of a link, which no log
 * shows.
 */
export function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 40);
}

/** In place of the one before. */
export async function putLogo(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  { hash, type, bytes, now }: Logo & { readonly now: number },
): Promise<void> {
  await sql`
    insert into logos (organisation_id, mode, hash, type, bytes, created_at)
    values (${organisationId}, ${mode}, ${hash}, ${type}, ${Buffer.from(bytes)}, ${new Date(now)})
    on conflict (organisation_id, mode, hash) do update set created_at = excluded.created_at`;
  await sql`
    delete from logos where (organisation_id, mode, hash) in (
      select organisation_id, mode, hash from logos
      where organisation_id = ${organisationId} and mode = ${mode}
      order by hash = ${hash} desc, created_at desc, hash offset ${KEPT_MAX})`;
}

/** All of them. Whether there was one. */
export async function deleteLogo(
  sql: Transaction,
  { organisationId, mode }: Tenant,
): Promise<boolean> {
  const { count } = await sql`
    delete from logos where organisation_id = ${organisationId} and mode = ${mode}`;
  return count > 0;
}

/** Whoever's it is: the same bytes are the same image. */
export async function findLogo(
  sql: Executor,
  hash: string,
): Promise<Pick<Logo, 'type' | 'bytes'> | null> {
  const [row] = await sql<Pick<Logo, 'type' | 'bytes'>[]>`
    select type, bytes from logos where hash = ${hash} limit 1`;
  return row ?? null;
}
