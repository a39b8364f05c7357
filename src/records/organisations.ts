// Groups and organisations, and an organisation's settings.
//
// Holds: each mode has its own settings, so that a test key never changes what a live invoice says
// or when a live debt is given up. A new name alone goes to both, unless a test key gives it
// (http/routes/organization.ts). A change of settings holds their row until the commit: the
// events of a mode ascend in their numbers and their times.
import { must } from '../../ledger/kernel/assert.ts';
import type { DunningPolicy } from '../../ledger/subscriptions/dunning.ts';
import type { ImageHeader } from '../platform/image.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { insertEvents, type NewEvent } from './events.ts';
import { type Tenant, tenantOf } from '../../ledger/kernel/tenant.ts';

export type NewOrganisation = {
  readonly id: string;
  readonly groupId: string | null;
  readonly name: string;
};

/** The seller, as invoices print it. */
export type SellerDetails = {
  readonly name: string | null;
  readonly addressLine1: string | null;
  readonly addressLine2: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly postalCode: string | null;
  readonly country: string | null;
  readonly taxId: string | null;
  readonly email: string | null;
  readonly phone: string | null;
};

/** An image by what it is: the bytes are in another table (logos.ts). */
export type LogoName = {
  /** Its address: what `hashOf` makes of the bytes (logos.ts). */
  readonly hash: string;
  readonly type: ImageHeader['type'];
  /** Pixels. */
  readonly width: number;
  readonly height: number;
};

/** What the pages and mails for its customers look like, and where these turn to. */
export type Branding = {
  /** `#rrggbb`, in lower case. */
  readonly color: string | null;
  readonly logo: LogoName | null;
  readonly supportEmail: string | null;
  readonly supportUrl: string | null;
};

export type OrganisationRecord = Tenant & {
  readonly name: string;
  /** An IANA zone: where its calendar days begin and end. */
  readonly timezone: string;
  readonly seller: SellerDetails;
  readonly dunning: DunningPolicy;
  readonly branding: Branding;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** What may change. Of seller, dunning and branding, undefined leaves a field as it is. */
export type OrganisationPatch = {
  readonly name?: string | undefined;
  readonly timezone?: string | undefined;
  readonly seller?: Undefinable<SellerDetails> | undefined;
  readonly dunning?: Undefinable<DunningPolicy> | undefined;
  readonly branding?: Undefinable<Branding> | undefined;
};

type Undefinable<T> = { readonly [field in keyof T]?: T[field] | undefined };

/** Why a dunning policy is not valid. */
export type DunningFault = 'retries_not_ascending' | 'retries_past_expiry' | 'blocked_past_expiry';

/** The settings that renewals and dunning follow. */
export type BillingPolicy = { readonly zone: string; readonly dunning: DunningPolicy };

const NOBODY: SellerDetails = {
  name: null,
  addressLine1: null,
  addressLine2: null,
  city: null,
  state: null,
  postalCode: null,
  country: null,
  taxId: null,
  email: null,
  phone: null,
};

const PLAIN: Branding = { color: null, logo: null, supportEmail: null, supportUrl: null };

/** What may change, by its name in `organization.config_changed`. */
export const SETTINGS: readonly string[] = [
  'timezone',
  ...Object.keys(NOBODY),
  ...(['retryDays', 'blockAfterDays', 'expireAfterDays'] satisfies (keyof DunningPolicy)[]),
  ...Object.keys(PLAIN),
  'account',
  'secretKey',
  'webhookSecret',
];

type Row = Omit<OrganisationRecord, 'seller' | 'dunning' | 'branding'> &
  DunningPolicy & {
    readonly seller: Partial<SellerDetails>;
    readonly branding: Partial<Branding>;
    readonly sequence: bigint;
  };

export async function insertGroup(
  sql: Executor,
  group: { readonly id: string; readonly name: string; readonly now: number },
): Promise<void> {
  await sql`
    insert into groups (id, name, created_at)
    values (${group.id}, ${group.name}, ${new Date(group.now)})`;
}

export async function insertOrganisation(
  sql: Executor,
  organisation: NewOrganisation & { readonly now: number },
): Promise<void> {
  const { id, groupId, name, now } = organisation;
  await sql`
    insert into organisations (id, group_id, name, created_at)
    values (${id}, ${groupId}, ${name}, ${new Date(now)})`;
  await sql`
    insert into organisation_settings (organisation_id, mode, updated_at)
    select ${id}, unnest(enum_range(null::mode)), ${new Date(now)}`;
}

export async function groupExists(sql: Executor, id: string): Promise<boolean> {
  const rows = await sql`select 1 from groups where id = ${id}`;
  return rows.length > 0;
}

export async function organisationExists(sql: Executor, id: string): Promise<boolean> {
  const rows = await sql`select 1 from organisations where id = ${id}`;
  return rows.length > 0;
}

/** Its group, or null. Locks its row until the commit. */
export async function lockGroupOf(
  sql: Transaction,
  id: string,
): Promise<{ readonly groupId: string | null } | undefined> {
  const [row] = await sql<{ groupId: string | null }[]>`
    select group_id as "groupId" from organisations where id = ${id} for no key update`;
  return row;
}

/** Moves it to another group, or out of its group. */
export async function moveToGroup(
  sql: Transaction,
  id: string,
  move: { readonly from: string | null; readonly to: string | null; readonly now: number },
): Promise<void> {
  const at = new Date(move.now);
  await sql`update organisations set group_id = ${move.to}, group_since = ${at} where id = ${id}`;
  if (move.from === null) return;
  await sql`
    insert into groups_left (organisation_id, group_id, left_at) values (${id}, ${move.from}, ${at})
    on conflict (organisation_id, group_id) do update set left_at = excluded.left_at`;
}

/** All there are, the oldest first. */
export async function listOrganisations(
  sql: Executor,
): Promise<readonly (NewOrganisation & { readonly createdAt: Date })[]> {
  return sql<(NewOrganisation & { createdAt: Date })[]>`
    select id, group_id as "groupId", name, created_at as "createdAt"
    from organisations order by created_at, id`;
}

export async function anyOrganisationExists(sql: Executor): Promise<boolean> {
  const rows = await sql`select 1 from organisations limit 1`;
  return rows.length > 0;
}

export async function findOrganisation(sql: Executor, scope: Tenant): Promise<OrganisationRecord> {
  return recordOf(await readRow(sql, scope, sql``));
}

/** In its mode. */
export async function brandingOf(sql: Executor, scope: Tenant): Promise<Branding> {
  return (await findOrganisation(sql, scope)).branding;
}

export async function billingPolicyOf(sql: Executor, scope: Tenant): Promise<BillingPolicy> {
  const { timezone: zone, dunning } = await findOrganisation(sql, scope);
  return { zone, dunning };
}

/**
 * Holds its settings in both modes until the commit, in one order: of two that hold them one waits.
 */
export async function holdSettings(sql: Transaction, organisationId: string): Promise<void> {
  await sql`
    select from organisation_settings where organisation_id = ${organisationId}
    order by mode for update`;
}

/**
 * Announces each part that changed. A patch that changes nothing has no event, and one that does
 * not fit the settings changes nothing.
 */
export async function updateOrganisation(
  sql: Transaction,
  scope: Tenant,
  { patch, ...teller }: { readonly patch: OrganisationPatch } & Teller,
): Promise<OrganisationRecord | DunningFault> {
  const row = await readRow(sql, scope, sql`for update of s`);
  const before = recordOf(row);
  const after = patched(before, patch);
  const fault = faultOf(after.dunning);
  if (fault !== null) return fault;
  const parts = changedParts(before, after);
  if (parts.length === 0) return before;
  const events = eventsOf(row, parts, teller);
  const last: NewEvent = must(events.at(-1), 'an event for each part');
  await writeRow(sql, after, { renamed: after.name !== before.name, last });
  await insertEvents(sql, events);
  return { ...after, updatedAt: last.at };
}

/**
 * Announces a change of a part whose values are not settings. The row of the settings is locked
 * until the commit.
 */
export async function announcePart(
  sql: Transaction,
  scope: Tenant,
  { part, ...teller }: { readonly part: Part } & Teller,
): Promise<void> {
  const row = await readRow(sql, scope, sql`for update of s`);
  const events = eventsOf(row, [part], teller);
  const { sequence, at } = must(events[0], 'an event of the part');
  await sql`
    update organisation_settings set event_sequence = ${sequence}, updated_at = ${at}
    where organisation_id = ${scope.organisationId} and mode = ${scope.mode}`;
  await insertEvents(sql, events);
}

type Teller = {
  /** Who makes the change. */
  readonly actor: string;
  readonly newEventId: () => string;
  readonly now: number;
};

/** One for each part. */
function eventsOf(row: Row, parts: readonly Part[], { actor, newEventId, now }: Teller) {
  // Events of one object are at least a millisecond apart, even where the clock stands still or
  // goes back.
  const first = Math.max(now, row.updatedAt.getTime() + 1);
  return parts.map(({ key, changes }, index) => ({
    ...tenantOf(row),
    id: newEventId(),
    type: 'organization.config_changed' as const,
    objectType: 'ORGANIZATION' as const,
    objectId: row.organisationId,
    accountId: null,
    sequence: row.sequence + BigInt(index + 1),
    at: new Date(first + index),
    data: { key, changes: [...changes], actor },
  }));
}

/** The settings of an organisation that exists. */
async function readRow(
  sql: Executor,
  { organisationId, mode }: Tenant,
  lock: ReturnType<Executor>,
): Promise<Row> {
  const [row] = await sql<Row[]>`
    select s.organisation_id as "organisationId", s.mode, coalesce(s.name, o.name) as name, s.timezone, s.seller, s.branding,
      s.retry_days as "retryDays", s.block_after_days as "blockAfterDays", s.expire_after_days as "expireAfterDays",
      s.event_sequence as sequence, o.created_at as "createdAt", s.updated_at as "updatedAt"
    from organisation_settings s join organisations o on o.id = s.organisation_id
    where s.organisation_id = ${organisationId} and s.mode = ${mode} ${lock}`;
  return must(row, 'every organisation has settings in each mode');
}

async function writeRow(
  sql: Transaction,
  { organisationId, mode, name, timezone, seller, dunning, branding }: OrganisationRecord,
  { renamed, last }: { readonly renamed: boolean; readonly last: NewEvent },
): Promise<void> {
  await sql`
    update organisation_settings set name = ${renamed ? name : sql`name`}, timezone = ${timezone},
      seller = ${sql.json(seller)}, retry_days = ${dunning.retryDays.map(String)}::text[]::integer[],
      block_after_days = ${dunning.blockAfterDays}, expire_after_days = ${dunning.expireAfterDays},
      branding = ${sql.json(branding)},
      event_sequence = ${last.sequence}, updated_at = ${last.at}
    where organisation_id = ${organisationId} and mode = ${mode}`;
}

function recordOf(row: Row): OrganisationRecord {
  const {
    sequence: _,
    retryDays,
    blockAfterDays,
    expireAfterDays,
    seller,
    branding,
    ...rest
  } = row;
  return {
    ...rest,
    seller: { ...NOBODY, ...seller },
    dunning: { retryDays, blockAfterDays, expireAfterDays },
    branding: { ...PLAIN, ...branding },
  };
}

function patched(before: OrganisationRecord, patch: OrganisationPatch): OrganisationRecord {
  return {
    ...before,
    name: patch.name ?? before.name,
    timezone: patch.timezone ?? before.timezone,
    seller: merged(before.seller, patch.seller),
    dunning: merged(before.dunning, patch.dunning),
    branding: merged(before.branding, patch.branding),
  };
}

function merged<T extends object>(before: T, patch: Undefinable<T> = {}): T {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(given) };
}

function faultOf({
  retryDays,
  blockAfterDays,
  expireAfterDays,
}: DunningPolicy): DunningFault | null {
  const ascends = retryDays.every((day, index) => day > (retryDays[index - 1] ?? 0));
  if (!ascends) return 'retries_not_ascending';
  if ((retryDays.at(-1) ?? 0) >= expireAfterDays) return 'retries_past_expiry';
  return blockAfterDays > expireAfterDays ? 'blocked_past_expiry' : null;
}

type Part = {
  readonly key: 'name' | 'timezone' | 'seller' | 'dunning' | 'branding' | 'processor';
  /** The names of what changed in it. */
  readonly changes: readonly string[];
};

/** The parts that changed, each with its fields. */
function changedParts(before: OrganisationRecord, after: OrganisationRecord): Part[] {
  const parts: Part[] = [
    { key: 'name', changes: before.name === after.name ? [] : ['name'] },
    { key: 'timezone', changes: before.timezone === after.timezone ? [] : ['timezone'] },
    { key: 'seller', changes: differences(before.seller, after.seller) },
    { key: 'dunning', changes: differences(before.dunning, after.dunning) },
    { key: 'branding', changes: differences(before.branding, after.branding) },
  ];
  return parts.filter(({ changes }) => changes.length > 0);
}

function differences<T extends object>(before: T, after: T): string[] {
  const names = Object.keys(after) as (keyof T & string)[];
  return names.filter((name) => !Bun.deepEquals(before[name], after[name]));
}
