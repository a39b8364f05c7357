// The migrations' comment on a table, a column, a constraint, an index, a type or a function: the
// one right above it. A later migration's comment replaces an earlier one's.
import type { Comments } from './schema-dump.ts';

const NAMED =
  /^\s*CREATE (?:UNIQUE )?(?:TABLE|INDEX|TYPE|SEQUENCE|FUNCTION|OR REPLACE FUNCTION|TRIGGER)(?: CONCURRENTLY)?(?: IF NOT EXISTS)? (\w+)/;
const TABLE = /^\s*(?:CREATE|ALTER) TABLE (?:IF NOT EXISTS )?(\w+)/;
const PART = /^\s+(?:ADD (?:COLUMN )?(?:IF NOT EXISTS )?)?(?:CONSTRAINT )?([a-z_]\w*) /;
const COMMENT = /^\s*(?:--|\/\*+|\*(?!\/))\s?(.*?)(?:\s*\*\/)?$/;

/** Changes since then that no migration comments on: the bytes of a migration never change. */
const SINCE: readonly (readonly [string, readonly string[]])[] = [
  [
    'idempotency',
    ['Answers of requests with an Idempotency-Key, of those whose effect is not a transfer.'],
  ],
  [
    'transfers.id',
    [
      "Derived from the caller's key where there is one: transfers_id_once makes the key of a usage",
      'count once for its customer, transfers_refund_once that of a refund for its organisation.',
    ],
  ],
  ['deliveries', ['One for each event and each endpoint that matched when the relay passed it.']],
  ['event_fanouts', ['How many endpoints an event is owed to. Deliveries are counted against it.']],
];

export function readComments(scripts: readonly string[]): Comments {
  const comments = new Map<string, readonly string[]>();
  for (const script of scripts) {
    let table: string | undefined;
    let above: string[] = [];
    for (const line of script.split('\n')) {
      const comment = COMMENT.exec(line)?.[1];
      if (comment !== undefined) {
        if (comment !== '') above.push(comment);
        continue;
      }
      table = TABLE.exec(line)?.[1] ?? table;
      const part = table === undefined ? undefined : PART.exec(line)?.[1];
      const key = NAMED.exec(line)?.[1] ?? (part === undefined ? undefined : `${table}.${part}`);
      if (key !== undefined && above.length > 0) comments.set(key, above);
      if (line.trim() !== '*/') above = [];
      if (line.trimEnd().endsWith(';')) table = undefined;
    }
  }
  for (const [key, lines] of SINCE) comments.set(key, lines);
  return comments;
}
