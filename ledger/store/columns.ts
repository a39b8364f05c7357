// Columns of a flush. A table of columns says once what a column is called, where its value comes
// from, and what the statement does with it. Both the SQL text (`flush-sql.ts`) and the parameters
// (`encode.ts`) follow from it.
//
// Rows come in one of two ways. Of the tables that most flushes write, each column is one
// parameter, an array (`ArrayColumn`). Rows of all other tables come in one JSON document
// (`JsonColumn`), whose fields are the columns.
import { iso } from '../kernel/iso.ts';

/** An element of an array parameter. */
export type Cell = string | number | bigint | null;

/** Of an array's elements. `time` is a timestamptz that comes as milliseconds, in a bigint. */
export type ArrayType =
  | 'uuid'
  | 'bigint'
  | 'smallint'
  | 'boolean'
  | 'jsonb'
  | 'reason'
  | 'transfer_kind'
  | 'time';

/** A column whose values come as an array, in PostgreSQL's binary format (`binary.ts`). */
export type ArrayColumn<Row> = {
  readonly type: ArrayType;
  readonly of: (row: Row) => Cell;
  /** Whether a value that all rows have comes once, with the fence, instead of in each row. */
  readonly shared: boolean;
  /** The value as SQL, where it is not just the element. */
  readonly sql?: string;
};

export type ArrayColumns<Row> = Readonly<Record<string, ArrayColumn<Row>>>;

/** A column of rows that come as JSON. */
export type JsonColumn<Row, Value = unknown> = {
  readonly of: (row: Row) => Value;
  /** What happens to the column of a row that exists. */
  readonly update: 'keep' | 'replace' | 'add';
};

export type JsonColumns<Row> = Readonly<Record<string, JsonColumn<Row>>>;

/** A column that never changes after the row is made. */
export function kept<Row, Value>(of: (row: Row) => Value): JsonColumn<Row, Value> {
  return { of, update: 'keep' };
}

/** A column that the next flush replaces. */
export function replaced<Row, Value>(of: (row: Row) => Value): JsonColumn<Row, Value> {
  return { of, update: 'replace' };
}

/** A column to which the next flush adds. */
export function added<Row, Value>(of: (row: Row) => Value): JsonColumn<Row, Value> {
  return { of, update: 'add' };
}

export function encodeRows<Row>(columns: JsonColumns<Row>, rows: readonly Row[]): object[] {
  const entries = Object.entries(columns);
  return rows.map((row) => {
    const encoded: Record<string, unknown> = {};
    for (const [name, { of }] of entries) encoded[name] = of(row);
    return encoded;
  });
}

/** The names of the columns, each after `prefix`. */
export function namesOf(columns: object, prefix = ''): string {
  return Object.keys(columns)
    .map((name) => prefix + name)
    .join(', ');
}

/** The `SET` list that takes new values out of `source`; `target` is the table that is updated. */
export function assignments(columns: JsonColumns<never>, source: string, target: string): string {
  return Object.entries(columns)
    .filter(([, { update }]) => update !== 'keep')
    .map(([name, { update }]) =>
      update === 'add'
        ? `${name} = ${target}.${name} + ${source}.${name}`
        : `${name} = ${source}.${name}`,
    )
    .join(', ');
}

declare const STORED: unique symbol;

/** Text in the JSON document, of which the database makes a `T`. */
export type Stored<T> = string & { readonly [STORED]: T };

type Read<Value> = Value extends { readonly [STORED]: infer T } ? T : Value;

/** A row as the database gives it back. */
export type RowOf<Columns> = {
  readonly [Name in keyof Columns]: Columns[Name] extends JsonColumn<never, infer Value>
    ? Read<Value>
    : never;
};

/** Milliseconds as the database reads them. */
export function time(at: number): Stored<Date>;
export function time(at: number | null): Stored<Date> | null;
export function time(at: number | null): Stored<Date> | null {
  return iso(at) as Stored<Date> | null;
}

/** A bigint as the database reads it. JSON has no integers beyond 2^53. */
export function int8(value: bigint): Stored<bigint> {
  return String(value) as Stored<bigint>;
}
