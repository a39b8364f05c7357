// A user's own page: the name, the second factor, the sessions, the organisations, invitations.
import { plainPage } from './parts/frame.ts';
import { section } from './parts/parts.ts';
import { qrCode } from './parts/qr.ts';
import { table } from './parts/tables.ts';
import { NO_COOKIE } from './serve/cookie.ts';
import type { SignedIn } from './serve/door.ts';
import {
  BASE,
  type PeoplePagesDeps,
  browserOf,
  goTo,
  isHalf,
  originOf,
  show,
  withSession,
} from './serve/entry.ts';
import type { Entry, OpenPage } from './serve/page.ts';
import { plainForm } from './sign-in.ts';
import { isLine } from '../http/wire/values.ts';
import { type Html, html } from '../pages/html.ts';
import type { Page } from '../pages/layout.ts';
import { accept } from '../people/invitations.ts';
import { rename } from '../people/names.ts';
import {
  confirmEnrolment,
  enrolment as newEnrolment,
  removeSecondFactor,
} from '../people/second-factor.ts';
import { endAllSessions, endSession } from '../people/sessions.ts';
import { mayEnrol, needsStepUp } from '../people/step-up.ts';
import { listOpenInvitations } from '../records/invitations.ts';
import { countRecoveryCodes } from '../records/second-factors.ts';
import { listSessions } from '../records/sessions.ts';
import { isUuid } from '../records/uuid.ts';

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
        return isHalf(signedIn) ? codeFirst() : carryOut(deps, entry, signedIn);
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
  const open = await listSessions(sql, { userId: user.id, now });
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
    sessions: open.map((session) => ({ ...session, isThis: session.id === sessionId })),
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
  return isFresh ? newEnrolment(deps, signedIn.user) : 'sign_in_first';
}

async function carryOut(
  deps: PeoplePagesDeps,
  entry: Entry,
  signedIn: SignedIn,
): Promise<Response> {
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

type AccountView = {
  readonly email: string;
  readonly name: string;
  readonly formToken: string;
  readonly notice: string | null;
  readonly refusal: string | null;
  /** What an app needs; null where a second factor is enrolled. The sign-in may be too long ago. */
  readonly enrolment: { readonly secret: string; readonly uri: string } | 'sign_in_first' | null;
  /** Unused ones. */
  readonly recoveryCodes: number;
  /** Whether an organisation insists on a second factor that there is none of. */
  readonly mustEnrol: boolean;
  readonly sessions: readonly {
    readonly id: string;
    readonly isThis: boolean;
    readonly createdAt: Date;
    readonly seenAt: Date;
    readonly address: string;
    readonly userAgent: string;
  }[];
  readonly memberships: readonly {
    readonly organisationId: string;
    readonly organisationName: string;
    readonly role: string;
  }[];
  /** null where the address is not proven: then there may be some, for somebody else. */
  readonly invitations:
    | readonly {
        readonly id: string;
        readonly organisationName: string;
        readonly role: string;
      }[]
    | null;
};

const AGAIN = `/dashboard/sign-in?again=1&to=${encodeURIComponent(`${AT}?enroll=1`)}`;

function accountPage(view: AccountView): Page {
  const { notice, refusal, mustEnrol, memberships } = view;
  const content = html`${notice === null ? null : html`<div class="notice" role="status">${notice}</div>`}
  ${
    refusal === null
      ? null
      : html`<div class="notice bad" role="alert" tabindex="-1" autofocus><p>${refusal}</p></div>`
  }
  ${
    mustEnrol
      ? html`<div class="notice warn" role="status">
          <p>This needs a second factor: enroll one below, then continue.</p>
        </div>`
      : null
  }
  ${memberships.length > 0 ? html`<p><a href="/dashboard">To the dashboard</a></p>` : null}
  ${mustEnrol ? [secondFactor(view), profile(view)] : [profile(view), secondFactor(view)]}
  ${sessions(view)} ${organisations(view)}`;
  return plainPage({ title: 'Your account', content });
}

const action = (view: AccountView, act: string, submit: string, more: object = {}): Html =>
  plainForm({ action: AT, submit, hidden: { _token: view.formToken, act }, ...more });

function profile(view: AccountView): Html {
  const { email, name } = view;
  return section('You', [
    html`<p class="muted"><bdi>${email}</bdi></p>`,
    action(view, 'rename', 'Change name', {
      fields: [
        html`<div class="field">
          <label for="f-name">Name</label>
          <input
            id="f-name"
            name="name"
            value="${name}"
            maxlength="255"
            autocomplete="name"
            required
          />
        </div>`,
      ],
      kind: ' quiet',
    }),
    action(view, 'sign-out', 'Sign out', { kind: ' quiet' }),
  ]);
}

function secondFactor(view: AccountView): Html {
  const { enrolment, recoveryCodes } = view;
  if (enrolment === null) {
    return section('Second factor', [
      html`<p>An authenticator app is enrolled. ${recoveryCodes} recovery codes are left.</p>`,
      action(view, 'remove-second-factor', 'Remove the second factor', { kind: ' grave' }),
    ]);
  }
  if (enrolment === 'sign_in_first') return section('Second factor', SIGN_IN_FIRST);
  const { secret, uri } = enrolment;
  return section('Second factor', [
    html`<p>
      Scan this with an authenticator app, or type the key into it. Then enter the six digits that
      it shows.
    </p>`,
    html`<p>${qrCode(uri, 'QR code for an authenticator app')}</p>`,
    html`<dl class="facts">
      <dt>Key</dt>
      <dd><span class="code">${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</span></dd>
      <dt>Address</dt>
      <dd><span class="code">${uri}</span></dd>
    </dl>`,
    action(view, 'enrol', 'Enroll', {
      fields: [
        html`<div class="field">
          <label for="f-code">Code</label>
          <input
            id="f-code"
            name="code"
            inputmode="numeric"
            autocomplete="one-time-code"
            maxlength="10"
            dir="ltr"
            required
          />
        </div>`,
      ],
    }),
  ]);
}

const SIGN_IN_FIRST = html`<p>
    None. To enroll one, sign in again. Your sign-in must be at most 15 minutes old, so that nobody
    else can enroll one in your open browser.
  </p>
  <p><a class="button quiet" href="${AGAIN}">Sign in again</a></p>`;

function sessions(view: AccountView): Html {
  const rows = view.sessions.map(({ id, isThis, createdAt, seenAt, address, userAgent }) => [
    html`<bdi>${userAgent === '' ? 'unknown' : userAgent}</bdi>${isThis ? ' (this one)' : ''}`,
    address,
    utc(createdAt),
    utc(seenAt),
    isThis
      ? null
      : plainForm({
          action: AT,
          submit: 'End',
          hidden: { _token: view.formToken, act: 'end-session', session: id },
          kind: ' quiet',
        }),
  ]);
  return section('Sessions', [
    table({
      caption: 'Your sessions',
      columns: ['Browser', 'From', 'Signed in', 'Last seen', ''],
      rows,
      empty: 'No sessions.',
    }),
    action(view, 'sign-out-everywhere', 'Sign out everywhere', { kind: ' grave' }),
  ]);
}

function organisations(view: AccountView): Html {
  const { memberships, invitations, formToken } = view;
  const joined = memberships.map(({ organisationId, organisationName, role }) => [
    html`<a href="/dashboard/${organisationId}/test"><bdi>${organisationName}</bdi></a>`,
    role.replace('_', '-'),
    null,
  ]);
  const invited = (invitations ?? []).map(({ id, organisationName, role }) => [
    html`<bdi>${organisationName}</bdi>`,
    `invited as ${role.replace('_', '-')}`,
    plainForm({ action: AT, submit: 'Join', hidden: { _token: formToken, act: 'join', id } }),
  ]);
  return section('Organizations', [
    table({
      caption: 'Your organizations',
      columns: ['Organization', 'Role', ''],
      rows: [...joined, ...invited],
      empty: 'You do not belong to an organization yet. A member can invite you.',
    }),
    invitations === null ? NOT_PROVEN : null,
  ]);
}

const NOT_PROVEN = html`<p class="muted">
  To see invitations here, sign in with a link that was sent to your address, or with an identity
  provider. Until then, open the link of the invitation itself.
</p>`;

/** The page belongs to no organisation, and so to no zone. */
function utc(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Shown once. */
function recoveryCodesPage(codes: readonly string[], to: string): Page {
  const content = html`<p>
      The second factor is enrolled. Keep these recovery codes where you can find them without your
      phone. Each works once, instead of a code. They are shown only now.
    </p>
    <ul class="codes">
      ${codes.map((code) => html`<li><span class="code">${code}</span></li>`)}
    </ul>
    <p><a class="button" href="${to}">I have saved them</a></p>`;
  return plainPage({ title: 'Your recovery codes', content });
}
