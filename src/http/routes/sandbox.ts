import { Type } from '@sinclair/typebox';
import { challengePage } from '../../pages/challenge.ts';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { Sandbox } from '../../processors/sandbox.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { framersOfReturn } from '../checkout/embed.ts';
import { isStorableText } from '../edge/json.ts';
import { sendPage } from '../page.ts';
import { ChallengeForm } from '../wire/pay.ts';

export type SandboxRoutesDeps = {
  readonly edge: Edge;
  readonly sandbox: Pick<Sandbox, 'findChallenge' | 'answerChallenge'>;
  readonly sql: Sql;
  readonly orgClock: OrgClock;
  readonly settings: Pick<Settings, 'checkoutUrl'>;
};

const tag = 'Hosted pages';
const params = { key: 'The token at the end of the URL: it is the credential.' };
const mediaType = 'text/html';

const READ = {
  operationId: 'showSandboxChallenge',
  method: 'GET',
  path: '/sandbox/challenges/{key}',
  summary: 'Show the page of the sandbox bank',
  description:
    'For the browser of a buyer whose test card asks for 3-D Secure. 404 if nothing was asked, ' +
    '410 if it was answered.',
  tag,
  params,
  answers: { 200: Type.String(), 404: Type.String(), 410: Type.String() },
  mediaType,
} as const;

const ANSWER = {
  operationId: 'answerSandboxChallenge',
  method: 'POST',
  path: '/sandbox/challenges/{key}',
  summary: 'Answer the sandbox bank',
  description:
    'What the form of the page sends. Redirects to the checkout; the first answer counts.',
  tag,
  params,
  form: ChallengeForm,
  answers: { 303: null, 404: Type.String(), 410: Type.String() },
  mediaType,
} as const;

// A paid buyer is redirected from the checkout to the merchant at once, at any address (https, or a
// loopback address in test mode).
const FORM_ACTION = ["'self'", 'https:', 'http://localhost:*', 'http://127.0.0.1:*'];

export function sandboxRoutes(deps: SandboxRoutesDeps): Route[] {
  return [readChallenge(deps), answerChallenge(deps)];
}

function readChallenge(deps: SandboxRoutesDeps): Route {
  return deps.edge.open(READ, ({ params: { key } }) => show(deps, key));
}

function answerChallenge(deps: SandboxRoutesDeps): Route {
  const { edge, sandbox } = deps;
  return edge.open(ANSWER, async ({ params: { key }, body: { answer } }) => {
    const isStorable = isStorableText(key);
    const answered = isStorable ? await sandbox.answerChallenge(key, answer === 'complete') : null;
    if (answered === null) return show(deps, key);
    return new Response(null, { status: 303, headers: { location: answered.returnUrl } });
  });
}

async function show(deps: SandboxRoutesDeps, key: string): Promise<Response> {
  // A key that PostgreSQL cannot store names no challenge.
  const challenge = isStorableText(key) ? await deps.sandbox.findChallenge(key) : null;
  if (challenge === null) return sendPage(challengePage({ kind: 'not_found' }), { status: 404 });
  const { amount, currency, method, returnUrl, isOpen } = challenge;
  const { checkoutUrl } = deps.settings;
  const framedBy = await framersOfReturn({ ...deps, checkoutUrl }, returnUrl);
  if (!isOpen) {
    return sendPage(challengePage({ kind: 'answered', returnUrl }), { status: 410, framedBy });
  }
  const { origin } = new URL(returnUrl);
  return sendPage(challengePage({ kind: 'open', amount, currency, last4: method.last4 }), {
    formAction: [...FORM_ACTION, origin],
    framedBy,
  });
}
