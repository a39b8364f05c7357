// The dashboard's way to our own API: the client that merchants use, in process, as the member who
// is signed in.
import { breathe } from '../../../ledger/ports.ts';
import { Tollhouse } from '../../client/index.ts';
import { timers } from '../../platform/clock.ts';
import type { Acting } from '../../http/edge/acting.ts';
import type { OrganisationPrincipal } from '../../http/edge/auth.ts';
import { REQUEST_ID } from '../../http/edge/request-log.ts';

/** It never leaves the process. */
const BASE_URL = 'http://dashboard.internal';
const TIMEOUT_MS = 15_000;

export type Handle = (request: Request) => Response | Promise<Response>;

/** What the API answers to a GET, as it comes: for documents and downloads. */
export type Download = (path: string) => Promise<Response>;

/** Runs `task` with an API that acts for the member until it is done. */
export async function actingAs<T>(
  {
    acting,
    handle,
    forRequest: { request, requestId },
  }: {
    readonly acting: Acting;
    readonly handle: Handle;
    /** The audit log names it, and the browser that sent it. */
    readonly forRequest: { readonly request: Request; readonly requestId: string };
  },
  principal: OrganisationPrincipal,
  task: (api: Tollhouse, download: Download) => Promise<T>,
): Promise<T> {
  const { token, end } = acting.as(principal);
  const userAgent = request.headers.get('user-agent');
  const answered = async (asked: Request): Promise<Response> => {
    asked.headers.set(REQUEST_ID, requestId);
    if (userAgent !== null) asked.headers.set('user-agent', userAgent);
    const answer = await handle(asked);
    // A page reads a dozen lists: nothing but this parts their turns from each other and from its
    // own.
    await breathe(timers);
    return answer;
  };
  const api = new Tollhouse({
    apiKey: token,
    baseUrl: BASE_URL,
    timeoutMs: TIMEOUT_MS,
    fetch: (url, init) => answered(new Request(url, init)),
  });
  const headers = { authorization: `Bearer ${token}` };
  const download: Download = (path) => answered(new Request(`${BASE_URL}${path}`, { headers }));
  try {
    return await task(api, download);
  } finally {
    end();
  }
}
