// Downloads of CSV, page by page.
//
// How it works: the caller takes a page, and the next one is read. Nothing is held between two
// pages but where the next begins, so a slow caller holds no connection, and at most one page waits
// for it in memory. The answer begins with the first page: where that cannot be read, it is a
// refusal.
// Holds: a tenant has a number of downloads at once on a node, those of its customers' portals
// apart from those of its keys, and a customer has one. A download ends after its time, and after a
// minute in which its caller takes nothing. One that is cut off fails: it does not look complete.
import type { Clock } from '../../ledger/ports.ts';
import { Tally } from '../../ledger/kernel/tally.ts';
import type { OrganisationPrincipal, PortalPrincipal } from './edge/auth.ts';
import { Unavailable } from './edge/errors.ts';
import { refuseAtOnce, refuseAtOncePage } from './edge/rate-limit.ts';

const PER_TENANT_MAX = 4;
const PER_CUSTOMER_MAX = 1;
const DOWNLOAD_MS_MAX = 10 * 60_000;
const IDLE_S_MAX = 60;

export type Downloader = OrganisationPrincipal | PortalPrincipal;

export type CsvDownloadsDeps = {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long the connection of a request may take nothing before it is closed. */
  readonly idleAtMost: (request: Request, seconds: number) => void;
};

export class CsvDownloads {
  readonly #deps: CsvDownloadsDeps;
  readonly #open = new Tally();

  constructor(deps: CsvDownloadsDeps) {
    this.#deps = deps;
  }

  /** The download, or the refusal where the caller has too many of them under way. */
  async send(
    { caller, request }: { readonly caller: Downloader; readonly request: Request },
    file: { readonly name: string; readonly pages: AsyncGenerator<string, undefined> },
  ): Promise<Response> {
    const leave = this.#enter(caller);
    if ('limit' in leave) return refusalFor(caller, leave.limit);
    const { clock, idleAtMost } = this.#deps;
    const until = clock.monotonic() + DOWNLOAD_MS_MAX;
    idleAtMost(request, IDLE_S_MAX);
    // Nobody takes the answer of a caller who went away meanwhile.
    request.signal.addEventListener('abort', leave);
    let begin: string;
    try {
      begin = await beginningOf(file.pages);
    } catch (error) {
      leave();
      throw error;
    }
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            if (clock.monotonic() > until) throw new Unavailable('the download took too long');
            if (begin !== '') {
              controller.enqueue(Buffer.from(begin));
              begin = '';
              return undefined;
            }
            const { done, value } = await file.pages.next();
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
        'content-disposition': `attachment; filename="${file.name}"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    });
  }

  /** Returns what ends it, which counts once; or the limit that is reached. */
  #enter(caller: Downloader): (() => void) | { readonly limit: number } {
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
}

/** The names of the columns, and the first page. */
async function beginningOf(pages: AsyncGenerator<string, undefined>): Promise<string> {
  const names = await pages.next();
  const first = await pages.next();
  return `${names.value ?? ''}${first.value ?? ''}`;
}

/** A customer has followed a link in the browser. */
function refusalFor({ kind }: Downloader, limit: number): Response {
  return kind === 'portal'
    ? refuseAtOncePage('downloading', limit)
    : refuseAtOnce('downloads', limit);
}
