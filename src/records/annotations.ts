// A merchant's notes on an object: tags, and custom fields, which also have a value.
//
// Holds: an object has each tag and each field once, and no more than the bound. None of them
// changes: each is made and removed, so there are two events. The object itself is never deleted.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { insertEvent } from './events.ts';
import { type Page, pageOf } from './page.ts';
import type { Echo } from './invoices.ts';
import { findRoom } from './capacity.ts';
import { isUuid } from './uuid.ts';

export const ANNOTATED = ['customer', 'subscription', 'invoice'] as const;
export type Annotated = (typeof ANNOTATED)[number];

export type AnnotationKind = 'tag' | 'custom_field';

export type Annotation = {
  readonly id: string;
  readonly kind: AnnotationKind;
  readonly objectType: Annotated;
  readonly objectId: string;
  readonly name: string;
  /** null for a tag. */
  readonly value: string | null;
  readonly createdAt: Date;
};

export type NewAnnotation = Omit<Annotation, 'createdAt'>;

type Row = Annotation & { readonly customerId: string | null };

const columns = (sql: Executor) => sql`
  id, kind, object_type as "objectType", object_id as "objectId", customer_id as "customerId", name, value,
  created_at as "createdAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode}`;

/** Announces it too. `annotation.id` and `eventId` are new. */
export async function insertAnnotation(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly annotation: NewAnnotation;
    readonly eventId: string;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<Annotation | 'no_such_object' | 'name_taken' | Full> {
  const { annotation, eventId, bounds, now } = options;
  const { id, kind, objectType, objectId, name, value } = annotation;
  const owner = await ownerOf(sql, scope, annotation);
  if (owner === null) return 'no_such_object';
  const bound = kind === 'tag' ? 'tagsPerObject' : 'customFieldsPerObject';
  // A name that exists is a conflict, even where there is no room.
  const rows = sql`annotations where object_id = ${objectId} and kind = ${kind} and name <> ${name}`;
  const full = await findRoom(sql, bounds, { bound, owner: objectId.toLowerCase(), rows });
  if (full !== null) return full;
  const [row] = await sql<Row[]>`
    insert into annotations (id, organisation_id, mode, kind, object_type, object_id, customer_id, name, value, created_at)
    values (${id}, ${scope.organisationId}, ${scope.mode}, ${kind}, ${objectType}, ${objectId}, ${owner.customerId},
      ${name}, ${value}, ${new Date(now)})
    on conflict do nothing returning ${columns(sql)}`;
  if (row === undefined) return 'name_taken';
  const event = { id: eventId, sequence: 1n, at: row.createdAt };
  await announce(sql, scope, { row, event, what: 'created' });
  return row;
}

/** Newest first; up to one row more than `limit`. */
export async function listAnnotations(
  sql: Executor,
  scope: Tenant,
  options: Page & {
    readonly kind: AnnotationKind;
    readonly objectType?: Annotated | undefined;
    readonly objectId?: string | undefined;
    readonly name?: string | undefined;
  },
): Promise<Annotation[]> {
  const { kind, objectType, objectId, name } = options;
  return sql<Row[]>`
    select ${columns(sql)} from annotations
    where ${inScope(sql, scope)} and kind = ${kind}
      ${objectType === undefined ? sql`` : sql`and object_type = ${objectType}`}
      ${objectId === undefined ? sql`` : sql`and object_id = ${objectId}`}
      ${name === undefined ? sql`` : sql`and name = ${name}`}
    ${pageOf(sql, 'annotations', options)}`;
}

/** Whether it existed. */
export async function deleteAnnotation(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly kind: AnnotationKind;
    readonly id: string;
    readonly eventId: string;
    readonly now: number;
  },
): Promise<boolean> {
  const { kind, id, eventId, now } = options;
  if (!isUuid(id)) return false;
  const [row] = await sql<Row[]>`
    delete from annotations where ${inScope(sql, scope)} and kind = ${kind} and id = ${id}
    returning ${columns(sql)}`;
  if (row === undefined) return false;
  // After the creation, even where the clock stands still or goes back.
  const at = new Date(Math.max(now, row.createdAt.getTime() + 1));
  await announce(sql, scope, { row, event: { id: eventId, sequence: 2n, at }, what: 'deleted' });
  return true;
}

/** The owner of the object; null where the scope has no such object. */
async function ownerOf(
  sql: Executor,
  scope: Tenant,
  { objectType, objectId }: NewAnnotation,
): Promise<{ readonly customerId: string | null } | null> {
  const [row] = await sql<{ customerId: string | null }[]>`
    select ${objectType === 'customer' ? sql`id` : sql`customer_id`} as "customerId"
    from ${sql(`${objectType}s`)} where ${inScope(sql, scope)} and id = ${objectId}`;
  return row ?? null;
}

/** The metadata that an invoice without a customer shows. */
const NOBODY: Echo = { externalCustomerId: null, metadata: {} };

async function announce(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly row: Row;
    readonly event: { readonly id: string; readonly sequence: bigint; readonly at: Date };
    readonly what: 'created' | 'deleted';
  },
): Promise<void> {
  const { row, event, what } = options;
  const { id, kind, customerId, name, value } = row;
  const objectType = row.objectType.toUpperCase();
  const [owner] = await sql<Echo[]>`
    select external_customer_id as "externalCustomerId", metadata from customers where id = ${customerId}`;
  const own =
    kind === 'tag'
      ? {
          tagId: id,
          tagName: name,
          controlTag: false,
          taggedObjectType: objectType,
          taggedObjectId: row.objectId,
        }
      : {
          customFieldId: id,
          name,
          value,
          fieldObjectType: objectType,
          fieldObjectId: row.objectId,
        };
  await insertEvent(sql, scope, {
    ...event,
    type: `${kind}.${what}`,
    objectType: kind === 'tag' ? 'TAG' : 'CUSTOM_FIELD',
    objectId: id,
    accountId: customerId,
    data: { ...own, ...(owner ?? NOBODY) },
  });
}
