// Many bodies of /check in one call.
//
// Holds: each row is answered as if it came alone. Rows that consume are decided in their order, in
// one step for all, as those of /track/batch are. A call of questions alone is answered from memory
// without a promise.
import { must } from '../../../ledger/kernel/assert.ts';
import { BATCH_BODY_MAX } from '../edge/body.ts';
import type { UsageRequest } from '../../../ledger/outcome.ts';
import { allOf, andThen } from '../and-then.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuseInvalidItem } from '../edge/errors.ts';
import { REPLAYED_HEADER } from '../idempotency/replayed.ts';
import { jsonText } from '../json-text.ts';
import { CheckBatchBody, CheckBatchResult, CheckBody, Question } from '../wire/metering.ts';
import { itemOf } from './batch-item.ts';
import {
  type Answered,
  consumed,
  hold,
  renderedCheck,
  useOf,
  type Whole,
  wholeIssue,
} from './checking.ts';
import type { Asker } from './denied.ts';
import { AWAY, orAway, refuseIfAllAway } from './items-away.ts';
import {
  findSubject,
  isRefused,
  type MeteringDeps,
  refusedItem,
  type Subject,
  type SubjectRefused,
} from './metering.ts';
import { ASKS_FOR_HINTS, withHints } from './node-hints.ts';

const BATCH = {
  operationId: 'checkEntitlements',
  method: 'POST',
  path: '/check/batch',
  client: 'own',
  summary: 'Check up to 500 times in one call',
  description:
    'Up to 500 bodies of /check and 2 MiB (2,097,152 bytes). `results` has the answer of /check ' +
    'to each, in order, or `error`: one that fails does not affect the others. Items with ' +
    '`consume` are decided in order, and the call answers when all that were allowed are on ' +
    'disk. A plain check need not see what another item of the call records. An ' +
    '`Idempotency-Key` header is the `idempotency_key` of each item with `consume` or `reserve` ' +
    'that has none, by its place in the call. An item that cannot be answered now is ' +
    '`service_unavailable`. If all are, the call is 503.',
  tag: 'Metering',
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'usage', isRoutine: true },
  body: CheckBatchBody,
  bodyMax: BATCH_BODY_MAX,
  idempotent: 'ledger',
  headers: ASKS_FOR_HINTS,
  answers: { 200: CheckBatchResult },
} as const;

/**
 * Rows that are answered before other requests get a turn. Under a spend cap each is some 50 us,
 * and what is due up to 300.
 */
const STEP_ROWS = 50;

/** Uses that are prepared before other requests get a turn. */
const STEP_USES = 50;

/** Most rows are one: what else a row may have is looked for where it does not fit. */
const QUESTION = itemOf(Question);
const WHOLE = itemOf(CheckBody);

const AWAY_TEXT = JSON.stringify(AWAY);

type Batch = Asker & { readonly header: string | null };

/** A row that consumes. */
type Use = {
  readonly index: number;
  readonly body: Whole;
  readonly subject: Named | Promise<Named>;
  /** Takes the row's result. */
  readonly resolve: (text: string) => void;
  readonly reject: (error: unknown) => void;
};

type Named = Subject | SubjectRefused | typeof AWAY;

type Row = string | Promise<string>;

export function checkBatchRoute(deps: MeteringDeps): Route {
  return deps.edge.organisation(BATCH, (call) => {
    const { principal, request, body, idempotencyKey: header } = call;
    const rows = new Rows(deps, { principal, request, header });
    const resultOf = (item: unknown, index: number): Row => {
      const question = QUESTION.fit(item);
      if (question === null) return rows.other(item, index);
      const found = findSubject(deps, principal, question);
      return orTextAway(
        andThen(found, (subject) => textOf(renderedCheck(deps, call, question, subject))),
      );
    };
    const results = andThen(inSteps(deps.edge, body.checks, resultOf), (all) => {
      rows.record();
      return allOf(all);
    });
    const answer = andThen(results, (texts) => {
      refuseIfAllAway(texts, AWAY_TEXT);
      const isReplayed = texts.length > 0 && rows.replayed === texts.length;
      const response = jsonText(`{"results":[${texts.join(',')}]}`);
      if (isReplayed) response.headers.set(REPLAYED_HEADER, 'true');
      return response;
    });
    return withHints(deps.ledger, call, { about: body.checks, answer });
  });
}

/** The result of each row, in order. Without a promise where there are few. */
function inSteps(
  { turns }: Pick<Edge, 'turns'>,
  items: readonly unknown[],
  resultOf: (item: unknown, index: number) => Row,
): readonly Row[] | Promise<readonly Row[]> {
  const results: Row[] = [];
  const step = (): readonly Row[] | Promise<readonly Row[]> => {
    const end = results.length + STEP_ROWS;
    for (const item of items.slice(results.length, end))
      results.push(resultOf(item, results.length));
    return results.length === items.length ? results : turns.next().then(step);
  };
  return items.length > STEP_ROWS ? turns.next().then(step) : step();
}

const orTextAway = (text: Row): Row => (text instanceof Promise ? orAway(text, AWAY_TEXT) : text);

function textOf(checked: ReturnType<typeof renderedCheck>): Row {
  return isRefused(checked) ? JSON.stringify(refusedItem(checked)) : checked.json;
}

/** The rows of one call that are more than questions. */
class Rows {
  readonly #deps: MeteringDeps;
  readonly #batch: Batch;
  readonly #uses: Use[] = [];
  /** How many of them were answered before. */
  replayed = 0;

  constructor(deps: MeteringDeps, batch: Batch) {
    this.#deps = deps;
    this.#batch = batch;
  }

  other(item: unknown, index: number): Row {
    const body = WHOLE.fit(item);
    if (body === null) return JSON.stringify(WHOLE.refuse(item));
    const issue = wholeIssue(body);
    if (issue !== null) return JSON.stringify(refuseInvalidItem([issue]));
    const subject = findSubject(this.#deps, this.#batch.principal, body);
    if (body.consume === true) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const named = subject instanceof Promise ? orAway<Named>(subject, AWAY) : subject;
      this.#uses.push({ index, body, subject: named, resolve, reject });
      return promise;
    }
    if (body.reserve === true) {
      const key = this.#keyOfHold(body, index);
      const held = hold(this.#deps, this.#batch, { body, subject, key });
      return orAway(
        held.then((answered) => this.#said(answered)),
        AWAY_TEXT,
      );
    }
    return orTextAway(
      andThen(subject, (found) => textOf(renderedCheck(this.#deps, this.#batch, body, found))),
    );
  }

  #keyOfHold({ idempotency_key: own }: Whole, index: number): readonly string[] | null {
    if (own !== undefined) return [own];
    const { header } = this.#batch;
    return header === null ? null : [header, `check/batch ${index}`];
  }

  /** Records what is to be consumed, all in one step. */
  record(): void {
    if (this.#uses.length === 0) return;
    this.#record().catch((error: unknown) => {
      for (const use of this.#uses) use.reject(error);
    });
  }

  async #record(): Promise<void> {
    const { ledger, edge } = this.#deps;
    const named = await allOf(this.#uses.map(({ subject }) => subject));
    const accepted: { use: Use; found: Subject; request: UsageRequest }[] = [];
    for (const [index, use] of this.#uses.entries()) {
      if (index % STEP_USES === STEP_USES - 1) await edge.turns.next();
      const found = must(named[index], 'what each row is about');
      if ('error' in found) use.resolve(AWAY_TEXT);
      else if (isRefused(found)) use.resolve(this.#said(found));
      else {
        const request = this.#requestOf(use, found);
        if (isRefused(request)) use.resolve(this.#said(request));
        else accepted.push({ use, found, request });
      }
    }
    const items = accepted.map(({ found, request }) => ({ ...found, request }));
    const outcomes = await ledger.recordEach(items);
    for (const [index, { use, found, request }] of accepted.entries()) {
      const outcome = must(outcomes[index], 'each row has an outcome');
      if (outcome.kind === 'unavailable') use.resolve(AWAY_TEXT);
      else use.resolve(this.#said(consumed(this.#deps, this.#batch, { found, request }, outcome)));
    }
  }

  #requestOf({ index, body }: Use, found: Subject): UsageRequest | SubjectRefused {
    const { header } = this.#batch;
    const key = { body: body.idempotency_key, header, operation: `check/batch ${index}` };
    return useOf(this.#deps, this.#batch, { body, found, key });
  }

  #said(answered: Answered | SubjectRefused): string {
    if (isRefused(answered)) return JSON.stringify(refusedItem(answered));
    if (answered.replayed) this.replayed += 1;
    return JSON.stringify(answered.result);
  }
}
