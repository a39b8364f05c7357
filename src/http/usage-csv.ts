// The events behind an invoice's lines of usage, as a download.
//
// Holds: a page has a connection for as long as its queries run (`FairSql`).
import { must } from '../../ledger/kernel/assert.ts';
import { decimal } from '../../ledger/kernel/decimal.ts';
import { INVOICE_LINES_MAX } from '../platform/answer-bounds.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { type InvoiceRecord, listInvoiceLines, type UsageLine } from '../records/invoices.ts';
import {
  type BilledSpan,
  listBilledSpans,
  listRawEvents,
  type RawEvent,
  type RawPlace,
} from '../records/raw-usage.ts';
import { csvRow, csvText } from './csv.ts';
import type { CsvDownloads, Downloader } from './csv-downloads.ts';
import type { FairSql } from './edge/fair-sql.ts';

const COLUMNS = [
  'line_id',
  'feature_key',
  'event_id',
  'event_time',
  'recorded_time',
  'value',
  'metadata',
] as const;

/** Of a page, and of what is read for one without that many events. One may have 25 KiB. */
const EVENTS_A_PAGE = 100;
const SPANS_A_PAGE = 100;

export type UsageCsvDeps = { readonly lists: FairSql; readonly downloads: CsvDownloads };

export class UsageCsv {
  readonly #deps: UsageCsvDeps;

  constructor(deps: UsageCsvDeps) {
    this.#deps = deps;
  }

  /** The download, or the refusal where the caller has too many of them under way. */
  send(caller: Downloader, request: Request, invoice: InvoiceRecord): Promise<Response> {
    const file = { name: fileName(invoice), pages: this.#pages(caller, invoice) };
    return this.#deps.downloads.send({ caller, request }, file);
  }

  async *#pages(caller: Downloader, invoice: InvoiceRecord): AsyncGenerator<string, undefined> {
    yield csvRow(COLUMNS);
    const { lists } = this.#deps;
    const lines = new Map<string, Pick<UsageLine, 'id' | 'featureKey' | 'period' | 'usageId'>>();
    for (let first = 0; first < invoice.lineCount; first += INVOICE_LINES_MAX) {
      const range = { first, count: INVOICE_LINES_MAX };
      for (const line of await lists.run(caller, (sql) => listInvoiceLines(sql, invoice, range))) {
        if ('usageId' in line) lines.set(line.usageId, line);
      }
    }
    const spans = await lists.run(caller, (sql) =>
      listBilledSpans(sql, invoice, [...lines.values()]),
    );
    let place: Place = { index: 0, after: null };
    while (place.index < spans.length) {
      const from = place;
      const { events, next } = await lists.run(caller, (sql) => readPage(sql, spans, from));
      const rows = events.map(({ span, event }) =>
        rowOf(must(lines.get(span.usageId), 'the line of a span'), span, event),
      );
      if (rows.length > 0) yield rows.join('');
      place = next;
    }
    return undefined;
  }
}

/** The span that a page begins in, and the event in it that the page comes after. */
type Place = { readonly index: number; readonly after: RawPlace | null };

type Page = {
  readonly events: readonly { readonly span: BilledSpan; readonly event: RawEvent }[];
  readonly next: Place;
};

async function readPage(sql: Sql, spans: readonly BilledSpan[], from: Place): Promise<Page> {
  const events: Page['events'][number][] = [];
  let { index, after } = from;
  for (const span of spans.slice(from.index, from.index + SPANS_A_PAGE)) {
    const limit = EVENTS_A_PAGE - events.length;
    const found = await listRawEvents(sql, span, { after, limit });
    events.push(...found.map((event) => ({ span, event })));
    if (found.length === limit) return { events, next: { index, after: found.at(-1) ?? null } };
    index += 1;
    after = null;
  }
  return { events, next: { index, after } };
}

function rowOf(
  { id, featureKey }: Pick<UsageLine, 'id' | 'featureKey'>,
  { scale }: BilledSpan,
  event: RawEvent,
): string {
  return csvRow([
    id,
    csvText(featureKey),
    event.id,
    event.eventAt.toISOString(),
    event.recordedAt.toISOString(),
    decimal(event.value, scale),
    csvText(event.metadata ?? ''),
  ]);
}

function fileName({ number, id }: InvoiceRecord): string {
  return `usage-${number ?? id}.csv`;
}
