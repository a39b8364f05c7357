// The dashboard: pages for the members of an organisation, below `/dashboard`.
//
//     request ─▶ who is signed in ─▶ page of the table ─▶ member, role (404, 403) ─▶ form: origin, token (403) ─▶ handler
//
// How it works: a page is a row of a table (pages.ts). Its handler calls our own API as the member,
// in process, so it can do nothing that the API cannot, and what it may do is decided there.
// Holds: nothing is shown before the session, the membership and the role are known. To a stranger
// each address leads to the sign-in; to a member of another organisation it does not exist. A
// refused action shows its page again with what was typed. Pages are not cached, framed or indexed.
import { timingSafeEqual } from 'node:crypto';
import { Elysia } from 'elysia';
import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import { breathe, type Clock, type Ids, type OrgClock } from '../../ledger/ports.ts';
import type { OperationId } from '../client/operations.ts';
import { TollhouseError } from '../client/index.ts';
import { framed, plainPage } from './parts/frame.ts';
import { noticeOf } from './parts/notices.ts';
import type { Fault, Place } from './parts/place.ts';
import { Html, html } from '../pages/html.ts';
import { needsStepUp, REFUNDS_MS } from '../people/step-up.ts';
import { timers } from '../platform/clock.ts';
import type { KeyLocks } from '../platform/postgres/key-locks.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { sumRefundsOf } from '../records/audit-log.ts';
import { andThen } from '../http/and-then.ts';
import type { Acting } from '../http/edge/acting.ts';
import { isCrossSite } from '../http/edge/cross-site.ts';
import type { Edge } from '../http/edge/edge.ts';
import { refuse, Unavailable } from '../http/edge/errors.ts';
import { REQUEST_ID } from '../http/edge/request-log.ts';
import { urlOf } from '../http/edge/url.ts';
import { lockOf } from '../http/idempotency/idempotency.ts';
import { sendPage } from '../http/page.ts';
import { actingAs, type Handle } from './serve/api.ts';
import type { Door, Membership, SignedIn } from './serve/door.ts';
import { BASE, goTo, isHalf, SELF } from './serve/entry.ts';
import type {
  DashboardPage,
  Done,
  Dressed,
  Entry,
  FileField,
  OpenPage,
  Visit,
} from './serve/page.ts';
import { DASHBOARD_PAGES } from './pages.ts';
import { type Sent, takeSent } from './serve/sent.ts';

export type DashboardDeps = {
  readonly edge: Edge;
  readonly door: Door;
  readonly acting: Acting;
  /** Answers a request of this process. */
  readonly handle: Handle;
  readonly addressOf: (request: Request) => string;
  readonly openPages: readonly OpenPage[];
  readonly sql: Sql;
  readonly keyLocks: Pick<KeyLocks, 'alone'>;
  readonly clock: Clock;
  readonly orgClock: OrgClock;
  readonly ids: Ids;
};

export function dashboardRoutes(deps: DashboardDeps) {
  const dashboard = new Dashboard(deps);
  const answer = ({ request }: { readonly request: Request }) => dashboard.answer(request);
  return new Elysia()
    .all('/', ({ request }) =>
      andThen(deps.edge.enter(), () => deps.edge.finish(request, answerRoot(request))),
    )
    .all(BASE, answer)
    .all(`${BASE}/*`, answer);
}

/**
 * Who types the address of the service into a browser means the dashboard. For programs it is
 * nothing.
 */
function answerRoot({ method, headers }: Request): Response {
  const isBrowser = headers.get('accept')?.includes('text/html') ?? false;
  if (!isBrowser || (method !== 'GET' && method !== 'HEAD')) {
    return refuse('not_found', 'page not found', { headers: { vary: 'accept' } });
  }
  return new Response(null, { status: 302, headers: { location: BASE, vary: 'accept' } });
}

/** A path as a pattern, and the names of its parameters. */
function matcher(path: string): (path: string) => Readonly<Record<string, string>> | null {
  const pattern = new RegExp(
    `^${path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`,
  );
  return (asked) => {
    const match = pattern.exec(asked);
    if (match === null) return null;
    const entries = Object.entries(match.groups ?? {});
    return Object.fromEntries(entries.map(([name, text]) => [name, decoded(text)] as const));
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const KIB = 1024;
const WHERE = matcher('/:organisation/:mode');
const WHERE_PREFIX = /^\/[^/]+\/(?:test|live)(?=\/|$)/;

/** A request for one page, of a member in an organisation and a mode. */
type Act = NonNullable<DashboardPage['act']>;

type Serving = Omit<Entry, 'signedIn'> & {
  readonly signedIn: SignedIn;
  readonly file: Sent['file'];
  readonly member: Membership;
  readonly mode: Mode;
  /** The path below the organisation and the mode. */
  readonly below: string;
};

class Dashboard {
  readonly #deps: DashboardDeps;
  readonly #pages = DASHBOARD_PAGES.map((page) => ({ page, match: matcher(page.path) }));
  readonly #open: readonly {
    readonly page: OpenPage;
    readonly match: ReturnType<typeof matcher>;
  }[];

  constructor(deps: DashboardDeps) {
    this.#deps = deps;
    this.#open = deps.openPages.map((page) => ({ page, match: matcher(page.path) }));
  }

  async answer(request: Request): Promise<Response> {
    const { edge } = this.#deps;
    try {
      await edge.enter();
      const response = await this.#answer(request);
      const isHead = request.method === 'HEAD';
      const sent = isHead ? new Response(null, response) : response;
      sent.headers.set(REQUEST_ID, edge.requestIds.idOf(request));
      return edge.finish(request, sent);
    } catch (error) {
      return edge.finish(request, refusedByApi(error) ?? edge.failed(request, error));
    }
  }

  async #answer(request: Request): Promise<Response> {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return noSuchMethod();
    if (method === 'POST' && isCrossSite(request)) return foreignForm();
    const url = urlOf(request);
    const path = url.pathname.slice(BASE.length);
    const address = this.#deps.addressOf(request);
    const signedIn = await this.#deps.door.whoIs(request, address);
    const takes = this.#fileOf(path);
    // Of somebody unknown no file is read.
    if (signedIn === null && takes !== null) return signInFirst(request);
    const sent = await takeSent(request, takes);
    if (sent === 'broken') return unreadableForm();
    if (sent instanceof Response) return sent;
    const requestId = this.#deps.edge.requestIds.idOf(request);
    const entry = { request, address, requestId, signedIn, query: url.searchParams, ...sent };
    for (const { page, match } of this.#open) {
      const params = match(path);
      if (params !== null) return this.#enter(page, { ...entry, params });
    }
    if (signedIn === null) return signInFirst(request);
    if (path === '' || path === '/') return this.#start(signedIn);
    return this.#visit(path, { ...entry, signedIn });
  }

  #enter(page: OpenPage, entry: Entry): Promise<Response> | Response {
    if (entry.request.method !== 'POST') return page.show(entry);
    if (page.act === undefined) return noSuchMethod();
    if (page.isForSignedIn === true) {
      if (entry.signedIn === null) return signInFirst(entry.request);
      if (!hasToken(entry.form, entry.signedIn)) return foreignForm();
    }
    return page.act(entry);
  }

  /** The file that the page of a path takes. */
  #fileOf(path: string): FileField | null {
    const below = path.slice((WHERE_PREFIX.exec(path)?.[0] ?? '').length);
    return this.#pages.find(({ match }) => match(below) !== null)?.page.act?.takes ?? null;
  }

  /** The member's first organisation, in test mode. */
  #start({ memberships }: SignedIn): Response {
    const [first] = memberships;
    return goTo(first === undefined ? `${BASE}/account` : `${BASE}/${first.organisationId}/test`);
  }

  async #visit(
    path: string,
    entry: Omit<Serving, 'params' | 'member' | 'mode' | 'below'>,
  ): Promise<Response> {
    const { signedIn, request, form, file } = entry;
    const prefix = WHERE_PREFIX.exec(path)?.[0] ?? '';
    const { organisation, mode } = WHERE(prefix) ?? {};
    const member = signedIn.memberships.find((each) => each.organisationId === organisation);
    if (member === undefined || mode === undefined) return nothingHere();
    const blocked = secondFactorFirst(request, signedIn, member);
    if (blocked !== null) return blocked;
    const below = path.slice(prefix.length).replace(/\/$/, '');
    for (const { page, match } of this.#pages) {
      const params = match(below);
      if (params === null) continue;
      const isAct = request.method === 'POST';
      if (isAct && page.act === undefined) return noSuchMethod();
      // A form that was not read does nothing: its page is shown again.
      if (isAct && file !== 'too_large' && !hasToken(form, signedIn)) return foreignForm();
      const needs = isAct ? (page.act?.needs ?? []) : page.needs;
      if (!needs.every(this.#allowedTo(member))) return notForRole(member);
      return this.#serve(page, { ...entry, params, member, mode: mode as Mode, below });
    }
    return nothingHere();
  }

  async #serve(page: DashboardPage, entry: Serving): Promise<Response> {
    const { signedIn, member, mode, request, form, file, query } = entry;
    const { organisationId } = member;
    const tenant = { organisationId, mode };
    const { id, email } = signedIn.user;
    const { sessionId } = signedIn;
    const actor = { kind: 'user', id, sessionId, email, address: entry.address } as const;
    const principal = { kind: 'organisation', ...tenant, scope: member.role, actor } as const;
    const deps = { ...this.#deps, forRequest: { request, requestId: entry.requestId } };
    return actingAs(deps, principal, async (api, download) => {
      const settings = await api.organization.retrieve();
      const place = this.#placeOf(entry, settings);
      const key = form.get('_key') ?? undefined;
      const sent = fieldsOf(form);
      const visit: Visit = {
        api,
        download,
        tenant,
        signedIn,
        params: entry.params,
        query,
        form: sent,
        file: file === 'too_large' ? null : file,
        key,
        refundedLately: () => this.#refundedLately(tenant, id),
        place,
      };
      if (request.method !== 'POST' || page.act === undefined) return shown(page, visit);
      const { act } = page;
      if (file === 'too_large') return showTooLarge(page, act, visit);
      const task = () => this.#act(page, act, visit, request);
      return act.isInTurn === true ? this.#inTurn(tenant, id, task) : task();
    });
  }

  async #act(page: DashboardPage, act: Act, visit: Visit, request: Request): Promise<Response> {
    const { signedIn, tenant, place, form } = visit;
    const action = (await act.risk?.(visit)) ?? null;
    const of = { ...signedIn, mode: tenant.mode, now: this.#deps.clock.now() };
    const asked = action === null ? 'none' : needsStepUp(action, of);
    if (asked !== 'none') return asked === 'enrol' ? enrolFirst() : prove(request);
    try {
      const done = await act.run(visit);
      return done instanceof Html
        ? send(page, visit, { content: done })
        : goTo(`${place.base}${withNotice(done)}`);
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) throw error;
      const again = { ...visit, place: { ...place, fault: fault.fault, typed: form } };
      return shown(page, again, fault.status);
    }
  }

  /** One after the other for a user, on all nodes. */
  async #inTurn(tenant: Tenant, userId: string, task: () => Promise<Response>): Promise<Response> {
    const lock = lockOf({ ...tenant, operation: 'dashboard' }, userId);
    const response = await this.#deps.keyLocks.alone(lock, task);
    if (response === null) throw new Unavailable('another action of this user is under way');
    return response;
  }

  #refundedLately(tenant: Tenant, userId: string): Promise<string> {
    const { sql, clock } = this.#deps;
    return sumRefundsOf(sql, tenant, { userId, since: new Date(clock.now() - REFUNDS_MS) });
  }

  #allowedTo({ role }: Membership) {
    return (operation: OperationId): boolean => this.#deps.edge.callers.may(role, operation);
  }

  #placeOf(
    { signedIn, member, mode, below, query }: Serving,
    { name, timezone }: { readonly name: string; readonly timezone: string },
  ): Place {
    const { orgClock, ids } = this.#deps;
    const { organisationId } = member;
    return {
      organisation: { id: organisationId, name },
      mode,
      zone: timezone,
      base: `${BASE}/${organisationId}/${mode}`,
      path: below,
      query,
      user: { email: signedIn.user.email, name: signedIn.user.name, role: member.role },
      choices: signedIn.memberships,
      now: orgClock.now({ organisationId, mode }),
      may: this.#allowedTo(member),
      formToken: signedIn.formToken,
      newKey: () => ids.next(),
      fault: null,
      typed: new URLSearchParams(),
    };
  }
}

/** The rest of it stays unread, so the connection cannot be used again. */
async function showTooLarge(page: DashboardPage, { takes }: Act, visit: Visit): Promise<Response> {
  const most = `must have at most ${(takes?.bytesMax ?? 0) / KIB} KiB: choose a smaller file`;
  const issues = [{ field: takes?.field ?? '', message: most }];
  const fault = { message: 'This file is too large.', issues, requestId: null };
  const response = await shown(page, { ...visit, place: { ...visit.place, fault } }, 413);
  response.headers.set('connection', 'close');
  return response;
}

/** What was typed: without the token and the key. */
function fieldsOf(form: URLSearchParams): URLSearchParams {
  const fields = new URLSearchParams(form);
  fields.delete('_token');
  fields.delete('_key');
  return fields;
}

function hasToken(form: URLSearchParams, { formToken }: SignedIn): boolean {
  const sent = Buffer.from(form.get('_token') ?? '');
  const expected = Buffer.from(formToken);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** Shows a page, with the fault of its refused action where there is one. */
async function shown(page: DashboardPage, visit: Visit, status = 200): Promise<Response> {
  const content = await page.show(visit);
  if (content instanceof Response) return content;
  await breathe(timers);
  const dressed = content instanceof Html ? { content } : content;
  return send(page, visit, { ...dressed, status });
}

function send(
  { title, section }: DashboardPage,
  { place, query }: Visit,
  {
    status = 200,
    ...content
  }: Partial<Dressed> & { readonly content: Html; readonly status?: number },
): Response {
  const notice = noticeOf(query);
  const page = framed(place, { title, section, notice, ...content });
  return sendPage(page, { status, formAction: SELF });
}

function withNotice({ to, notice }: Done): string {
  return `${to}${to.includes('?') ? '&' : '?'}done=${notice}`;
}

/** Of a refusal that whoever acted can do something about; null for all else. */
function faultOf(error: unknown): { readonly fault: Fault; readonly status: number } | null {
  if (!(error instanceof TollhouseError) || error.status === null || error.status >= 500)
    return null;
  const { message, requestId, status } = error;
  const issues = error.issues.map(({ path, message: text }) => ({
    field: path.join('.'),
    message: text,
  }));
  return { fault: { message, issues, requestId }, status };
}

/** What the API refused while a page was read. */
function refusedByApi(error: unknown): Response | null {
  if (!(error instanceof TollhouseError)) return null;
  const { status } = error;
  if (status === 404 || status === 400) return nothingHere();
  if (status === 403) return refusePage(403, 'Your role does not allow this', error.message);
  if (status === 429) return refusePage(429, 'Too many requests', 'Wait a moment and try again.');
  if (status === null || status >= 500) {
    return refusePage(
      503,
      'Not available now',
      'The service cannot answer now. Try again in a moment.',
    );
  }
  return refusePage(status, 'This was refused', error.message);
}

/** With the way back, where what was asked for was a page. */
function signInFirst({ method, url }: Request): Response {
  const { pathname, search } = new URL(url);
  const back =
    method === 'GET' && pathname !== BASE ? `?to=${encodeURIComponent(pathname + search)}` : '';
  return goTo(`${BASE}/sign-in${back}`);
}

/**
 * A user who has enrolled a second factor gives it once a session; some organisations insist on
 * one.
 */
function secondFactorFirst(
  request: Request,
  signedIn: SignedIn,
  { requiresSecondFactor }: Membership,
): Response | null {
  if (isHalf(signedIn)) return prove(request);
  return requiresSecondFactor && !signedIn.hasSecondFactor ? enrolFirst() : null;
}

const enrolFirst = () => goTo(`${BASE}/account?enroll=1`);

function prove({ url }: Request): Response {
  return goTo(`${BASE}/second-factor?to=${encodeURIComponent(new URL(url).pathname)}`);
}

function refusePage(status: number, title: string, text: string): Response {
  const content = html`<p>${text}</p>
    <p><a class="button quiet" href="${BASE}">Back to the dashboard</a></p>`;
  return sendPage(plainPage({ title, content }), { status });
}

const nothingHere = () =>
  refusePage(404, 'Page not found', 'The address is wrong, or you do not have access.');
const noSuchMethod = () =>
  refusePage(405, 'Method not allowed', 'This page does not take such a request.');
const unreadableForm = () =>
  refusePage(400, 'This form cannot be read', 'It is malformed, or contains a NUL character.');
const foreignForm = () =>
  refusePage(
    403,
    'This form cannot be sent',
    'It is from another session. Go back, reload the page and try again.',
  );
const notForRole = ({ role }: Membership) =>
  refusePage(
    403,
    'Your role does not allow this',
    `As ${role.replace('_', '-')} you may not do this. An owner can change your role.`,
  );
