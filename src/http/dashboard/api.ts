// The dashboard's way to our own API: the client that merchants use, in process, as the member who
// is signed in.
import { Tollhouse } from '../../client/index.ts';
import type { Acting } from '../edge/acting.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';

/** It never leaves the process. */
const BASE_URL = 'http://dashboard.internal';
const TIMEOUT_MS = 15_000;

export type Handle = (request: Request) => Response | Promise<Response>;

/** What the API answers to a GET, as it comes: for documents and downloads. */
export type Download = (path: string) => Promise<Response>;

/** Runs `task` with an API that acts for the member until it is done. */
export async function actingAs<T>(
  { acting, handle }: { readonly acting: Acting; readonly handle: Handle },
  principal: OrganisationPrincipal,
  task: (api: Tollhouse, download: Download) => Promise<T>,
): Promise<T> {
  const { token, end } = acting.as(principal);
  const api = new Tollhouse({
    apiKey: token,
    baseUrl: BASE_URL,
    timeoutMs: TIMEOUT_MS,
    fetch: async (url, init) => handle(new Request(url, init)),
  });
  const headers = { authorization: `Bearer ${token}` };
  const download: Download = async (path) => handle(new Request(`${BASE_URL}${path}`, { headers }));
  try {
    return await task(api, download);
  } finally {
    end();
  }
}
