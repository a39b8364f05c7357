// What test and live mode share, as members: a key of test mode, which lies about in tests, reads
// it and changes nothing of it. A member may, in whichever mode the dashboard is shown.
import type { OrganisationPrincipal } from './auth.ts';
import { refuse } from './errors.ts';

export function isForBothModes({ actor, mode }: OrganisationPrincipal): boolean {
  return actor.kind === 'user' || mode === 'live';
}

export const notForTestKeys = (): Response =>
  refuse('forbidden', 'both modes share it: use a live key');
