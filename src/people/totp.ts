// Codes of an authenticator app (RFC 6238): six digits, another one every 30 s.
import { Secret, TOTP } from 'otpauth';

const ISSUER = 'Tollhouse';
const PERIOD_S = 30;
const DIGITS = 6;
/** Codes of the steps beside the present one count: clocks differ, and people type slowly. */
const STEPS_BESIDE = 1;
/** As RFC 4226 recommends for SHA-1, which is what every app knows. */
const SECRET_BYTES = 20;

/** In base 32, as people type it into an app. */
export function newTotpSecret(random: (bytes: number) => Uint8Array): string {
  return new Secret({ buffer: new Uint8Array(random(SECRET_BYTES)).buffer }).base32;
}

/** What an app reads as a QR code. */
export function totpUri(secret: string, email: string): string {
  return totpOf(secret, email).toString();
}

/** The step whose code it is; null for a wrong one. A step is so many periods since 1970. */
export function stepOf(secret: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: STEPS_BESIDE });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_S) + delta;
}

function totpOf(secret: string, label = ''): TOTP {
  const parts = { issuer: ISSUER, label, digits: DIGITS, period: PERIOD_S, algorithm: 'SHA1' };
  return new TOTP({ ...parts, secret: Secret.fromBase32(secret) });
}
