// The audit log at the edge: what was done is written down before its answer is sent.
//
// Who calls: the edge, once for each route. What is not logged keeps its handler as it is.
// How: the state before is read by the GET of the same object, in this process; the answer is the
// state after. The row follows the effect: no transaction spans both, because an effect may be the
// ledger's or a processor's. Of settings of which a part is of both modes there is a row for each
// part: a key of test mode reads nothing of live mode here either.
// Holds: what was answered with success has its row. Where the row cannot be written the answer is
// 503, like one that was lost: the action may be done. A repetition with the same Idempotency-Key
// writes the row then, and otherwise adds none, because the row's id follows from the key. A
// process that dies between effect and row loses the row of an action that nobody was told of.
import { must } from '../../../ledger/kernel/assert.ts';
import type { Clock, Ids } from '../../../ledger/ports.ts';
import { type Difference, differenceOf } from '../../audit-log/difference.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { safeError } from '../../platform/postgres/safe-error.ts';
import { insertAuditRecord, type NewAuditRecord } from '../../records/audit-log.ts';
import type { Call, Handler, Operation } from '../operation.ts';
import type { Audit, Guarded, KeyedOperation, PortalAudit } from '../policy.ts';
import type { Actor, PortalPrincipal, Principal } from './auth.ts';
import { tenantOf } from './auth.ts';
import { isForBothModes } from './both-modes.ts';
import { Unavailable } from './errors.ts';
import { REQUEST_ID } from './request-log.ts';
import { urlOf } from './url.ts';

export type AuditedDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly clock: Clock;
  /** The client's address. */
  readonly addressOf: (request: Request) => string;
};

/** The handlers of one route: what callers with a key get, and what users get. */
export type Audited<O extends Operation, P> = {
  readonly byKeys: Handler<O, P>;
  readonly byUsers: Handler<O, P>;
};

/** Names the request in the row as in the log. */
type Requests = { idOf(request: Request): string };

type AnyCall = Call<Operation, Principal>;
type PortalCall = Call<Operation, PortalPrincipal>;

const USER_AGENT_MAX = 200;
const OBJECT_ID_MAX = 255;

export class AuditedRoutes {
  readonly #deps: AuditedDeps;
  /** Of every operation with a key, by its name. */
  readonly #handlers = new Map<string, Handler<Operation, Principal>>();

  constructor(deps: AuditedDeps) {
    this.#deps = deps;
  }

  of<O extends Operation, P extends Principal | PortalPrincipal | null>(
    { access, operation }: Guarded,
    act: Handler<O, P>,
    requests: Requests,
  ): Audited<O, P> {
    const plain = { byKeys: act, byUsers: act };
    if (access === 'open') return plain;
    const { operationId } = operation;
    if (access === 'portal') {
      const { audit } = operation;
      const handler = act as unknown as Handler<Operation, PortalPrincipal>;
      if (audit === 'nothing') return plain;
      const logged = (call: Call<Operation, PortalPrincipal>) =>
        this.#visit(call, { operationId, audit, handler, requestId: requests.idOf(call.request) });
      return { ...plain, byKeys: logged as unknown as Handler<O, P> };
    }
    const { audit } = operation;
    // `access` decides the principal: the type that is asserted here, and of what calls it below.
    const handler = act as unknown as Handler<Operation, Principal>;
    this.#handlers.set(operationId, handler);
    if (audit === 'nothing') return plain;
    const logged = (call: AnyCall) =>
      this.#act(call, { operationId, audit, handler, requestId: requests.idOf(call.request) });
    const byUsers = logged as unknown as Handler<O, P>;
    return { byKeys: audit.isRoutine === true ? act : byUsers, byUsers };
  }

  async #act(call: AnyCall, done: Acting): Promise<Response> {
    const before = await this.#stateBefore(call, done.audit.before);
    const response = await done.handler(call);
    if (!response.ok) return response;
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const text = isJson ? await response.text() : null;
    const after: unknown = text === null ? null : JSON.parse(text);
    await this.#write(this.#rowsOf(call, { ...done, before, response, after }));
    const { status, headers } = response;
    headers.set(REQUEST_ID, done.requestId);
    return isJson ? new Response(text, { status, headers }) : response;
  }

  /** What a customer does in its portal: a program gets JSON, a form leads back to the page. */
  async #visit(call: PortalCall, { audit, handler, ...visited }: Visited): Promise<Response> {
    const { principal } = call;
    const { organisationId, mode, customerId, tokenId } = principal;
    const actor = { kind: 'customer', id: customerId, tokenId } as const;
    const seen: AnyCall = {
      ...call,
      principal: { kind: 'organisation', organisationId, mode, actor, scope: 'read' },
      params: paramsOf(audit, call, customerId),
      // A try of another method has one row, however often its bank leads back.
      idempotencyKey: call.idempotencyKey ?? attemptOf(call),
    };
    const { object, as, before: read } = audit;
    const { operationId, requestId } = visited;
    const before = await this.#stateBefore(seen, read);
    const response = await handler(call);
    if (!isDone(response)) return response;
    const after = await this.#stateBefore(seen, read);
    const row = { operationId: as ?? operationId, audit: { object, id: 'whole_path' } } as const;
    await this.#write(this.#rowsOf(seen, { ...row, requestId, before, response, after }));
    response.headers.set(REQUEST_ID, requestId);
    return response;
  }

  async #write(rows: readonly NewAuditRecord[]): Promise<void> {
    try {
      for (const row of rows) await insertAuditRecord(this.#deps.sql, row);
    } catch (error) {
      throw new Unavailable(`the audit log was not written: ${safeError(error).message}`);
    }
  }

  /** null where it is not there, or has no GET of its own. */
  async #stateBefore(call: AnyCall, before: KeyedOperation | undefined): Promise<unknown> {
    if (before === undefined) return null;
    const read = must(this.#handlers.get(before.operationId), `the read of ${before.operationId}`);
    const response = await read({ ...call, body: undefined, query: {}, idempotencyKey: null });
    return response.ok ? response.json() : null;
  }

  #rowsOf(call: AnyCall, done: Done): readonly NewAuditRecord[] {
    const row = this.#rowOf(call, done);
    if (row === null) return [];
    const { isOfBothModes: shared } = done.audit;
    const { principal } = call;
    const isSplit =
      typeof shared === 'object' && principal.kind === 'organisation' && isForBothModes(principal);
    return isSplit ? rowsByModes(row, shared, this.#deps.ids.next()) : [row];
  }

  /** null for a repetition whose row cannot be told: its key is not known here. */
  #rowOf(call: AnyCall, done: Done): NewAuditRecord | null {
    const { ids, clock } = this.#deps;
    const { operationId, audit, response, requestId, after: answer } = done;
    const { principal } = call;
    const objectId = objectIdOf(audit, call, answer);
    const isRepeated = response.headers.has('idempotency-replayed');
    const key = keyOf(call);
    if (key === null && isRepeated) return null;
    const { mode } = principal;
    const id =
      key === null
        ? ids.next()
        : ids.derive('audit_log', tenantOf(principal), mode, operationId, objectId ?? '', key);
    return {
      id,
      otherId: key === null || isRepeated ? null : ids.next(),
      organisationId: principal.kind === 'organisation' ? principal.organisationId : null,
      groupId: principal.kind === 'group' ? principal.groupId : null,
      mode: audit.isOfBothModes === true ? null : mode,
      at: new Date(clock.now()),
      ...this.#callerOf(call),
      requestId,
      operation: operationId,
      objectType: audit.object,
      objectId,
      status: response.status,
      // What was before the first call is not known any more.
      ...differenceOf(isRepeated ? null : done.before, answer),
    };
  }

  #callerOf({ principal, request }: AnyCall) {
    const actor: Actor = principal.actor;
    const isUser = actor.kind === 'user';
    return {
      actorKind: actor.kind,
      actorId: actor.id,
      actorLabel: isUser ? actor.email : null,
      sessionId: isUser ? actor.sessionId : actor.kind === 'customer' ? actor.tokenId : null,
      address: isUser ? actor.address : this.#deps.addressOf(request),
      userAgent: request.headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null,
    };
  }
}

type Done = {
  readonly operationId: string;
  readonly audit: Audit;
  readonly requestId: string;
  readonly before: unknown;
  readonly response: Response;
  /** null where nothing is said. */
  readonly after: unknown;
};

type Acting = Pick<Done, 'operationId' | 'audit' | 'requestId'> & {
  readonly handler: Handler<Operation, Principal>;
};

type Visited = Pick<Done, 'operationId' | 'requestId'> & {
  readonly audit: PortalAudit;
  readonly handler: Handler<Operation, PortalPrincipal>;
};

/** The fields that both modes share in a row of both, the others in the row's own mode. */
function rowsByModes(
  row: NewAuditRecord,
  shared: readonly string[],
  otherId: string,
): readonly NewAuditRecord[] {
  const [both, own] = [true, false].map((isShared) => {
    const part = (state: NewAuditRecord['after']) =>
      state &&
      Object.fromEntries(
        Object.entries(state).filter(([name]) => shared.includes(name) === isShared),
      );
    return { before: part(row.before), after: part(row.after) };
  }) as [Difference, Difference];
  if (!hasFields(both)) return [row];
  const ofBoth = { ...row, ...both, mode: null };
  return hasFields(own)
    ? [
        { ...row, ...own },
        { ...ofBoth, id: otherId },
      ]
    : [ofBoth];
}

const hasFields = ({ before, after }: Difference) =>
  Object.keys({ ...before, ...after }).length > 0;

type Named = { readonly [name: string]: unknown };

function objectIdOf({ id: of }: Audit, { params, body }: AnyCall, answer: unknown): string | null {
  const named = Object.values<string>(params);
  const last = named.at(-1) ?? null;
  const sent = (body ?? {}) as Named;
  const answered = (answer ?? {}) as Named;
  const ofCustomer = sent['customer_id'] ?? sent['external_customer_id'];
  const ids = { path: last, whole_path: named.join('/'), customer: ofCustomer };
  const id = (of === undefined ? answered['id'] : ids[of]) ?? last;
  return typeof id === 'string' ? id.slice(0, OBJECT_ID_MAX) : null;
}

/** What the operation that reads the same object is called with. */
function paramsOf(
  { object }: PortalAudit,
  { params, body }: PortalCall,
  customerId: string,
): Readonly<Record<string, string>> {
  const of: Readonly<Record<string, string>> = params;
  if (object === 'auto_topup') return { id: customerId, feature_key: of['feature_key'] ?? '' };
  const subscription = String(((body ?? {}) as Named)['subscription_id']);
  return { id: object === 'customer' ? customerId : subscription };
}

/** An action of the portal: other pages, and redirects to a bank, say nothing of one. */
function isDone({ ok, status, headers }: Response): boolean {
  if (ok) return headers.get('content-type')?.startsWith('application/json') === true;
  return status === 303 && /[?&]done=/.test(headers.get('location') ?? '');
}

function attemptOf({ body, request }: PortalCall): string | null {
  const sent = ((body ?? {}) as Named)['attempt'] ?? urlOf(request).searchParams.get('attempt');
  return typeof sent === 'string' ? sent.toLowerCase() : null;
}

/** The key of usage and grants may be in the body. */
function keyOf({ body, idempotencyKey }: AnyCall): string | null {
  const inBody = ((body ?? {}) as Named)['idempotency_key'];
  return typeof inBody === 'string' ? inBody : idempotencyKey;
}
