// Rows of a table as an array of a composite type, in PostgreSQL's binary format (`record_send`).
// As one JSON document they cost PostgreSQL six times as much to read.
//
// Holds: the fields come in the order of the columns, which is that of the type's attributes
// (`flush_*` in the migrations). PostgreSQL refuses another number of fields, and other types.
import {
  BIGINT,
  type BinaryArray,
  BOOLEAN,
  type Element,
  INTEGER,
  JSONB,
  SMALLINT,
  TEXT,
  TIMESTAMPTZ,
  type Value,
  UUID,
} from './binary.ts';
import type { RowColumns, ValueType } from './columns.ts';
import { jsonText } from './json.ts';

/** `cellOf` makes of a value what the element writes. */
type Field = { readonly element: Element; readonly cellOf: (value: unknown) => Value };

const asItIs = (value: unknown): Value => value as Value;

const FIELDS: Readonly<Record<ValueType, Field>> = {
  uuid: { element: UUID, cellOf: asItIs },
  text: { element: TEXT, cellOf: asItIs },
  // No type that is the same in each database has this number: PostgreSQL takes the column's own.
  enum: { element: { ...TEXT, oid: 16_384 }, cellOf: asItIs },
  bigint: { element: BIGINT, cellOf: asItIs },
  integer: { element: INTEGER, cellOf: asItIs },
  smallint: { element: SMALLINT, cellOf: asItIs },
  boolean: { element: BOOLEAN, cellOf: (value) => (value === true ? 't' : 'f') },
  time: { element: TIMESTAMPTZ, cellOf: asItIs },
  jsonb: { element: JSONB, cellOf: (value) => JSON.stringify(value) },
  exact_json: { element: JSONB, cellOf: jsonText },
};

/** @throws RangeError where a value is none of its column's type */
export function binaryRows<Row>(columns: RowColumns<Row>, rows: readonly Row[]): BinaryArray {
  const fields = Object.values(columns).map(({ type, of }) => ({ of, ...FIELDS[type] }));
  const into = new Bytes(HEAD_BYTES + rows.length * fields.length * FIELD_BYTES_USUAL);
  // Dimensions, whether there may be nulls, the type, the length, the first index.
  for (const head of [1, 0, ROW_TYPE, rows.length, 1]) into.int32(head);
  for (const row of rows) {
    const lengthAt = into.at;
    into.int32(0);
    into.int32(fields.length);
    for (const { of, element, cellOf } of fields) {
      const value = of(row);
      into.int32(element.oid);
      if (value === null) into.int32(NULL_LENGTH);
      else into.value(element, cellOf(value));
    }
    into.view.setInt32(lengthAt, into.at - lengthAt - 4);
  }
  return { type: TYPE_OF_THE_STATEMENT, bytes: into.bytes.subarray(0, into.at) };
}

/** The statement casts the parameter: the numbers of its types differ between databases. */
const TYPE_OF_THE_STATEMENT = 0;
const ROW_TYPE = 16_384;
const NULL_LENGTH = -1;
const HEAD_BYTES = 20;
/** With its type and its length. */
const FIELD_BYTES_USUAL = 24;

/** Bytes that grow. */
class Bytes {
  bytes: Buffer;
  view: DataView;
  at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
    this.view = viewOf(this.bytes);
  }

  int32(value: number): void {
    this.#makeRoomFor(4);
    this.view.setInt32(this.at, value);
    this.at += 4;
  }

  value({ sizeOf, write }: Element, cell: Value): void {
    const size = sizeOf(cell);
    this.int32(size);
    this.#makeRoomFor(size);
    write(this, cell, this.at);
    this.at += size;
  }

  #makeRoomFor(size: number): void {
    const needed = this.at + size;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
    this.view = viewOf(grown);
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
