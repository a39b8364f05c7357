// A request to Stripe's API, from its key to its answer.
import type { Books } from './books.ts';
import { ACCOUNT_CALLS } from './calls-account.ts';
import type { Route } from './call.ts';
import { INTENT_CALLS } from './calls-intents.ts';
import { MONEY_CALLS } from './calls-money.ts';
import { SESSION_CALLS } from './calls-sessions.ts';
import { Lost, Refusal, serverError } from './errors.ts';
import { type Faults, hang, type How, refusalOf } from './faults.ts';
import { canonical, type Raw, readForm } from './form.ts';
import type { Idempotency, Stored } from './idempotency.ts';
import { authorise, type Holder, type Keys } from './keys.ts';

const ROUTES: readonly Route[] = [
  ...ACCOUNT_CALLS,
  ...INTENT_CALLS,
  ...MONEY_CALLS,
  ...SESSION_CALLS,
];

export type Request = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly idempotencyKey: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
};

export type Reply = Stored & { readonly isReplayed: boolean };

export type Api = {
  readonly keys: Keys;
  readonly faults: Faults;
  readonly booksOf: (holder: Pick<Holder, 'accountId' | 'mode'>) => Books;
  readonly idempotencyOf: (holder: Pick<Holder, 'accountId' | 'mode'>) => Idempotency;
  /** Lets the time that has passed have its effects. */
  readonly passTime: () => void;
};

/** null: the connection ends without an answer. */
export async function handle(api: Api, request: Request): Promise<Reply | null> {
  const how = api.faults.take(request.method, request.path);
  if (api.faults.isAway || how === 'lose_request') return null;
  try {
    return await reply(api, request, how);
  } catch (error) {
    if (error instanceof Lost) return null;
    if (error instanceof Refusal) return { ...storedOf(error), isReplayed: false };
    throw error;
  }
}

async function reply(api: Api, request: Request, how: How | null): Promise<Reply | null> {
  const holder = api.keys.holderOf(request.authorization);
  const { route, id } = routeOf(request);
  authorise(holder, route.permission);
  const early = how === 'rate_limit' || how === 'lock_timeout' ? refusalOf(how) : null;
  if (early !== null) throw early;
  const form = readForm(request.method === 'GET' ? request.query : request.body);
  const key = request.method === 'POST' ? request.idempotencyKey : undefined;
  const idempotency = api.idempotencyOf(holder);
  if (key !== undefined) {
    const before = idempotency.begin(key, `${request.path} ${canonical(form)}`);
    if (before !== null) return how === 'lose_answer' ? null : { ...before, isReplayed: true };
  }
  let stored: Stored | null = null;
  try {
    await hang(api.faults, how);
    api.passTime();
    const done = execute(api.booksOf(holder), { route, id, form, how });
    stored = done.stored;
    return done.isLost ? null : { ...done.reply, isReplayed: false };
  } finally {
    if (key !== undefined) idempotency.finish(key, stored);
  }
}

type Execution = {
  readonly route: Route;
  readonly id: string;
  readonly form: Map<string, Raw>;
  readonly how: How | null;
};
type Done = {
  readonly reply: Stored;
  /** What is kept under the idempotency key; null: nothing had executed. */
  readonly stored: Stored | null;
  readonly isLost: boolean;
};

function execute(books: Books, { route, id, form, how }: Execution): Done {
  let isLost = how === 'lose_answer';
  const loseAnswer = (): void => {
    isLost = true;
  };
  try {
    const run = route.read({ books, id, form, loseAnswer });
    const instead = how === null ? null : refusalOf(how);
    if (instead !== null) throw instead;
    const body = JSON.stringify(run(), null, 2);
    if (how === 'error_500_after') throw serverError();
    const made = { status: 200, body };
    return { reply: made, stored: made, isLost };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refusal = how === 'error_500_after' && error.ran ? serverError() : error;
    const made = storedOf(refusal);
    return { reply: made, stored: refusal.ran ? made : null, isLost };
  }
}

function routeOf({ method, path }: Request): { route: Route; id: string } {
  for (const route of ROUTES) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (match !== null) return { route, id: match[1] ?? '' };
  }
  throw new Refusal(
    404,
    { type: 'invalid_request_error', message: `Unrecognized request URL (${method}: ${path}).` },
    false,
  );
}

function storedOf(refusal: Refusal): Stored {
  return { status: refusal.status, body: JSON.stringify({ error: refusal.body }, null, 2) };
}
