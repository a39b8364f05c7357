// A user's own page: the name, the second factor, the sessions, invitations.
import { accountPage, type AccountView, recoveryCodesPage } from './views/account.ts';
import { accept } from '../people/invitations.ts';
import { rename } from '../people/names.ts';
import { confirmEnrolment, enrolment, removeSecondFactor } from '../people/second-factor.ts';
import { endAllSessions, endSession } from '../people/sessions.ts';
import { mayEnrol, needsStepUp } from '../people/step-up.ts';
import { listOpenInvitations } from '../records/invitations.ts';
import { countRecoveryCodes } from '../records/second-factors.ts';
import { listSessions } from '../records/sessions.ts';
import { isUuid } from '../records/uuid.ts';
import { isLine } from '../http/wire/values.ts';
import { NO_COOKIE } from './serve/cookie.ts';
import type { SignedIn } from './serve/door.ts';
import {
  BASE,
  browserOf,
  goTo,
  isHalf,
  originOf,
  type PeoplePagesDeps,
  show,
  withSession,
} from './serve/entry.ts';
import type { Entry, OpenPage } from './serve/page.ts';

const AT = `${BASE}/account`;

const NOTICES: Readonly<Record<string, string>> = {
  renamed: 'Name changed.',
  ended: 'Session ended.',
  joined: 'You are now a member.',
  removed: 'Second factor removed. Your other sessions have ended.',
};

const WRONG_CODE = 'This code is wrong. Enter the one that the app shows now.';
const WRONG_NAME = 'A name is one line of 1 to 255 characters.';
const TOO_OFTEN = 'Too many codes. Try again in a minute.';
const NOT_OPEN = 'This invitation is no longer open.';

export function accountPages(deps: PeoplePagesDeps): readonly OpenPage[] {
  return [
    {
      path: '/account',
      async show(entry) {
        const { signedIn } = entry;
        if (signedIn === null) return goTo(`${BASE}/sign-in?to=${encodeURIComponent(AT)}`);
        return isHalf(signedIn) ? codeFirst() : account(deps, entry, signedIn);
      },
      async act(entry) {
        const { signedIn } = entry;
        if (signedIn === null) return goTo(`${BASE}/sign-in`);
        return isHalf(signedIn) ? codeFirst() : act(deps, entry, signedIn);
      },
      isForSignedIn: true,
    },
  ];
}

const codeFirst = () => goTo(`${BASE}/second-factor?to=${encodeURIComponent(AT)}`);

async function account(
  deps: PeoplePagesDeps,
  { query }: Entry,
  signedIn: SignedIn,
  refused: { readonly text: string; readonly status: number } | null = null,
): Promise<Response> {
  const { sql, clock } = deps;
  const { user, sessionId, memberships, formToken, isProven, hasSecondFactor } = signedIn;
  const now = clock.now();
  const sessions = await listSessions(sql, { userId: user.id, now });
  const isRequired = memberships.some(({ requiresSecondFactor }) => requiresSecondFactor);
  const view = {
    email: user.email,
    name: user.name,
    formToken,
    notice: NOTICES[query.get('done') ?? ''] ?? null,
    refusal: refused?.text ?? null,
    enrolment: hasSecondFactor ? null : await enrolmentOf(deps, signedIn),
    recoveryCodes: hasSecondFactor ? await countRecoveryCodes(sql, user.id) : 0,
    mustEnrol: !hasSecondFactor && (isRequired || query.has('enroll')),
    sessions: sessions.map((session) => ({ ...session, isThis: session.id === sessionId })),
    memberships,
    invitations: isProven ? await listOpenInvitations(sql, user.id, now) : null,
  };
  return show(accountPage(view), refused?.status ?? 200);
}

/** Who may enrol none yet does not learn the secret either: it would make codes later. */
async function enrolmentOf(
  deps: PeoplePagesDeps,
  signedIn: SignedIn,
): Promise<AccountView['enrolment']> {
  const isFresh = mayEnrol({ ...signedIn, now: deps.clock.now() });
  return isFresh ? enrolment(deps, signedIn.user) : 'sign_in_first';
}

async function act(deps: PeoplePagesDeps, entry: Entry, signedIn: SignedIn): Promise<Response> {
  const { form } = entry;
  const { sessionId } = signedIn;
  const who = { ...signedIn, from: originOf(entry) };
  switch (form.get('act') ?? '') {
    case 'rename': {
      const name = (form.get('name') ?? '').trim();
      if (!isLine(name)) return refuse(deps, entry, signedIn, WRONG_NAME);
      await rename(deps, who, name);
      return done('renamed');
    }
    case 'enrol':
      return enrol(deps, entry, signedIn);
    case 'remove-second-factor':
      if (isAsked(signedIn, deps.clock.now())) return codeFirst();
      await removeSecondFactor(deps, who);
      return done('removed');
    case 'end-session': {
      const id = form.get('session') ?? '';
      if (isUuid(id)) await endSession(deps, who, id);
      return done('ended');
    }
    case 'sign-out':
      await endSession(deps, who, sessionId);
      return signedOut();
    case 'sign-out-everywhere':
      await endAllSessions(deps, who);
      return signedOut();
    case 'join':
      return join(deps, entry, signedIn);
    default:
      return goTo(AT);
  }
}

const done = (notice: string) => goTo(`${AT}?done=${notice}`);

/** Who has no second factor has none to take away. */
function isAsked({ hasSecondFactor, secondFactorAt }: SignedIn, now: number): boolean {
  const of = { mode: 'live', hasSecondFactor, secondFactorAt, now } as const;
  return needsStepUp({ kind: 'security' }, of) !== 'none';
}

function refuse(
  deps: PeoplePagesDeps,
  entry: Entry,
  signedIn: SignedIn,
  text: string,
  status = 400,
): Promise<Response> {
  return account(deps, entry, signedIn, { text, status });
}

function signedOut(): Response {
  const response = goTo(`${BASE}/sign-in`);
  response.headers.set('set-cookie', NO_COOKIE);
  return response;
}

async function enrol(deps: PeoplePagesDeps, entry: Entry, signedIn: SignedIn): Promise<Response> {
  if (!mayEnrol({ ...signedIn, now: deps.clock.now() })) return goTo(`${AT}?enroll=1`);
  const { allowed } = await deps.codes.take(signedIn.user.id);
  if (!allowed) return refuse(deps, entry, signedIn, TOO_OFTEN, 429);
  const code = (entry.form.get('code') ?? '').slice(0, 100);
  const confirmed = await confirmEnrolment(deps, { ...signedIn, from: originOf(entry) }, code);
  if (confirmed === null) return refuse(deps, entry, signedIn, WRONG_CODE);
  const { token, recoveryCodes } = confirmed;
  return withSession(show(recoveryCodesPage(recoveryCodes, BASE)), token);
}

async function join(deps: PeoplePagesDeps, entry: Entry, signedIn: SignedIn): Promise<Response> {
  const { user } = signedIn;
  const named = { id: entry.form.get('id') ?? '', userId: user.id };
  const who = { user, name: user.name, browser: browserOf(entry), bounds: deps.settings.bounds };
  const acceptance = await accept(deps, named, who);
  if (acceptance.kind === 'full') return refuse(deps, entry, signedIn, acceptance.message, 409);
  if (acceptance.kind !== 'accepted') return refuse(deps, entry, signedIn, NOT_OPEN, 409);
  return done('joined');
}
