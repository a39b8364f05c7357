// The pages outside an organisation: signing in, the second factor, the account, invitations.
import { accountPages } from './account.ts';
import type { PeoplePagesDeps } from './serve/entry.ts';
import { invitationPages } from './invited.ts';
import { oidcPages } from './oidc.ts';
import type { OpenPage } from './serve/page.ts';
import { secondFactorPages } from './second-factor.ts';
import { signInPages } from './sign-in.ts';

export function openPeoplePages(deps: PeoplePagesDeps): readonly OpenPage[] {
  return [
    ...signInPages(deps),
    ...secondFactorPages(deps),
    ...accountPages(deps),
    ...invitationPages(deps),
    ...oidcPages(deps),
  ];
}
