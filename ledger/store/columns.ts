// Columns of a flush. A table of columns says once what a column is called, where its value comes
// from, and what the statement does with it. Both the SQL text (`flush-sql.ts`) and the parameters
// (`encode.ts`) follow from it.
//
// Rows come in one of two ways. Of the tables that most flushes write, each column is one
// parameter, an array (`ArrayColumn`). Of all other tables the rows are one parameter, an array of
// a composite type whose fields are the columns (`RowColumn`).
import type { JsonOf } from './json.ts';

/** An element of an array parameter. */
export type Cell = string | number | bigint | null;

/**
 * Of an array's elements. `time` is a timestamptz that comes as milliseconds, in a bigint;
 * `timestamptz` comes as one, for an array that is stored as it is.
 */
export type ArrayType =
  | 'uuid'
  | 'bigint'
  | 'integer'
  | 'smallint'
  | 'boolean'
  | 'jsonb'
  | 'reason'
  | 'transfer_kind'
  | 'time'
  | 'timestamptz';

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

/** What a value of a row is to PostgreSQL, and to us. */
export type ValueOf = {
  readonly uuid: string;
  readonly text: string;
  /** Of a type of the schema. */
  readonly enum: string;
  readonly bigint: bigint;
  readonly integer: number;
  readonly smallint: number;
  readonly boolean: boolean;
  /** A timestamptz, as milliseconds. */
  readonly time: number;
  readonly jsonb: unknown;
  /** A jsonb whose integers are exact (`json.ts`). */
  readonly exact_json: unknown;
};

export type ValueType = keyof ValueOf;

/** A column of rows that come as one array of them (`binary-rows.ts`). */
export type RowColumn<Row, Type extends ValueType = ValueType, Value = unknown> = {
  readonly type: Type;
  readonly of: (row: Row) => Value;
  /** What happens to the column of a row that exists. */
  readonly update: 'keep' | 'replace' | 'add';
};

export type RowColumns<Row> = Readonly<Record<string, RowColumn<Row>>>;

/** A column that never changes after the row is made. */
export function kept<Row, Type extends ValueType, Value extends ValueOf[Type] | null>(
  type: Type,
  of: (row: Row) => Value,
): RowColumn<Row, Type, Value> {
  return { type, of, update: 'keep' };
}

/** A column that the next flush replaces. */
export function replaced<Row, Type extends ValueType, Value extends ValueOf[Type] | null>(
  type: Type,
  of: (row: Row) => Value,
): RowColumn<Row, Type, Value> {
  return { type, of, update: 'replace' };
}

/** A column to which the next flush adds. */
export function added<Row, Type extends ValueType, Value extends ValueOf[Type] | null>(
  type: Type,
  of: (row: Row) => Value,
): RowColumn<Row, Type, Value> {
  return { type, of, update: 'add' };
}

/** The names of the columns, each after `prefix`. */
export function namesOf(columns: object, prefix = ''): string {
  return Object.keys(columns)
    .map((name) => prefix + name)
    .join(', ');
}

/** The `SET` list that takes new values out of `source`; `target` is the table that is updated. */
export function assignments(columns: RowColumns<never>, source: string, target: string): string {
  return Object.entries(columns)
    .filter(([, { update }]) => update !== 'keep')
    .map(([name, { update }]) =>
      update === 'add'
        ? `${name} = ${target}.${name} + ${source}.${name}`
        : `${name} = ${source}.${name}`,
    )
    .join(', ');
}

type Read<Type, Value> = Type extends 'time'
  ? Date | Extract<Value, null>
  : Type extends 'exact_json'
    ? JsonOf<Value>
    : Value;

/** A row as the database gives it back. */
export type RowOf<Columns> = {
  readonly [Name in keyof Columns]: Columns[Name] extends RowColumn<never, infer Type, infer Value>
    ? Read<Type, Value>
    : never;
};
