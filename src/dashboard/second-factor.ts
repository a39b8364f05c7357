// The code after a sign-in, and again before what is risky.
import { codePage } from './sign-in.ts';
import { giveCode } from '../people/second-factor.ts';
import type { SignedIn } from './serve/door.ts';
import { BASE, goTo, localPath, originOf, show, type PeoplePagesDeps } from './serve/entry.ts';
import type { Entry, OpenPage } from './serve/page.ts';

const WRONG = 'This code is wrong or was already used. Wait for the next one.';
const TOO_OFTEN = 'Too many codes. Try again in a minute.';

export function secondFactorPages(deps: PeoplePagesDeps): readonly OpenPage[] {
  return [
    {
      path: '/second-factor',
      show: (entry) => Promise.resolve(showForm(entry)),
      act: (entry) => takeCode(deps, entry),
      isForSignedIn: true,
    },
  ];
}

function showForm({ signedIn, query }: Entry): Response {
  const to = localPath(query.get('to')) ?? BASE;
  if (signedIn === null) return goTo(`${BASE}/sign-in?to=${encodeURIComponent(to)}`);
  if (!signedIn.hasSecondFactor) return goTo(`${BASE}/account?enroll=1`);
  return page(signedIn, { to });
}

function page(
  { formToken }: SignedIn,
  { to, refusal = null, status = 200 }: { to: string; refusal?: string | null; status?: number },
): Response {
  return show(codePage({ formToken, to, refusal }), status);
}

async function takeCode(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const { signedIn, form } = entry;
  if (signedIn === null) return goTo(`${BASE}/sign-in`);
  const to = localPath(form.get('to')) ?? BASE;
  const { allowed } = await deps.codes.take(signedIn.user.id);
  if (!allowed) return page(signedIn, { to, refusal: TOO_OFTEN, status: 429 });
  const code = (form.get('code') ?? '').slice(0, 100);
  const token = await giveCode(deps, { ...signedIn, from: originOf(entry) }, code);
  return token === null ? page(signedIn, { to, refusal: WRONG, status: 400 }) : goTo(to, token);
}
