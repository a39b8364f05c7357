// The schema of a database as SQL that a person can read from top to bottom and PostgreSQL can run.
//
// It is read from the catalogue: the embedded PostgreSQL has no pg_dump. Tables are in the order in
// which the migrations made them. The catalogue has no comments, so those come from the migrations.
// What this file cannot print (a view, an identity column, ...) is an error, so that nothing is
// left out.
import type { Sql } from '../../src/platform/postgres/postgres.ts';

/**
 * By the name of a type, table, index, sequence or function, or `table.column`, `table.constraint`.
 */
export type Comments = ReadonlyMap<string, readonly string[]>;

type Named = { readonly name: string; readonly definition: string };
type Table = { readonly name: string; readonly settings: string; readonly parts: readonly Named[] };

const HEAD = `-- The schema that the migrations make, in one file to read: types, tables, functions, triggers. Only a test
-- runs it. \`bun run schema\` writes it from the migrations, comments too; a test fails when it is not theirs.
`;

export async function dumpSchema(sql: Sql, comments: Comments): Promise<string> {
  await refuseUnknown(sql);
  const chapters = [
    HEAD,
    described(await typesOf(sql), comments),
    described(await sequencesOf(sql), comments),
    ...(await tablesOf(sql, comments)),
    ...(await functionsOf(sql)).map(
      ({ name, definition }) => `${commentLines(comments, name)}${definition.trimEnd()};\n`,
    ),
    described(await triggersOf(sql), comments),
  ];
  return `${chapters.join('\n').trimEnd()}\n`;
}

async function refuseUnknown(sql: Sql): Promise<void> {
  const unknown = await sql<{ what: string }[]>`
    select 'relation ' || relname as what from pg_class
    where relnamespace = 'public'::regnamespace and relkind not in ('r', 'p', 'i', 'I', 'S', 'c')
    union all
    select 'column ' || attrelid::regclass || '.' || attname from pg_attribute
    join pg_class c on c.oid = attrelid
    where relnamespace = 'public'::regnamespace and (attidentity <> '' or attgenerated <> '')
    union all
    select 'type ' || typname from pg_type
    where typnamespace = 'public'::regnamespace and typtype not in ('b', 'c', 'e')
    union all
    select 'function ' || proname from pg_proc
    where pronamespace = 'public'::regnamespace and prokind not in ('f', 'p')
    union all
    select 'identity ' || relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relreplident not in ('d', 'f')
    union all
    select 'policy ' || polname from pg_policy
    union all
    select 'rule ' || rulename from pg_rewrite
    where ev_class in (select oid from pg_class where relnamespace = 'public'::regnamespace)`;
  if (unknown.length === 0) return;
  throw new Error(`the dump does not know: ${unknown.map(({ what }) => what).join(', ')}`);
}

/** Enumerations, and types of rows that are not a table's. */
const typesOf = (sql: Sql) => sql<Named[]>`
  select typname as name, case typtype
    when 'e' then format('CREATE TYPE %I AS ENUM (%s);', typname,
      (select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder)
        from pg_enum where enumtypid = t.oid))
    else format('CREATE TYPE %I AS (%s);', typname,
      (select string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum)
        from pg_attribute where attrelid = typrelid)) end as definition
  from pg_type t
  where typnamespace = 'public'::regnamespace
    and (typtype = 'e' or exists (select from pg_class where oid = typrelid and relkind = 'c'))
  order by oid`;

const sequencesOf = (sql: Sql) => sql<Named[]>`
  select relname as name, format('CREATE SEQUENCE %I AS %s START %s INCREMENT %s;',
    relname, format_type(seqtypid, null), seqstart, seqincrement) as definition
  from pg_class c join pg_sequence on seqrelid = c.oid
  where relnamespace = 'public'::regnamespace order by c.oid`;

async function tablesOf(sql: Sql, comments: Comments): Promise<string[]> {
  const tables = await sql<(Table & { indexes: readonly Named[] })[]>`
    select relname as name,
      case when relkind = 'p' then ' PARTITION BY ' || pg_get_partkeydef(c.oid) else '' end
        || coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', '') as settings,
      (select coalesce(jsonb_agg(jsonb_build_object('name', attname, 'definition',
          format('%I %s', attname, format_type(atttypid, atttypmod))
          || coalesce(' COLLATE ' || quote_ident(collname), '')
          || coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid, true), '')
          || case when attnotnull then ' NOT NULL' else '' end) order by attnum), '[]')
        from pg_attribute
        left join pg_attrdef on adrelid = attrelid and adnum = attnum
        left join pg_type t on t.oid = atttypid
        left join pg_collation l on l.oid = attcollation and l.oid <> t.typcollation
        where attrelid = c.oid and attnum > 0 and not attisdropped)
      || (select coalesce(jsonb_agg(jsonb_build_object('name', conname, 'definition',
          format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid, true)))
          order by array_position('{p,u,f,c}', contype::text), conname), '[]')
        from pg_constraint where conrelid = c.oid and contype <> 'n') as parts,
      (select coalesce(jsonb_agg(jsonb_build_object('name', i.relname, 'definition',
          pg_get_indexdef(i.oid, 0, true) || ';') order by i.relname), '[]')
        from pg_index x join pg_class i on i.oid = x.indexrelid
        where x.indrelid = c.oid
          and not exists (select from pg_constraint where conindid = i.oid and conrelid = c.oid))
      || case relreplident when 'f' then jsonb_build_array(jsonb_build_object('name', relname || ' identity',
          'definition', format('ALTER TABLE %I REPLICA IDENTITY FULL;', relname))) else '[]' end as indexes
    from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and relname <> 'schema_migrations' order by c.oid`;
  return tables.map((table) => {
    const text = createTable(table, comments);
    return table.indexes.length === 0 ? text : `${text}${described(table.indexes, comments)}`;
  });
}

function createTable({ name, settings, parts }: Table, comments: Comments): string {
  const lines = parts.map((part, index) => {
    const above = commentLines(comments, `${name}.${part.name}`, '  ');
    return `${above}  ${plain(part.definition)}${index === parts.length - 1 ? '' : ','}\n`;
  });
  const head = `${commentLines(comments, name)}CREATE TABLE ${name} (\n`;
  return `${head}${lines.join('')})${settings};\n`;
}

const functionsOf = (sql: Sql) => sql<Named[]>`
  select proname as name,
    replace(pg_get_functiondef(oid), 'OR REPLACE FUNCTION public.', 'FUNCTION ') as definition
  from pg_proc where pronamespace = 'public'::regnamespace order by oid`;

const triggersOf = (sql: Sql) => sql<Named[]>`
  select tgname as name, pg_get_triggerdef(t.oid, true) || ';' as definition
  from pg_trigger t join pg_class c on c.oid = tgrelid
  where relnamespace = 'public'::regnamespace and not tgisinternal order by relname, tgname`;

function described(all: readonly Named[], comments: Comments): string {
  return all.map((one) => `${commentLines(comments, one.name)}${plain(one.definition)}\n`).join('');
}

/** On one line, without PostgreSQL's redundant parts. */
const plain = (definition: string): string =>
  definition
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(' USING btree (', ' (')
    .replaceAll('timestamp with time zone', 'timestamptz');

function commentLines(comments: Comments, key: string, indent = ''): string {
  return (comments.get(key) ?? []).map((line) => `${indent}-- ${line}\n`).join('');
}
