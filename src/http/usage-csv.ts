// The download of the events behind an invoice's lines of usage.
//
// How it works: the caller takes a page, and the next one is read. A page has a connection for as
// long as its queries run (`FairSql`), so a slow caller holds none, and at most one page waits for
// it in memory.
// Holds: a tenant has a number of downloads at once on a node, those of its customers' portals apart
// from those of its keys, and a customer has one. A download ends after its time, and after a minute
// in which its caller takes nothing. One that is cut off fails: it does not look complete.
import type { Clock } from '../../ledger/ports.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { decimal } from '../../ledger/kernel/decimal.ts';
import { Tally } from '../../ledger/kernel/tally.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import type { InvoiceRecord, UsageLine } from '../records/invoices.ts';
import {
  type BilledSpan,
  listBilledSpans,
  listRawEvents,
  type RawEvent,
  type RawPlace,
} from '../records/raw-usage.ts';
import type { OrganisationPrincipal, PortalPrincipal } from './edge/auth.ts';
import { csvRow, csvText } from './csv.ts';
import { Unavailable } from './edge/errors.ts';
import type { FairSql } from './edge/fair-sql.ts';
import { refuseAtOnce, refuseAtOncePage } from './edge/rate-limit.ts';

const COLUMNS = [
  'line_id',
  'feature_key',
  'event_id',
  'event_time',
  'recorded_time',
  'value',
  'metadata',
] as const;

const PER_TENANT_MAX = 4;
const PER_CUSTOMER_MAX = 1;
/** Of a page, and of what is read for one without that many events. */
const EVENTS_A_PAGE = 500;
const SPANS_A_PAGE = 100;
const DOWNLOAD_MS_MAX = 10 * 60_000;
const IDLE_S_MAX = 60;

type Caller = OrganisationPrincipal | PortalPrincipal;

export type UsageCsvDeps = {
  readonly lists: FairSql;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long the connection of a request may take nothing before it is closed. */
  readonly idleAtMost: (request: Request, seconds: number) => void;
};

export class UsageCsv {
  readonly #deps: UsageCsvDeps;
  readonly #open = new Tally();

  constructor(deps: UsageCsvDeps) {
    this.#deps = deps;
  }

  /** The download, or the refusal where the caller has too many of them under way. */
  send(caller: Caller, request: Request, invoice: InvoiceRecord): Response {
    const leave = this.#enter(caller);
    if ('limit' in leave) return refusalFor(caller, leave.limit);
    const { clock, idleAtMost } = this.#deps;
    const until = clock.monotonic() + DOWNLOAD_MS_MAX;
    const pages = this.#pages(caller, invoice);
    idleAtMost(request, IDLE_S_MAX);
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            if (clock.monotonic() > until) throw new Unavailable('the download took too long');
            const { done, value } = await pages.next();
            if (done !== true) return controller.enqueue(Buffer.from(value));
            controller.close();
          } catch (error) {
            controller.error(error);
          }
          leave();
        },
        cancel: leave,
      },
      { highWaterMark: 0 },
    );
    return new Response(body, {
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="${fileName(invoice)}"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    });
  }

  /** Returns what ends it, which counts once; or the limit that is reached. */
  #enter(caller: Caller): (() => void) | { readonly limit: number } {
    const { organisationId, mode } = caller;
    const tenant = `${caller.kind} ${organisationId} ${mode}`;
    const bounds: [string, number][] = [[tenant, PER_TENANT_MAX]];
    if (caller.kind === 'portal') bounds.push([caller.customerId, PER_CUSTOMER_MAX]);
    const reached = bounds.find(([key, max]) => this.#open.of(key) >= max);
    if (reached !== undefined) return { limit: reached[1] };
    for (const [key] of bounds) this.#open.add(key);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const [key] of bounds) this.#open.remove(key);
    };
  }

  async *#pages(caller: Caller, invoice: InvoiceRecord): AsyncGenerator<string, undefined> {
    const lines = new Map(
      invoice.lines.flatMap((line) => ('usageId' in line ? [[line.usageId, line] as const] : [])),
    );
    yield csvRow(COLUMNS);
    const { lists } = this.#deps;
    const spans = await lists.run(caller, (sql) =>
      listBilledSpans(sql, invoice, [...lines.keys()]),
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

/** A customer has followed a link in the browser. */
function refusalFor({ kind }: Caller, limit: number): Response {
  return kind === 'portal'
    ? refuseAtOncePage('downloading', limit)
    : refuseAtOnce('downloads', limit);
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

function rowOf({ id, featureKey }: UsageLine, { scale }: BilledSpan, event: RawEvent): string {
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
