// Addresses that are sent to people. `appUrl` has no slash at its end.

/** Signs in, once; and leads to a page of the dashboard, where one is named. */
export function signInAddress(appUrl: string, token: string, to: string | null = null): string {
  const then = to === null ? '' : `?to=${encodeURIComponent(to)}`;
  return `${appUrl}/dashboard/sign-in/${token}${then}`;
}

export function invitationAddress(appUrl: string, token: string): string {
  return `${appUrl}/dashboard/invitations/${token}`;
}
