// The identity provider that signs people in, from the environment.

export type OidcSettings = {
  /** Over https; over http on this machine alone. */
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string;
};

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether codes and secrets may be sent there. */
export function isSafeIssuer({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || LOOPBACK.test(hostname);
}
