// Arrays in PostgreSQL's binary format (`array_send`). Reading text is a sixth of what a flush
// costs PostgreSQL. The client sends a `Uint8Array` as it is: `patches/` has that change of
// postgres.js, which otherwise sends text only.
import type { ArrayType, Cell } from './columns.ts';

/** An array, with the type that the statement is told. */
export type BinaryArray = { readonly type: number; readonly bytes: Uint8Array };

/** How PostgreSQL reads a value. The numbers of these types are the same in each database. */
export type Element = {
  readonly oid: number;
  readonly arrayOid: number;
  readonly sizeOf: (cell: Value) => number;
  /** Writes it at `at`. */
  readonly write: (into: Target, cell: Value, at: number) => void;
};

export type Value = Exclude<Cell, null>;
type Target = { readonly bytes: Buffer; readonly view: DataView };

export const BIGINT: Element = {
  oid: 20,
  arrayOid: 1016,
  sizeOf: () => 8,
  write: ({ bytes, view }, cell, at) => {
    // Taking a bigint apart costs several times a number; up to 2^53 both are the same.
    const number = Number(cell);
    if (Number.isSafeInteger(number)) {
      view.setInt32(at, Math.floor(number / 2 ** 32));
      view.setInt32(at + 4, number);
    } else {
      bytes.writeBigInt64BE(BigInt(cell), at);
    }
  },
};

/** A cell is in milliseconds. */
export const TIMESTAMPTZ: Element = {
  ...BIGINT,
  oid: 1184,
  arrayOid: 1185,
  write: (into, cell, at) => BIGINT.write(into, microseconds(Number(cell)), at),
};

/** 2000-01-01, from which PostgreSQL counts. */
const EPOCH_MS = 946_684_800_000;

function microseconds(ms: number): number | bigint {
  const exact = (ms - EPOCH_MS) * 1000;
  return Number.isSafeInteger(exact) ? exact : BigInt(ms - EPOCH_MS) * 1000n;
}

export const UUID: Element = {
  oid: 2950,
  arrayOid: 2951,
  sizeOf: () => 16,
  write: ({ bytes }, cell, at) => {
    const text = String(cell);
    let bits = 0;
    for (let read = 0, to = at; to < at + 16; read += 2, to += 1) {
      if (text.charCodeAt(read) === HYPHEN) read += 1;
      const byte = (digit(text, read) << 4) | digit(text, read + 1);
      bytes[to] = byte;
      bits |= byte;
    }
    if (bits < 0 || text.length !== 36) throw new RangeError(`not a uuid: ${text}`);
  },
};

/** Its first byte is the version of the format. */
export const JSONB: Element = {
  oid: 3802,
  arrayOid: 3807,
  sizeOf: (cell) => 1 + Buffer.byteLength(String(cell)),
  write: ({ bytes }, cell, at) => {
    bytes[at] = 1;
    bytes.write(String(cell), at + 1);
  },
};

export const TEXT: Element = {
  oid: 25,
  arrayOid: 1009,
  sizeOf: (cell) => Buffer.byteLength(String(cell)),
  write: ({ bytes }, cell, at) => void bytes.write(String(cell), at),
};

export const SMALLINT: Element = {
  oid: 21,
  arrayOid: 1005,
  sizeOf: () => 2,
  write: ({ bytes }, cell, at) => void bytes.writeInt16BE(Number(cell), at),
};

export const INTEGER: Element = {
  oid: 23,
  arrayOid: 1007,
  sizeOf: () => 4,
  write: ({ bytes }, cell, at) => void bytes.writeInt32BE(Number(cell), at),
};

export const BOOLEAN: Element = {
  oid: 16,
  arrayOid: 1000,
  sizeOf: () => 1,
  write: ({ bytes }, cell, at) => void (bytes[at] = cell === 't' ? 1 : 0),
};

const ELEMENTS: Readonly<Record<ArrayType, Element>> = {
  uuid: UUID,
  bigint: BIGINT,
  integer: INTEGER,
  time: BIGINT,
  timestamptz: TIMESTAMPTZ,
  smallint: SMALLINT,
  boolean: BOOLEAN,
  jsonb: JSONB,
  // The number of an enumeration is not the same in each database: its values come as text.
  reason: TEXT,
  transfer_kind: TEXT,
};

/** Most columns of a flush are empty. */
export function emptyArray(type: ArrayType): BinaryArray {
  return EMPTY[type];
}

/** @throws RangeError where a value is none of the type */
export function binaryArray(type: ArrayType, cells: readonly Cell[]): BinaryArray {
  const { oid, arrayOid, sizeOf, write } = ELEMENTS[type];
  let size = HEAD_BYTES + LENGTH_BYTES * cells.length;
  for (const cell of cells) if (cell !== null) size += sizeOf(cell);
  const bytes = Buffer.allocUnsafe(size);
  // Dimensions, whether there may be nulls, the type, the length, the first index.
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  view.setInt32(0, 1);
  view.setInt32(4, 1);
  view.setInt32(8, oid);
  view.setInt32(12, cells.length);
  view.setInt32(16, 1);
  const into = { bytes, view };
  let at = HEAD_BYTES;
  for (const cell of cells) {
    const length = cell === null ? NULL_LENGTH : sizeOf(cell);
    view.setInt32(at, length);
    at += LENGTH_BYTES;
    if (cell === null) continue;
    write(into, cell, at);
    at += length;
  }
  return { type: arrayOid, bytes };
}

const HEAD_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const HYPHEN = 45;

/** The value of each hexadecimal digit by its code; below 0 for what is none. */
const DIGITS = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value += 1) {
  const name = value.toString(16);
  DIGITS[name.charCodeAt(0)] = value;
  DIGITS[name.toUpperCase().charCodeAt(0)] = value;
}

const digit = (text: string, index: number): number => DIGITS[text.charCodeAt(index)] ?? -1;

const EMPTY = Object.fromEntries(
  Object.keys(ELEMENTS).map((type) => [type, binaryArray(type as ArrayType, [])]),
) as Record<ArrayType, BinaryArray>;
