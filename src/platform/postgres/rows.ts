// Many rows as one parameter, in binary: as JSON they cost PostgreSQL several times as much to
// read.
//
//     insert into t (${namesOf(sql, FIELDS)}) select ... from unnest(${rowsOf(sql, FIELDS, rows)}::a_type[])
//
// Holds: the fields are the attributes of the composite type, in its order. PostgreSQL refuses
// others.
import { binaryRows } from '../../../ledger/store/binary-rows.ts';
import type { RowColumns, ValueOf, ValueType } from '../../../ledger/store/columns.ts';
import type { Executor } from './postgres.ts';

export type Fields = Readonly<Record<string, ValueType>>;

export type RowOfFields<F extends Fields> = {
  readonly [Name in keyof F]: ValueOf[F[Name]] | null;
};

export function namesOf(sql: Executor, fields: Fields) {
  return sql.unsafe(Object.keys(fields).join(', '));
}

export function rowsOf<F extends Fields>(
  sql: Executor,
  fields: F,
  rows: readonly RowOfFields<F>[],
) {
  const columns: RowColumns<RowOfFields<F>> = Object.fromEntries(
    Object.entries(fields).map(([name, type]) => {
      return [name, { type, of: (row: RowOfFields<F>) => row[name], update: 'keep' }] as const;
    }),
  );
  const { bytes, type } = binaryRows(columns, rows);
  return sql.typed(bytes as never, type);
}
